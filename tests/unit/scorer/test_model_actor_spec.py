from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_actor import Script, ScriptedActor, Watched, answering, fail

from recalld.actors.inference_thread.spec import model_actor_spec
from recalld.models.policy.restart_window import decide_restart

SPEC = model_actor_spec(name="model", build=lambda: ScriptedActor(Script()), mailbox_max=64)


@given(st.lists(st.floats(0.0, 1.0, exclude_max=True), min_size=60, max_size=60))
def test_a_model_that_fails_at_once_after_each_restart_never_escalates(jitters: list[float]) -> None:
    now_s = 0.0
    granted_s: tuple[float, ...] = ()
    for jitter in jitters:
        decision = decide_restart(SPEC.restart_policy, granted_s, now_s=now_s, jitter=jitter)
        assert decision.delay_s is not None
        assert len(decision.granted_s) <= 8
        granted_s = decision.granted_s
        now_s += decision.delay_s


@pytest.mark.anyio
async def test_its_first_restart_comes_within_a_second() -> None:
    watched = Watched()
    async with watched.supervisor() as supervisor:
        address = supervisor.start(SPEC)
        address.post(fail)
        started_s = watched.clock.monotonic_s()
        assert await address.ask(answering(1), deadline_s=started_s + 10) == 1
        assert watched.clock.monotonic_s() - started_s <= 1.0
