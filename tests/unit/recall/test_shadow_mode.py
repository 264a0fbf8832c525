from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import pytest
from actor_system import System, rejecting, running_system, shared_words

from recalld.actors.recall.messages import ListShown
from recalld.actors.recall.report import RecallBody
from recalld.daemon.config.settings import RecallSettings
from recalld.models.domain.reasons import RecallDecision, RecallReason
from recalld.models.domain.recall import RecallOutcome
from recalld.models.domain.shadow import GateMode

pytestmark = pytest.mark.anyio

TEXTS = ("The deploy key lives in the vault", "The deploy runs on Tuesdays", "Ines prefers green tea")
TURNS = (
    "where does the deploy key live?",
    "thanks",
    "when is the deploy and where does its key live in the vault?",
    "where does the deploy key live?",
    "does Ines prefer green tea?",
    "!!!",
)
"""Among them a turn that the turn gate skips, one with nothing to look for, and one that was answered before."""


async def _traffic(
    mode: GateMode, turns: Sequence[str] = TURNS, logit: Callable[[str, str], float] = shared_words
) -> tuple[list[RecallOutcome], list[RecallBody]]:
    outcomes, bodies = [], []
    async with running_system(System(), recall=RecallSettings(mode=mode)) as system:
        system.scorer.logit = logit
        for text in TEXTS:
            await system.store_text("ines", text)
        for number, text in enumerate(turns):
            outcome = await system.recall("ines", text, session="s1", turn_id=f"t{number}")
            row = await system.service.explain("ines", outcome.recall_id)
            assert (row.decision, row.reason) == (outcome.decision, outcome.reason)
            outcomes.append(outcome)
            bodies.append(msgspec.json.decode(row.body, type=RecallBody))
    return outcomes, bodies


def _verdict(outcome: RecallOutcome) -> tuple[object, ...]:
    """What the gates decided; ids, scores and reasons, and no moments."""
    return (
        outcome.decision,
        outcome.reason,
        outcome.mode,
        [(item.memory.id, item.relevance, item.evidence) for item in outcome.items],
        outcome.dropped,
        outcome.floor_items,
        outcome.coverage,
        outcome.gate,
        outcome.turn,
    )


def _row(body: RecallBody) -> RecallBody:
    return msgspec.structs.replace(body, shadow_mode="", served=(), total_ms=0.0, gate_ms=0.0, turn_ms=0.0)


@pytest.mark.parametrize("mode", [GateMode.SHADOW_INJECT, GateMode.SHADOW_SILENT])
async def test_the_gates_decide_in_shadow_mode_as_if_they_were_obeyed(mode: GateMode) -> None:
    enforced, enforced_rows = await _traffic(GateMode.ENFORCE)
    shadowed, shadowed_rows = await _traffic(mode)
    assert {each.decision for each in enforced} >= {RecallDecision.INJECT, RecallDecision.SKIP, RecallDecision.SILENT}
    assert list(map(_verdict, shadowed)) == list(map(_verdict, enforced))
    assert list(map(_row, shadowed_rows)) == list(map(_row, enforced_rows))


async def test_silent_shadow_mode_hands_nothing_over() -> None:
    shadowed, rows = await _traffic(GateMode.SHADOW_SILENT)
    assert any(each.items for each in shadowed)
    assert all(each.served == () for each in shadowed)
    assert {row.shadow_mode for row in rows} == {"shadow_silent"}
    assert {row.served for row in rows} == {()}


async def test_injecting_shadow_mode_hands_over_what_the_floor_lets_through() -> None:
    (outcome,), (row,) = await _traffic(GateMode.SHADOW_INJECT, TURNS[:1], logit=rejecting)
    assert outcome.reason is RecallReason.GATED
    assert outcome.items == ()
    assert len(outcome.served) > 0
    assert tuple(item.memory.id for item in outcome.served) == outcome.floor_items == row.served
    assert all(item.relevance is None for item in outcome.served)


async def test_injecting_shadow_mode_searches_where_the_turn_gate_had_spared_it() -> None:
    (outcome,), (row,) = await _traffic(GateMode.SHADOW_INJECT, ["/deploy key vault"])
    assert (outcome.decision, outcome.reason) == (RecallDecision.SKIP, RecallReason.SLASH_COMMAND)
    assert outcome.items == ()
    assert len(outcome.served) == len(row.served) > 0


async def test_what_was_handed_over_in_shadow_mode_is_not_handed_over_again_in_the_session() -> None:
    first, again = (await _traffic(GateMode.SHADOW_INJECT, [TURNS[0], TURNS[0]]))[0]
    served = {item.memory.id for item in first.served}
    assert served
    assert served.isdisjoint(item.memory.id for item in again.served)


async def test_a_search_on_purpose_is_answered_in_shadow_mode_too() -> None:
    async with running_system(System(), recall=RecallSettings(mode=GateMode.SHADOW_SILENT)) as system:
        await system.store_text("ines", TEXTS[0])
        outcome = await system.recall("ines", TURNS[0], is_search=True)
    assert outcome.shadow is None
    assert len(outcome.served) == 1


async def test_a_write_path_in_shadow_mode_knows_only_what_was_handed_over() -> None:
    async with running_system(System(), recall=RecallSettings(mode=GateMode.SHADOW_SILENT)) as system:
        await system.store_text("ines", TEXTS[0])
        outcome = await system.recall("ines", TURNS[0], session="s1")
        assert outcome.items
        with system.running.directory.actors_of("ines") as actors:
            shown = await actors.recall.ask(lambda reply: ListShown(session="s1", reply=reply), deadline_s=1e9)
    assert shown == ()
