"""What leaves one store by an export comes back into another by an import, and twice changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import msgspec
import pytest
from admission_commands import admit_one, observe_one, open_decision, propose_one, settle
from store_commands import DAY_MS, EMBEDDER, DrivenStore

from recalld.models.domain.admission_store import AdmissionLimits, FactOutcome
from recalld.models.domain.reasons import Op
from recalld.models.domain.records import MemoryKind, MemoryStatus
from recalld.models.domain.user_data import (
    ExportPage,
    ImportLine,
    ImportMemories,
    ImportOutcome,
    MemoriesImported,
    PortableMemory,
)

pytestmark = pytest.mark.anyio

Opener = Callable[[Path], AbstractAsyncContextManager[DrivenStore]]


async def export(store: DrivenStore, user: str = "ines", limit: int = 2) -> list[ExportPage]:
    pages, cursor = [], None
    while True:
        page = await store.reader.exported(user, now_ms=store.now_ms, limit=limit, cursor=cursor)
        pages.append(page)
        cursor = page.cursor
        if cursor is None:
            return pages


def memories_in(pages: list[ExportPage]) -> tuple[PortableMemory, ...]:
    return tuple(each for page in pages for each in page.memories)


async def take_over(
    store: DrivenStore, *memories: PortableMemory, user: str = "ines", limits: AdmissionLimits | None = None
) -> list[ImportLine]:
    store.now_ms += 1_000
    caps = limits or AdmissionLimits()
    command = ImportMemories(
        user=user,
        memories=memories,
        now_ms=store.now_ms,
        records_max=caps.records_max,
        chars_max=caps.chars_max,
        decision=msgspec.structs.replace(open_decision(store, user, "s", Op.REMEMBER), decision="imported"),
    )
    return list((await store.writer.import_memories(command)).lines)


def outcomes(lines: list[ImportLine]) -> list[ImportOutcome]:
    return [line.outcome for line in lines]


async def a_life(store: DrivenStore) -> None:
    """Something of everything."""
    await store.remember("Works at Acme", cues=("job",), asks=("Where do I work?",), kind=MemoryKind.ENTITY)
    await admit_one(store, "The user works at Hooli.", slot="employer", value="Hooli", quote="I'm at Hooli now")
    await store.remember("On call", expires_at_ms=store.now_ms + DAY_MS, scope="work")
    await store.remember("Prefers tea")
    await store.forget("mem-0004")
    await observe_one(store, "The user likes rum.", quote="rum please")
    await propose_one(store, "Call me Zed.")


async def test_an_export_has_everything_but_what_was_forgotten(store: DrivenStore) -> None:
    await a_life(store)
    pages = await export(store)
    memories = memories_in(pages)
    assert [each.memory.id for each in memories] == ["mem-0001", "mem-0002", "mem-0003"]
    first, second, _ = memories
    assert (first.memory.status, first.superseded_by) == (MemoryStatus.SUPERSEDED, "mem-0002")
    assert (second.slots[0].slot, second.evidence[0].quote, second.closed_at_ms) == (
        "employer",
        "I'm at Hooli now",
        None,
    )
    assert [each.observation.text for page in pages for each in page.observations] == ["The user likes rum."]
    assert [each.evidence[0].quote for page in pages for each in page.observations] == ["rum please"]
    assert [each.proposal.text for page in pages for each in page.proposals] == ["Call me Zed."]
    assert [memories_in(await export(store, limit=limit)) for limit in (1, 3, 100)] == [memories] * 3


@pytest.mark.parametrize("target", ["sqlite", "memory"])
async def test_an_import_restores_what_an_export_gave(
    store: DrivenStore, openers: dict[str, Opener], target: str, tmp_path: Path
) -> None:
    await a_life(store)
    given = memories_in(await export(store))
    async with openers[target](tmp_path / "other") as other:
        other.now_ms = store.now_ms
        assert set(outcomes(await take_over(other, *given))) == {ImportOutcome.IMPORTED}
        assert memories_in(await export(other)) == given
        assert await other.listed() == ["mem-0003", "mem-0002"]
        assert await other.found("Hooli") == ["mem-0002"]
        pending = await other.reader.pending(EMBEDDER, now_ms=other.now_ms, limit=10)
        assert [each.memory.id for each in pending] == ["mem-0002", "mem-0003"]
        seq = other.reader.seq("ines")
        assert set(outcomes(await take_over(other, *given))) == {ImportOutcome.KNOWN}
        assert (memories_in(await export(other)), other.reader.seq("ines")) == (given, seq)
        lineage = await other.reader.lineage("ines", "mem-0001", now_ms=other.now_ms)
        assert lineage is not None
        assert lineage.superseded_by == given[1].memory


async def test_what_is_here_in_the_same_words_keeps_its_id_and_takes_the_evidence(store: DrivenStore) -> None:
    await admit_one(store, "The user likes tea.", turn_id="t1")
    [given] = memories_in(await export(store))
    await store.forget("mem-0001", is_purge=True)
    await admit_one(store, "the user likes tea", turn_id="t2")
    [line] = await take_over(store, given)
    assert line == ImportLine(memory_id="mem-0001", outcome=ImportOutcome.UPDATED, known_as="mem-0002")
    lineage = await store.reader.lineage("ines", "mem-0002", now_ms=store.now_ms)
    assert lineage is not None
    assert [each.turn_id for each in lineage.evidence] == ["t1", "t2"]


async def take_over_all(store: DrivenStore, pages: list[ExportPage], *, is_dry_run: bool = False) -> MemoriesImported:
    store.now_ms += 1_000
    command = ImportMemories(
        user="ines",
        memories=memories_in(pages),
        observations=tuple(each for page in pages for each in page.observations),
        proposals=tuple(each for page in pages for each in page.proposals),
        now_ms=store.now_ms,
        is_dry_run=is_dry_run,
        decision=msgspec.structs.replace(open_decision(store, "ines", "s", Op.REMEMBER), decision="imported"),
    )
    return await store.writer.import_memories(command)


def all_outcomes(done: MemoriesImported) -> set[ImportOutcome]:
    return {line.outcome for line in (*done.lines, *done.observations, *done.proposals)}


@pytest.mark.parametrize("target", ["sqlite", "memory"])
async def test_what_waits_comes_back_as_it_was_and_goes_on_from_there(
    store: DrivenStore, openers: dict[str, Opener], target: str, tmp_path: Path
) -> None:
    await a_life(store)
    for turn in ("p1", "p2"):
        await observe_one(store, "The user likes gin.", session=turn, turn_id=turn)
    given = await export(store, limit=100)
    async with openers[target](tmp_path / "other") as other:
        other.now_ms, other.memories, other.decisions = store.now_ms, store.memories, store.decisions
        assert all_outcomes(await take_over_all(other, given)) == {ImportOutcome.IMPORTED}
        assert await export(other, limit=100) == given
        assert all_outcomes(await take_over_all(other, given)) == {ImportOutcome.KNOWN}
        assert await export(other, limit=100) == given
        promoted = await observe_one(other, "The user likes gin.", session="p3", turn_id="p3")
        assert promoted.outcome is FactOutcome.PROMOTED


async def test_a_dry_run_says_what_would_be_and_leaves_everything_as_it_is(
    store: DrivenStore, openers: dict[str, Opener], tmp_path: Path
) -> None:
    await a_life(store)
    given = await export(store, limit=100)
    for target in ("sqlite", "memory"):
        async with openers[target](tmp_path / target) as other:
            other.now_ms = store.now_ms
            assert all_outcomes(await take_over_all(other, given, is_dry_run=True)) == {ImportOutcome.IMPORTED}
            assert (await other.listed(), await other.found("Hooli")) == ([], [])
            assert all(not page.observations and not page.proposals for page in await export(other))


async def test_what_was_turned_down_does_not_come_back_with_an_import(store: DrivenStore) -> None:
    await observe_one(store, "The user likes rum.")
    given = await export(store, limit=100)
    (observation,) = (each.observation for page in given for each in page.observations)
    await settle(store, observation.id, is_accepted=False)
    done = await take_over_all(store, given)
    assert [line.outcome for line in done.observations] == [ImportOutcome.TOMBSTONED]


async def test_conflicts_are_reported_line_by_line_and_leave_the_others_alone(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    await store.remember("Prefers rum", user="omar")
    [given] = memories_in(await export(store))
    other_words = msgspec.structs.replace(given, memory=msgspec.structs.replace(given.memory, text="Prefers gin"))
    foreign = msgspec.structs.replace(
        given, memory=msgspec.structs.replace(given.memory, id="mem-0002", text="Prefers ale")
    )
    sound = msgspec.structs.replace(
        given, memory=msgspec.structs.replace(given.memory, id="mem-0100", text="Prefers port")
    )
    lines = await take_over(store, other_words, foreign, sound)
    assert outcomes(lines) == [ImportOutcome.CONFLICT, ImportOutcome.CONFLICT, ImportOutcome.IMPORTED]
    assert await store.listed() == ["mem-0100", "mem-0001"]
    assert await store.listed("omar") == ["mem-0002"]


@pytest.mark.parametrize("is_hard", [False, True])
async def test_what_was_forgotten_does_not_come_back_with_an_import(store: DrivenStore, *, is_hard: bool) -> None:
    await store.remember("Prefers tea")
    [given] = memories_in(await export(store))
    await store.forget("mem-0001", is_hard=is_hard)
    assert outcomes(await take_over(store, given)) == [ImportOutcome.TOMBSTONED]
    assert await store.listed() == []


async def test_an_import_is_capped(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    await store.remember("Prefers rum")
    given = memories_in(await export(store))
    lines = await take_over(
        store,
        *(
            msgspec.structs.replace(each, memory=msgspec.structs.replace(each.memory, id=f"{each.memory.id}-b"))
            for each in given
        ),
        user="omar",
        limits=AdmissionLimits(records_max=1),
    )
    assert outcomes(lines) == [ImportOutcome.IMPORTED, ImportOutcome.OVER_CAPACITY]


async def test_an_expired_memory_is_taken_over_and_found_by_nothing(store: DrivenStore) -> None:
    await store.remember("On call", expires_at_ms=store.now_ms + 2_000)
    [given] = memories_in(await export(store))
    await store.forget("mem-0001", is_purge=True)
    store.now_ms += 10_000
    assert outcomes(await take_over(store, given)) == [ImportOutcome.IMPORTED]
    assert (await store.found("call"), await store.listed()) == ([], [])
    assert await store.reader.memory("ines", "mem-0001") == given.memory


async def test_slots_that_came_without_are_read_when_they_matter(store: DrivenStore) -> None:
    await store.remember("Works at Acme")
    [given] = memories_in(await export(store))
    await store.forget("mem-0001", is_purge=True)
    await take_over(store, msgspec.structs.replace(given, slots=()))
    ended = await admit_one(store, "Left.", slot="employer", value="Acme", is_ending=True)
    assert ended.superseded == ("mem-0001",)
