from __future__ import annotations

import pytest
from actor_system import System, running_system

from recalld.daemon.config.settings import AdmissionSettings
from recalld.models.domain.admission import OfferedFact
from recalld.models.domain.position import Position
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.domain.shadow import WriteMode
from recalld.models.domain.store import ListFilter

pytestmark = pytest.mark.anyio

SHADOW = AdmissionSettings(mode=WriteMode.SHADOW, promote_after=1, promote_sessions=1)
TURN = "People call me Zed at home, everybody does."
NAME = OfferedFact(
    statement="The user wants to be called Zed.", kind="preference", quote="People call me Zed", slot="form_of_address"
)
SAVE = "Please remember that the deploy key lives in the vault."


async def _stored(system: System) -> int:
    return (await system.service.list_memories("ines", ListFilter(), limit=100, cursor=None)).total


async def test_nothing_of_a_turn_becomes_a_record_in_shadow_mode_however_often_it_is_said() -> None:
    async with running_system(System(), admission=SHADOW) as system:
        for number in range(3):
            reply = await system.observe("ines", "I work at Initech.", turn_id=f"t{number}", session=f"s{number}")
            assert reply.kept == ()
        assert await _stored(system) == 0
        (observed,) = reply.observed
        assert observed.observation is not None
        assert (observed.observation.turns, observed.reason) == (3, AdmissionReason.SHADOW)


async def test_a_command_to_remember_is_only_noted_in_shadow_mode_and_says_what_would_have_become_of_it() -> None:
    async with running_system(System(), admission=SHADOW) as system:
        reply = await system.observe("ines", SAVE, turn_id="t1")
        assert await _stored(system) == 0
        assert [verdict.decided_by.partition("/")[0] for verdict in reply.observed] == ["shadow:record"]
        row = await system.service.explain("ines", reply.decision_id)
        assert (row.decision, b"shadow:record" in row.body) == ("observed", True)


async def test_what_would_need_the_users_yes_is_not_asked_in_shadow_mode() -> None:
    for mode, is_asked in ((WriteMode.ENFORCE, True), (WriteMode.SHADOW, False)):
        settings = AdmissionSettings(mode=mode, position=Position.BALANCED)
        async with running_system(System(), admission=settings) as system:
            reply = await system.observe("ines", TURN, turn_id="t1", offered=(NAME,))
            assert bool(reply.proposals) is is_asked
            assert bool(reply.observed) is not is_asked


async def test_a_person_can_still_save_on_purpose_in_shadow_mode() -> None:
    async with running_system(System(), admission=SHADOW) as system:
        await system.remember("ines", "The office is in Bern.")
        assert await _stored(system) == 1


def test_the_write_gate_is_obeyed_by_default() -> None:
    assert AdmissionSettings().mode is WriteMode.ENFORCE
    assert AdmissionSettings().position is Position.STRICT
