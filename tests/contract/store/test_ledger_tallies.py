"""What is counted of ledger rows, the same in every store."""

import msgspec
import pytest
from store_commands import DrivenStore

from recalld.models.domain.errors import RecalldError
from recalld.models.domain.ledger_tally import HOUR_MS, Amount, LedgerTallies, TallyFamily, hour_of
from recalld.models.domain.reasons import Op
from recalld.models.domain.store import AppendDecisions, Checkpoint, DecisionRow, Forget
from recalld.models.domain.user_data import PurgeUser

RECALL_BODY = (
    b'{"items":[{"memory_id":"mem-1"}],"dropped":[{"memory_id":"mem-2","reason":"below_floor"},'
    b'{"memory_id":"mem-3","reason":"below_floor"}],"floor_items":["mem-1","mem-4"],"kept_back":1,'
    b'"kept_back_chars":40,"pairs_scored":2,"total_ms":20.0,"turn_ms":0.5,"gate_ms":12.0}'
)


def recalled(number: int, at_ms: int, *, user: str = "ines", body: bytes = RECALL_BODY) -> DecisionRow:
    return DecisionRow(
        id=f"rec-{number}",
        user=user,
        session="s",
        op=Op.RECALL,
        at_ms=at_ms,
        decision="inject",
        reason="relevant",
        mode="gated",
        body=body,
    )


async def append(store: DrivenStore, *rows: DecisionRow) -> None:
    await store.writer.append_decisions(AppendDecisions(rows=rows))


async def counted(store: DrivenStore, user: str | None = None, since_ms: int | None = 0) -> LedgerTallies:
    return await store.reader.ledger_tallies(user, since_ms=since_ms, now_ms=store.now_ms)


def count(tallies: LedgerTallies, family: TallyFamily, *key: str) -> int:
    return sum(each.count for each in tallies.tallies if each.family is family and each.key == key)


def total(tallies: LedgerTallies, name: Amount) -> float:
    return sum(each.total for each in tallies.tallies if each.key == (name.value,))


async def test_rows_are_counted_with_what_their_bodies_say(store: DrivenStore) -> None:
    await append(store, recalled(1, store.now_ms), recalled(2, store.now_ms))
    found = await counted(store)
    assert count(found, TallyFamily.DECISION, "recall", "inject", "relevant") == 2
    assert count(found, TallyFamily.MODE, "gated", "") == 2
    assert count(found, TallyFamily.CANDIDATE, "") == 2
    assert count(found, TallyFamily.CANDIDATE, "below_floor") == 4
    assert (total(found, Amount.CANDIDATES), total(found, Amount.KEPT_BACK_CHARS)) == (6, 80)
    assert total(found, Amount.SEARCHED_MS) == pytest.approx(39.0)
    steps = {each.key[0]: each.total for each in found.tallies if each.family is TallyFamily.TIME}
    assert steps == {"turn": 1.0, "relevance": 24.0, "recall": 40.0}
    assert found.rows == {"recall": 2}


async def test_a_row_that_is_written_twice_is_counted_once(store: DrivenStore) -> None:
    row = recalled(1, store.now_ms)
    await append(store, row)
    await append(store, row)
    assert count(await counted(store), TallyFamily.DECISION, "recall", "inject", "relevant") == 1


@pytest.mark.parametrize("body", [b"", b"not json", b'{"items": 7}', b"\xff"])
async def test_a_body_that_nobody_can_read_counts_as_such_and_its_decision_as_well(
    store: DrivenStore, body: bytes
) -> None:
    await append(store, recalled(1, store.now_ms, body=body))
    found = await counted(store)
    assert total(found, Amount.UNREADABLE) == 1
    assert count(found, TallyFamily.DECISION, "recall", "inject", "relevant") == 1
    assert count(found, TallyFamily.CANDIDATE, "") == 0


async def test_a_user_is_counted_apart_by_exact_name(store: DrivenStore) -> None:
    await append(store, recalled(1, store.now_ms), recalled(2, store.now_ms, user="ines1"))
    for user, rows in (("ines", 1), ("ines1", 1), ("ine", 0), (None, 2)):
        found = await counted(store, user)
        assert count(found, TallyFamily.CANDIDATE, "") == rows
        assert (found.rows or {}).get("recall", 0) == rows


async def test_a_window_is_of_whole_hours(store: DrivenStore) -> None:
    hour_ms = hour_of(store.now_ms) * HOUR_MS
    await append(store, recalled(1, hour_ms - 1), recalled(2, hour_ms), recalled(3, hour_ms + HOUR_MS - 1))
    found = await counted(store, since_ms=hour_ms + 1_800_000)
    assert found.since_ms == hour_ms
    assert count(found, TallyFamily.CANDIDATE, "") == 2
    assert found.rows == {"recall": 2}


async def test_what_is_trimmed_leaves_every_window_and_stays_in_what_was_ever_counted(store: DrivenStore) -> None:
    hour_ms = hour_of(store.now_ms) * HOUR_MS
    rows = [recalled(number, hour_ms + number * 900_000) for number in range(8)]
    await append(store, *rows)
    # The trimming cuts an hour in two: neither its rows nor its counts are of use any more, and both go together.
    await store.writer.checkpoint(Checkpoint(now_ms=hour_ms + 1_800_000 + 5, ledger_keep_ms=5))
    found, ever = await counted(store), await counted(store, since_ms=None)
    assert found.since_ms == hour_ms + HOUR_MS
    assert (found.rows or {})["recall"] == count(found, TallyFamily.DECISION, "recall", "inject", "relevant") == 4
    assert count(ever, TallyFamily.DECISION, "recall", "inject", "relevant") == 8
    assert ever.rows is None


async def test_a_purged_user_leaves_counts_of_nobody_alone(store: DrivenStore) -> None:
    await append(store, recalled(1, store.now_ms), recalled(2, store.now_ms, user="bo"))
    await store.writer.purge_user(PurgeUser(user="ines"))
    assert count(await counted(store), TallyFamily.CANDIDATE, "") == 1
    assert (await counted(store, "ines", since_ms=None)).tallies == ()
    assert count(await counted(store, since_ms=None), TallyFamily.CANDIDATE, "") == 2


async def test_a_write_that_fails_counts_nothing(store: DrivenStore) -> None:
    await store.writer.remember(store.remember_command("Tea at four", memory_id="mem-9"))
    before = await counted(store)
    with pytest.raises(RecalldError):
        await store.writer.remember(store.remember_command("Coffee at five", memory_id="mem-9"))
    assert sorted(map(str, (await counted(store)).tallies)) == sorted(map(str, before.tallies))


async def test_forgetting_a_memory_keeps_its_counts_and_agrees_with_the_ledger(store: DrivenStore) -> None:
    await store.writer.remember(store.remember_command("Tea at four"))
    forget = Forget(
        user="ines",
        memory_ids=("mem-0001",),
        now_ms=store.now_ms,
        is_hard=True,
        decision=msgspec.structs.replace(store.decision("ines", Op.FORGET), reason="by_id"),
    )
    await store.writer.forget(forget)
    found = await counted(store)
    decided = sum(each.count for each in found.tallies if each.family is TallyFamily.DECISION)
    assert decided == sum((found.rows or {}).values()) == 2
