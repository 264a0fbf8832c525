"""However a store looks and whatever is asked: what is there is what was searched and what was skipped."""

from __future__ import annotations

import anyio
import msgspec
import pytest
from actor_system import System, running_system
from hypothesis import given, settings
from hypothesis import strategies as st
from virtual_time import EPOCH_MS, VIRTUAL_BACKENDS

from recalld.daemon.config.settings import RecallSettings
from recalld.models.domain.reasons import RecallReason
from recalld.models.domain.recall import RecallLimit, RecallOutcome, TimeUse
from recalld.protocol import items

DAY_MS = 86_400_000
TOPICS = (
    "the deploy key lives in the vault",
    "green tea is preferred",
    "invoices are archived in quartz",
    "lunch at one",
)
QUERIES = (
    "where does the deploy key live?",
    "what did we decide yesterday?",
    "which tea since 3 days ago?",
    "what happened on 2001-01-01?",
    "invoices quartz",
)


class Stored(msgspec.Struct, frozen=True):
    text: str
    scope: str
    age_days: int
    is_pending: bool
    expires: bool


STORES = st.lists(
    st.builds(
        Stored,
        text=st.sampled_from(TOPICS),
        scope=st.sampled_from(("", "work", "home")),
        age_days=st.integers(min_value=0, max_value=4),
        is_pending=st.booleans(),
        expires=st.booleans(),
    ),
    max_size=7,
)


async def recall_of(
    stored: list[Stored], query: str, scope: str | None, time: TimeUse, *, has_embedder: bool
) -> tuple[RecallOutcome, int]:
    """The outcome, and how many memories are live."""
    system = System(missing=set() if has_embedder else {"embedder"})
    live = set()
    async with running_system(system) as running:
        for number, each in enumerate(sorted(stored, key=lambda each: -each.age_days)):
            running.clock.jump_ms = (4 - each.age_days) * DAY_MS
            running.embedder_thread.call_s = (lambda: 60.0) if each.is_pending else (lambda: 0.001)
            saved = await running.remember(
                "ines",
                f"{each.text} {number if each.expires else ''}",
                scope=each.scope,
                expires_at_ms=EPOCH_MS + 4 * DAY_MS + 3_600_000 if each.expires else None,
            )
            live.add((saved.memory.id, each.expires))
        running.clock.jump_ms = 4 * DAY_MS + 2 * 3_600_000
        running.embedder_thread.call_s = lambda: 0.001
        outcome = await running.recall("ines", query, scope=scope, time=time, time_zone="Europe/Berlin")
        counted = await running.store.reader.counts("ines", "", now_ms=running.clock.now_ms())
    return outcome, counted.live


@settings(max_examples=40)
@given(
    stored=STORES,
    query=st.sampled_from(QUERIES),
    scope=st.sampled_from((None, "work", "nowhere")),
    time=st.sampled_from(TimeUse),
    has_embedder=st.booleans(),
)
def test_discovered_is_searched_and_all_that_was_skipped(
    stored: list[Stored], query: str, scope: str | None, time: TimeUse, *, has_embedder: bool
) -> None:
    backend, options = VIRTUAL_BACKENDS["asyncio"]()
    outcome, live = anyio.run(
        lambda: recall_of(stored, query, scope, time, has_embedder=has_embedder),
        backend=backend,
        backend_options=options,
    )
    coverage = outcome.coverage
    skipped = coverage.skipped_wrong_scope + coverage.skipped_out_of_interval + coverage.skipped_unreadable
    assert coverage.discovered == live == coverage.searched + skipped
    assert min(coverage.searched, coverage.skipped_wrong_scope, coverage.skipped_out_of_interval) >= 0
    assert coverage.pending_embedding <= coverage.searched
    if time is TimeUse.BOOST:
        assert coverage.skipped_out_of_interval == 0
    if not stored or live == 0:
        assert outcome.reason is RecallReason.NOTHING_STORED
    wire = msgspec.convert(coverage, items.Coverage, from_attributes=True)
    assert wire.discovered == wire.searched + wire.skipped_wrong_scope + wire.skipped_out_of_interval


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, object]]:
    return VIRTUAL_BACKENDS["asyncio"]()


@pytest.mark.anyio
async def test_what_was_nominated_and_cannot_be_read_is_skipped_and_counted() -> None:
    async with running_system(System()) as system:
        kept = await system.store_text("ines", "The deploy key lives in the vault")
        lost = await system.store_text("ines", "The deploy key lives in the safe")
        system.reading.unreadable.add(lost)
        outcome = await system.recall("ines", QUERIES[0])
    assert [item.memory.id for item in outcome.items] == [kept]
    coverage = outcome.coverage
    assert (coverage.discovered, coverage.searched, coverage.skipped_unreadable) == (2, 1, 1)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("recall", "fields", "expected"),
    [
        (RecallSettings(lexical_limit=2, max_items=20), {}, {RecallLimit.LEXICAL_LIMIT}),
        (RecallSettings(vector_limit=2, max_items=20), {}, {RecallLimit.VECTOR_LIMIT}),
        (RecallSettings(), {"max_items": 1}, {RecallLimit.MAX_ITEMS}),
        (RecallSettings(), {"max_chars": 10}, {RecallLimit.MAX_CHARS}),
        (RecallSettings(candidates_max=1, max_items=20), {}, {RecallLimit.CANDIDATES_MAX}),
        (RecallSettings(max_items=20), {}, set()),
    ],
)
async def test_every_limit_beyond_which_there_was_more_is_named(
    recall: RecallSettings, fields: dict[str, int], expected: set[RecallLimit]
) -> None:
    async with running_system(System(), recall=recall) as system:
        for number in range(4):
            await system.store_text("ines", f"deploy key number{number} lives in the vault")
        outcome = await system.recall("ines", QUERIES[0], **fields)  # type: ignore[arg-type]
    assert set(outcome.coverage.limited_by) == expected


@pytest.mark.anyio
async def test_an_index_that_lags_behind_is_told_by_its_number() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", "The deploy key lives in the vault")
        fresh = await system.recall("ines", QUERIES[0])
        system.reading.slow_s["index_delta"] = 5.0
        await system.store_text("ines", "The deploy key was moved")
        lagging = await system.recall("ines", QUERIES[0])
    assert fresh.coverage.index_seq == fresh.coverage.store_seq == 1
    assert (lagging.coverage.index_seq, lagging.coverage.store_seq) == (1, 2)
    assert lagging.coverage.discovered == 2
