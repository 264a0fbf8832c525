from __future__ import annotations

import anyio
import pytest
from actor_system import System, running_system

from recalld.daemon import composition

pytestmark = pytest.mark.anyio


async def test_what_only_writing_needs_is_prepared_behind_the_start_and_then_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[str] = []
    monkeypatch.setattr(composition, "prepare_enrichment", lambda: done.append("enrichment"))
    monkeypatch.setattr(composition, "prepare_turns", lambda: done.append("turns"))
    async with running_system(System(), settle_s=0.0, when_prepared=lambda: done.append("told")):
        await anyio.sleep(0.1)
        assert done == ["enrichment", "turns", "told"]


async def test_nothing_that_only_writing_needs_is_prepared_before_the_daemon_can_say_that_it_is_ready(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[str] = []
    monkeypatch.setattr(composition, "prepare_enrichment", lambda: done.append("enrichment"))
    monkeypatch.setattr(composition, "prepare_turns", lambda: done.append("turns"))
    start_actors = composition.start_actors
    at_start: list[list[str]] = []

    def watched(*arguments: object) -> composition.Running:
        running = start_actors(*arguments)  # type: ignore[arg-type]
        at_start.append([*done])
        return running

    monkeypatch.setattr("actor_system.start_actors", watched)
    async with running_system(System()):
        assert at_start == [[]]
