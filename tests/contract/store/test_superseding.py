"""Slots: what a newer value closes, what an ending ends, and what both leave alone."""

from __future__ import annotations

import pytest
from admission_commands import admit, admit_one, fact
from store_commands import EMBEDDER, DrivenStore

from recalld.models.domain.admission_store import FactOutcome, FactResult
from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason, RememberOutcome
from recalld.models.domain.records import MemoryKind, MemoryStatus
from recalld.models.domain.standing import StandingAction

pytestmark = pytest.mark.anyio


async def works_at(store: DrivenStore, employer: str, *, scope: str = "", subject: str = "") -> FactResult:
    text = f"{subject or 'The user'} works at {employer}."
    return await admit_one(store, text, slot="employer", value=employer, scope=scope, subject=subject)


async def no_longer_at(store: DrivenStore, employer: str, *, scope: str = "") -> FactResult:
    text = f"The user no longer works at {employer}."
    return await admit_one(store, text, slot="employer", value=employer, is_ending=True, scope=scope)


async def test_a_newer_value_closes_the_older_record_at_once(store: DrivenStore) -> None:
    await admit_one(store, "The user works at Globex.", slot="employer", value="Globex", is_embedded=True)
    since_seq = store.reader.seq("ines")
    newer = await admit_one(store, "The user joined Initech.", slot="employer", value="Initech")
    assert (newer.outcome, newer.superseded) == (FactOutcome.SUPERSEDED, ("mem-0001",))
    assert await store.listed() == ["mem-0002"]
    assert await store.found("Globex") == []
    delta = await store.reader.index_delta("ines", EMBEDDER, since_seq=since_seq, now_ms=store.now_ms)
    assert delta.removed == ("mem-0001",)
    older = await store.reader.memory("ines", "mem-0001")
    assert older is not None
    assert (older.status, older.text) == (MemoryStatus.SUPERSEDED, "The user works at Globex.")
    counts = await store.reader.counts("ines", EMBEDDER, now_ms=store.now_ms)
    assert (counts.live, counts.superseded, counts.expired) == (1, 1, 0)


async def test_lineage_links_older_and_newer_records_both_ways(store: DrivenStore) -> None:
    for employer in ("Globex", "Initech", "Hooli"):
        await works_at(store, employer)
    first, middle, last = [
        await store.reader.lineage("ines", f"mem-{number:04}", now_ms=store.now_ms) for number in (1, 2, 3)
    ]
    assert first is not None
    assert middle is not None
    assert last is not None
    assert first.superseded_by == middle.memory
    assert ([each.id for each in middle.supersedes], middle.superseded_by) == (["mem-0001"], last.memory)
    assert (last.superseded_by, [each.id for each in last.supersedes]) == (None, ["mem-0002"])


async def test_an_ending_closes_the_record_and_opens_none(store: DrivenStore) -> None:
    await works_at(store, "Acme")
    ended = await no_longer_at(store, "Acme")
    assert (ended.outcome, ended.disposition, ended.reason) == (
        FactOutcome.CLOSED,
        Disposition.RECORD,
        AdmissionReason.CORRECTION,
    )
    assert (ended.superseded, ended.memory) == (("mem-0001",), None)
    assert await store.listed() == []
    lineage = await store.reader.lineage("ines", "mem-0001", now_ms=store.now_ms)
    assert lineage is not None
    assert (lineage.superseded_by, len(lineage.evidence)) == (None, 2)


async def test_an_ending_of_another_value_ends_nothing(store: DrivenStore) -> None:
    await works_at(store, "Acme")
    ended = await no_longer_at(store, "Globex")
    assert (ended.outcome, ended.disposition, ended.superseded) == (FactOutcome.CLOSED, Disposition.DROP, ())
    assert await store.listed() == ["mem-0001"]


@pytest.mark.parametrize(
    "saved", ["Works at Acme", "I work for Acme now", "My employer is Acme Inc.", "The user works at Acme."]
)
async def test_what_was_saved_without_a_slot_is_ended_by_its_words(store: DrivenStore, saved: str) -> None:
    # A08: nobody said which slot it was, and no embedder was there.
    await store.remember(saved)
    ended = await no_longer_at(store, "Acme")
    assert ended.superseded == ("mem-0001",)
    assert await store.listed() == []


async def test_a_turn_may_end_one_value_and_state_another(store: DrivenStore) -> None:
    # A08: what is no longer used and what is used instead, in one sentence.
    await store.remember("Our warehouse is Snowflake")
    ending = fact(store, "The team is not on Snowflake.", slot="data_warehouse", value="Snowflake", is_ending=True)
    newer = fact(store, "The team uses BigQuery.", slot="data_warehouse", value="BigQuery")
    admitted = await admit(store, ending, newer, turn_id="t1")
    assert [result.outcome for result in admitted.results] == [FactOutcome.CLOSED, FactOutcome.CREATED]
    assert await store.listed() == ["mem-0003"]


async def test_an_explicit_save_supersedes_by_its_words_and_says_so(store: DrivenStore) -> None:
    await store.remember("Works at Acme")
    saved = await store.remember("Works at Initech", decision="", turn_key="s\x1f1")
    assert (saved.outcome, saved.superseded) == (RememberOutcome.SUPERSEDED, ("mem-0001",))
    assert await store.listed() == ["mem-0002"]
    row = await store.reader.decision("dec-2")
    assert row is not None
    assert (row.decision, row.reason) == ("superseded", "explicit_save")
    assert await store.remember("x", turn_key="s\x1f1") == saved
    lineage = await store.reader.lineage("ines", "mem-0002", now_ms=store.now_ms)
    assert lineage is not None
    assert ([each.id for each in lineage.supersedes], lineage.slot) == (["mem-0001"], "employer")


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Lives in Porto", "I live in Lyon"),
        ("Our warehouse is Snowflake", "We use BigQuery now"),
        ("Always use metric", "The user prefers imperial units"),
        ("Works from 9 to 17", "My working hours are 8 to 4"),
        ("The user uses Neovim", "Switched from Neovim to Helix"),
        ("The user goes by Fred", "The user goes by Freddy"),
    ],
)
async def test_single_valued_slots_hold_one_value(store: DrivenStore, older: str, newer: str) -> None:
    await store.remember(older)
    saved = await store.remember(newer)
    assert (saved.outcome, saved.superseded) == (RememberOutcome.SUPERSEDED, ("mem-0001",))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Speaks Portuguese", "Speaks German"),
        ("The user is allergic to peanuts", "The user is allergic to penicillin"),
        ("Prefers tables", "No emoji please"),
        ("I think in miles", "The user prefers Celsius"),
        ("Lives in Porto, near the river", "Lives in Porto"),
        ("Works at Acme", "Alice works at Initech"),
        ("My wife is Noor", "My sister Noor works at Globex"),
        ("We use PostgreSQL", "We use Redis for rate limiting"),
        ("Works at Acme as a data engineer", "I'm a product manager"),
        ("Prefers tea", "Prefers coffee"),
    ],
)
async def test_what_does_not_contradict_stands_side_by_side(store: DrivenStore, older: str, newer: str) -> None:
    await store.remember(older)
    saved = await store.remember(newer)
    assert (saved.outcome, saved.superseded) == (RememberOutcome.CREATED, ())
    assert await store.listed() == ["mem-0002", "mem-0001"]


async def test_another_subject_with_the_same_slot_is_left_alone(store: DrivenStore) -> None:
    await works_at(store, "Acme")
    sister = await works_at(store, "Initech", subject="the user's sister")
    assert sister.outcome is FactOutcome.CREATED
    moved = await works_at(store, "Globex", subject="the user's sister")
    assert moved.superseded == ("mem-0002",)
    assert await store.listed() == ["mem-0003", "mem-0001"]


async def test_a_value_holds_in_its_scope_only(store: DrivenStore) -> None:
    await admit_one(store, "The user uses pnpm.", slot="package_manager", value="pnpm")
    project = await admit_one(store, "This project uses npm.", slot="package_manager", value="npm", scope="site")
    assert project.outcome is FactOutcome.CREATED
    assert await store.listed() == ["mem-0002", "mem-0001"]


async def test_an_ending_said_in_a_project_ends_what_holds_everywhere(store: DrivenStore) -> None:
    await works_at(store, "Acme")
    await works_at(store, "Acme", scope="other")
    ended = await no_longer_at(store, "Acme", scope="site")
    assert ended.superseded == ("mem-0001",)
    assert await store.listed() == ["mem-0002"]


async def test_an_ending_in_a_scope_leaves_the_global_record_where_the_scope_has_its_own(store: DrivenStore) -> None:
    await works_at(store, "Acme")
    await works_at(store, "Acme", scope="site")
    assert (await no_longer_at(store, "Acme", scope="site")).superseded == ("mem-0002",)


async def test_other_users_are_left_alone(store: DrivenStore) -> None:
    await store.remember("Works at Acme", user="omar")
    await works_at(store, "Initech")
    assert (await no_longer_at(store, "Acme")).superseded == ()
    assert await store.listed("omar") == ["mem-0001"]


async def test_a_rule_may_say_that_its_slot_holds_several_values(store: DrivenStore) -> None:
    for value in ("tabs", "semicolons"):
        text = f"The user likes {value}."
        result = await admit_one(store, text, slot="taste", value=value, is_single_valued=False)
        assert result.outcome is FactOutcome.CREATED
    ended = await admit_one(store, "No more tabs.", slot="taste", value="tabs", is_ending=True, is_single_valued=False)
    assert ended.superseded == ("mem-0001",)


async def test_an_ending_without_a_value_ends_a_slot_of_one_value_only(store: DrivenStore) -> None:
    await works_at(store, "Acme")
    await admit_one(store, "The user speaks Polish.", slot="spoken_language", value="Polish")
    assert (await no_longer_at(store, "")).superseded == ("mem-0001",)
    language = await admit_one(store, "No more.", slot="spoken_language", is_ending=True)
    assert language.superseded == ()


async def test_a_value_is_known_by_any_of_its_spellings(store: DrivenStore) -> None:
    await store.remember("Deploys services to a k8s cluster")
    again = await admit_one(
        store, "The team deploys to Kubernetes.", slot="deploy_target", value="Kubernetes", neighbours=("mem-0001",)
    )
    assert again.superseded == ()
    ended = await admit_one(store, "Not on Kubernetes.", slot="deploy_target", value="kubernetes", is_ending=True)
    assert "mem-0001" in ended.superseded


async def test_the_same_value_in_other_words_is_the_same_fact(store: DrivenStore) -> None:
    await admit_one(store, "The team's warehouse is BigQuery.", slot="data_warehouse", value="BigQuery")
    again = await admit_one(store, "The team uses BigQuery.", slot="data_warehouse", value="BigQuery")
    assert again.outcome is FactOutcome.DUPLICATE


async def test_a_value_that_comes_back_is_a_new_record(store: DrivenStore) -> None:
    for employer in ("Acme", "Initech", "Acme"):
        result = await works_at(store, employer)
    assert (result.outcome, result.superseded) == (FactOutcome.SUPERSEDED, ("mem-0002",))
    assert await store.listed() == ["mem-0003"]


async def test_the_slot_holders_are_the_live_ones_of_the_scope(store: DrivenStore) -> None:
    await works_at(store, "Acme")
    await works_at(store, "Initech")
    await works_at(store, "Globex", scope="site")
    [holder] = await store.reader.slot_holders("ines", "", "employer", now_ms=store.now_ms)
    assert (holder.memory.id, holder.value.value) == ("mem-0002", "Initech")
    assert await store.reader.slot_holders("ines", "", "employer", "Alice", now_ms=store.now_ms) == ()
    assert await store.reader.slot_holders("nobody", "", "employer", now_ms=store.now_ms) == ()


async def test_notes_hold_no_slots(store: DrivenStore) -> None:
    await store.remember("Works at Acme", kind=MemoryKind.NOTE)
    assert (await no_longer_at(store, "Acme")).superseded == ()


async def test_an_ending_reaches_a_nominated_record_that_says_nothing_else(store: DrivenStore) -> None:
    await store.remember("Employer: Hooli")
    await store.remember("The Hooli canteen closes at three.")
    ended = await admit_one(
        store,
        "The user no longer works at Hooli, the employer.",
        slot="employer",
        value="Hooli",
        is_ending=True,
        neighbours=("mem-0001", "mem-0002"),
    )
    assert ended.superseded == ("mem-0001",)


async def test_what_was_superseded_cannot_be_pinned_updated_or_embedded(store: DrivenStore) -> None:
    await works_at(store, "Acme")
    await works_at(store, "Initech")
    assert not await store.embed("mem-0001")
    with pytest.raises(Exception, match="no live memory"):
        await store.choose("mem-0001", StandingAction.PIN)
    with pytest.raises(Exception, match="no live memory"):
        await store.update("mem-0001", cues=("x",))


async def test_a_sweep_of_expired_memories_leaves_history_alone(store: DrivenStore) -> None:
    await admit_one(store, "Works at A.", slot="employer", value="Acme", expires_at_ms=store.now_ms + 3_000)
    await works_at(store, "Initech")
    store.now_ms += 10_000
    assert (await store.expire()).count == 0
    older = await store.reader.memory("ines", "mem-0001")
    assert older is not None
    assert older.status is MemoryStatus.SUPERSEDED


DAY_MS = 86_400_000


async def said(store: DrivenStore, text: str, value: str, *, days_ago: int, is_ending: bool = False) -> FactResult:
    at_ms = store.now_ms - days_ago * DAY_MS
    return await admit_one(store, text, slot="location", value=value, at_ms=at_ms, is_ending=is_ending)


async def test_what_was_said_later_wins_whatever_was_delivered_first(store: DrivenStore) -> None:
    rome = await said(store, "The user lives in Rome.", "Rome", days_ago=2)
    oslo = await said(store, "The user lives in Oslo.", "Oslo", days_ago=30)
    assert rome.memory is not None
    assert oslo.memory is not None

    assert (oslo.outcome, oslo.superseded) == (FactOutcome.CREATED, ())
    assert oslo.memory.status is MemoryStatus.SUPERSEDED
    holders = await store.reader.slot_holders("ines", "", "location", now_ms=store.now_ms)
    assert [each.memory.id for each in holders] == [rome.memory.id]
    lineage = await store.reader.lineage("ines", oslo.memory.id, now_ms=store.now_ms)
    assert lineage is not None
    assert lineage.superseded_by is not None
    assert lineage.superseded_by.id == rome.memory.id


async def test_a_value_said_again_later_is_as_late_as_that(store: DrivenStore) -> None:
    rome = await said(store, "The user lives in Rome.", "Rome", days_ago=30)
    await said(store, "The user lives in Rome.", "Rome", days_ago=2)
    oslo = await said(store, "The user lives in Oslo.", "Oslo", days_ago=9)
    bonn = await said(store, "The user lives in Bonn.", "Bonn", days_ago=1)
    assert rome.memory is not None

    assert (oslo.superseded, bonn.superseded) == ((), (rome.memory.id,))


async def test_an_ending_said_before_the_value_ends_nothing(store: DrivenStore) -> None:
    await said(store, "The user lives in Rome.", "Rome", days_ago=2)
    ended = await said(store, "The user no longer lives in Rome.", "Rome", days_ago=9, is_ending=True)

    assert ended.superseded == ()
