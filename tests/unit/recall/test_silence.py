from __future__ import annotations

import anyio
import pytest
from actor_system import System, rejecting, running_system

from recalld.models.domain.reasons import DropReason, RecallDecision, RecallMode, RecallReason
from recalld.models.domain.recall import Coverage
from recalld.models.policy.silence import why_silent

pytestmark = pytest.mark.anyio

QUERY = "where does the deploy key live?"


async def test_nothing_stored() -> None:
    async with running_system(System()) as system:
        await system.store_text("bruno", "The deploy key lives in the vault")
        outcome = await system.recall("ines", QUERY)
    assert outcome.reason is RecallReason.NOTHING_STORED
    assert outcome.decision is RecallDecision.SILENT
    assert outcome.mode is RecallMode.GATED


async def test_stored_but_nothing_near() -> None:
    async with running_system(System()) as system:
        far = await system.store_text("ines", "Ines prefers green tea")
        outcome = await system.recall("ines", QUERY)
    assert outcome.reason is RecallReason.BELOW_FLOOR
    assert [(drop.memory_id, drop.reason) for drop in outcome.dropped] == [(far, DropReason.BELOW_FLOOR)]
    assert outcome.gate.filtered_by_floor == 1


async def test_near_but_judged_to_be_of_no_help() -> None:
    async with running_system(System()) as system:
        system.scorer.logit = rejecting
        near = await system.store_text("ines", "The deploy key lives in the vault")
        outcome = await system.recall("ines", QUERY)
    assert outcome.reason is RecallReason.GATED
    assert [(drop.memory_id, drop.reason) for drop in outcome.dropped] == [(near, DropReason.BELOW_THRESHOLD)]
    assert outcome.gate.dropped_by_gate == 1


async def test_found_but_excluded() -> None:
    async with running_system(System()) as system:
        near = await system.store_text("ines", "The deploy key lives in the vault")
        outcome = await system.recall("ines", QUERY, exclude=(near,))
    assert outcome.reason is RecallReason.EXCLUDED
    assert [(drop.memory_id, drop.reason) for drop in outcome.dropped] == [(near, DropReason.EXCLUDED_BY_CALLER)]


async def test_stored_in_another_scope_only() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", "The deploy key lives in the vault", scope="billing")
        outcome = await system.recall("ines", QUERY, scope="search")
        seen = await system.recall("ines", QUERY, scope="billing")
    assert outcome.reason is RecallReason.EXCLUDED
    assert outcome.coverage == Coverage(
        discovered=1, searched=0, skipped_wrong_scope=1, index_seq=1, store_seq=1, is_time_filtered=False
    )
    assert len(seen.items) == 1


async def test_stored_but_not_embedded_yet_and_no_word_in_common() -> None:
    async with running_system(System()) as system:
        system.embedder_thread.call_s = lambda: 60.0
        saved = await system.remember("ines", "Ines prefers green tea")
        system.embedder_thread.call_s = lambda: 0.001
        assert not saved.is_embedded
        outcome = await system.recall("ines", QUERY)
        assert outcome.reason is RecallReason.EMBEDDING_PENDING
        assert outcome.coverage.pending_embedding == 1
        by_words = await system.recall("ines", "green tea?")
        assert [item.memory.id for item in by_words.items] == [saved.memory.id]


async def test_without_vectors_and_without_a_word_in_common() -> None:
    system = System(missing={"embedder"})
    async with running_system(system):
        await system.store_text("ines", "Ines prefers green tea")
        outcome = await system.recall("ines", QUERY)
    # Meaning could not be searched, so this silence says nothing about what is stored, and must not look healthy.
    assert (outcome.decision, outcome.mode) == (RecallDecision.ERROR, RecallMode.LEXICAL_ONLY)
    assert outcome.reason is RecallReason.DEGRADED


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("thanks!", RecallReason.ACKNOWLEDGEMENT),
        ("/compact now", RecallReason.SLASH_COMMAND),
        ("12 * (3 + 4)", RecallReason.ARITHMETIC),
        ("<system-reminder>always answer in metric</system-reminder>", RecallReason.NO_USER_TEXT),
    ],
)
async def test_the_turn_gate_skips_without_touching_models_or_store(text: str, reason: RecallReason) -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", "Always answer in metric units; thanks are not needed")
        embedded = len(system.embedder.embedded)
        outcome = await system.recall("ines", text)
        assert len(system.embedder.embedded) == embedded
        assert "lexical" not in system.reading.calls
    assert (outcome.decision, outcome.reason) == (RecallDecision.SKIP, reason)
    assert outcome.items == ()


async def test_an_explicit_search_is_never_skipped() -> None:
    async with running_system(System()) as system:
        wanted = await system.store_text("ines", "Thanks are to be short")
        outcome = await system.recall("ines", "thanks", is_search=True)
    assert [item.memory.id for item in outcome.items] == [wanted]


@pytest.mark.parametrize("text", ["*", "???", "```", '""', "\0"])
@pytest.mark.parametrize("is_search", [False, True])
async def test_punctuation_alone_finds_nothing_not_even_on_purpose(text: str, *, is_search: bool) -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", "Why??? *** is what she asks")
        embedded = len(system.embedder.embedded)
        outcome = await system.recall("ines", text, is_search=is_search)
        assert len(system.embedder.embedded) == embedded
    assert (outcome.decision, outcome.items) == (RecallDecision.SKIP, ())
    no_text = text == "\0" and not is_search
    assert outcome.reason is (RecallReason.NO_USER_TEXT if no_text else RecallReason.NO_SEARCHABLE_TERMS)


async def test_the_models_see_one_apostrophe_and_the_store_what_was_written() -> None:
    async with running_system(System()) as system:
        wanted = await system.store_text("ines", "O\u02bcBrien keeps the deploy key")
        outcome = await system.recall("ines", "which deploy key keeps O\u00b4Brien?")
        assert [item.memory.id for item in outcome.items] == [wanted]
        assert outcome.items[0].memory.text == "O\u02bcBrien keeps the deploy key"
        assert not any("\u02bc" in text or "\u00b4" in text for text in system.embedder.embedded)
        assert any("O'Brien" in text for text in system.embedder.embedded)


async def test_host_text_is_not_what_is_looked_for() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", "Metric units are used for every answer")
        outcome = await system.recall(
            "ines", "<system-reminder>which metric units for every answer</system-reminder>\nwhere is my bicycle?"
        )
        assert not any("metric" in text for text in system.embedder.embedded[1:])
    assert outcome.items == ()


async def test_an_expired_memory_is_nobodys_candidate() -> None:
    async with running_system(System()) as system:
        await system.store_text(
            "ines", "The deploy key lives in the vault", expires_at_ms=system.clock.now_ms() + 1_000
        )
        assert len((await system.recall("ines", QUERY)).items) == 1
        await anyio.sleep(1.0)
        outcome = await system.recall("ines", QUERY)
    assert outcome.reason is RecallReason.NOTHING_STORED


@pytest.mark.parametrize(
    ("discovered", "searched", "pending", "candidates", "above", "kept", "reason", "without_vectors"),
    [
        (0, 0, 0, 0, 0, 0, RecallReason.NOTHING_STORED, RecallReason.NOTHING_STORED),
        (3, 0, 0, 0, 0, 0, RecallReason.EXCLUDED, RecallReason.EXCLUDED),
        (3, 2, 2, 0, 0, 0, RecallReason.EMBEDDING_PENDING, RecallReason.DEGRADED),
        (3, 3, 2, 0, 0, 0, RecallReason.NO_CANDIDATES, RecallReason.DEGRADED),
        (3, 3, 0, 2, 0, 0, RecallReason.BELOW_FLOOR, RecallReason.DEGRADED),
        (3, 3, 0, 2, 1, 0, RecallReason.EXCLUDED, RecallReason.EXCLUDED),
        (3, 3, 0, 2, 1, 1, RecallReason.GATED, RecallReason.GATED),
    ],
)
def test_the_first_step_at_which_nothing_was_left_is_named(
    discovered: int,
    searched: int,
    pending: int,
    candidates: int,
    above: int,
    kept: int,
    reason: RecallReason,
    without_vectors: RecallReason,
) -> None:
    coverage = Coverage(
        discovered=discovered,
        searched=searched,
        skipped_wrong_scope=discovered - searched,
        pending_embedding=pending,
    )
    for has_vectors, expected in ((True, reason), (False, without_vectors)):
        found = why_silent(
            coverage=coverage,
            has_vectors=has_vectors,
            candidates=candidates,
            above_floor=above,
            not_excluded=kept,
        )
        assert found is expected
