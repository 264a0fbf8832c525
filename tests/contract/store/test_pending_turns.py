"""Turns that wait for a language model: kept, read in order, and gone once something became of them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from admission_commands import admit, fact
from store_commands import DrivenStore, StandingClock

from recalld.daemon.storage.store import open_store
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.extraction import AppendPending, FailedTurn, PendingCounts, PendingTurn, SettlePending
from recalld.models.domain.user_data import PurgeUser

pytestmark = pytest.mark.anyio

AT_MS = 1_796_040_000_000


def turn(turn_id: str, text: str = "We moved to BigQuery.", *, session: str = "s") -> PendingTurn:
    return PendingTurn(
        session=session,
        turn_id=turn_id,
        text=text,
        at_ms=AT_MS,
        time_zone="Asia/Tokyo",
        scope="kitchen",
        client="cli",
        injected=("mem-1", "mem-2"),
        added_at_ms=AT_MS + 5,
    )


async def append(store: DrivenStore, *turns: PendingTurn, user: str = "ines", pending_max: int = 100) -> list[bool]:
    commands = [AppendPending(user=user, turn=each, pending_max=pending_max) for each in turns]
    return [await store.writer.append_pending(command) for command in commands]


async def waiting(store: DrivenStore, user: str = "ines") -> list[str]:
    return [each.turn_id for each in await store.reader.pending_turns(user, limit=100)]


async def numbers(store: DrivenStore, *turn_ids: str) -> tuple[int, ...]:
    found = await store.reader.pending_turns("ines", limit=100)
    return tuple(each.number for each in found if each.turn_id in turn_ids)


async def test_turns_come_back_in_order_of_arrival_as_they_were_put_there(store: DrivenStore) -> None:
    assert await append(store, turn("b"), turn("a")) == [True, True]
    first, second = await store.reader.pending_turns("ines", limit=100)
    assert (first.turn_id, second.turn_id) == ("b", "a")
    assert 0 < first.number < second.number
    assert msgspec.structs.replace(first, number=0) == turn("b")
    assert [each.turn_id for each in await store.reader.pending_turns("ines", limit=1)] == ["b"]


async def test_the_same_turn_waits_once_however_often_it_is_delivered(store: DrivenStore) -> None:
    assert await append(store, turn("a"), turn("a"), turn("a", session="t")) == [True, False, True]
    assert await waiting(store) == ["a", "a"]


async def test_a_turn_that_was_decided_about_before_is_not_put_there_again(store: DrivenStore) -> None:
    await admit(store, fact(store, "The user likes tea."), session="s", turn_id="a")
    assert await append(store, turn("a"), turn("b")) == [False, True]


async def test_only_so_many_may_wait_and_those_that_do_are_kept(store: DrivenStore) -> None:
    assert await append(store, turn("a"), turn("b"), turn("c"), pending_max=2) == [True, True, False]
    assert await waiting(store) == ["a", "b"]


async def test_what_finds_no_room_is_counted_once_for_each_that_is_lost(store: DrivenStore) -> None:
    await append(store, turn("a"), turn("b"), turn("a"), turn("c"), turn("d"), pending_max=1)
    await admit(store, fact(store, "The user likes tea."), session="s", turn_id="e")
    await append(store, turn("e"), pending_max=1)
    await append(store, turn("x"), turn("y"), user="tom", pending_max=1)
    counts = await store.reader.pending_counts("ines")
    assert (counts.waiting, counts.expired, counts.overflowed) == (1, 0, 3)
    assert (await store.reader.pending_counts(None)).overflowed == 4
    settled = await store.writer.settle_pending(SettlePending(user="ines", expired=await numbers(store, "a")))
    assert (settled.expired, settled.overflowed) == (1, 3)


async def test_only_what_was_read_is_removed(store: DrivenStore) -> None:
    await append(store, turn("a"), turn("b"))
    read = await numbers(store, "a", "b")
    await append(store, turn("c"))
    counts = await store.writer.settle_pending(SettlePending(user="ines", read=read))
    assert (await waiting(store), counts.waiting) == (["c"], 1)


async def test_a_failed_batch_keeps_its_group_and_its_failures(store: DrivenStore) -> None:
    await append(store, turn("a"), turn("b"))
    one, two = await numbers(store, "a", "b")
    failed = tuple(FailedTurn(number=number, group=one, failures=2) for number in (one, two, 999_999))
    await store.writer.settle_pending(SettlePending(user="ines", failed=failed))
    found = await store.reader.pending_turns("ines", limit=9)
    assert [(each.group, each.failures) for each in found] == [(one, 2), (one, 2)]


async def test_what_was_set_aside_and_what_expired_is_counted_and_not_tried(store: DrivenStore) -> None:
    await append(store, turn("a"), turn("b"), turn("c"))
    a, b, c = await numbers(store, "a", "b", "c")
    await store.writer.settle_pending(SettlePending(user="ines", set_aside=(a,), expired=(b, 999_999)))
    assert await waiting(store) == ["c"]
    expected = PendingCounts(waiting=1, set_aside=1, expired=1, oldest_at_ms=AT_MS + 5)
    assert await store.reader.pending_counts("ines") == expected
    counts = await store.writer.settle_pending(SettlePending(user="ines", expired=(c,)))
    assert counts == PendingCounts(waiting=0, set_aside=1, expired=2)
    assert await append(store, turn("a")) == [False]


async def test_what_was_set_aside_is_retried_alone_and_in_turn(store: DrivenStore) -> None:
    await append(store, *map(turn, "abc"))
    a, b, c = (each.number for each in await store.reader.pending_turns("ines", limit=10))
    await store.writer.settle_pending(SettlePending(user="ines", set_aside=(a, b)))
    await store.writer.settle_pending(SettlePending(user="ines", retried=1))
    waiting = await store.reader.pending_turns("ines", limit=10)
    assert [(each.number, each.group, each.failures) for each in waiting] == [(a, a, 1), (c, 0, 0)]
    await store.writer.settle_pending(SettlePending(user="ines", set_aside=(a,), retried=1))
    assert [each.number for each in await store.reader.pending_turns("ines", limit=10)] == [b, c]
    assert (await store.writer.settle_pending(SettlePending(user="ines", retried=9))).set_aside == 0


async def test_users_are_told_apart(store: DrivenStore) -> None:
    await append(store, turn("a"), user="teo")
    await append(store, turn("b"))
    number = (await store.reader.pending_turns("teo", limit=1))[0].number
    counts = await store.writer.settle_pending(SettlePending(user="ines", read=(number,), set_aside=(number,)))
    assert counts.waiting == 1
    assert (await waiting(store, "teo"), await waiting(store, "nobody")) == (["a"], [])
    assert await store.reader.pending_users() == ("teo", "ines")
    assert (await store.reader.pending_counts(None)).waiting == 2
    assert await store.reader.pending_counts("nobody") == PendingCounts()
    assert await store.writer.settle_pending(SettlePending(user="nobody", read=(1,))) == PendingCounts()


async def test_forgetting_removes_turns_that_speak_for_a_memory_or_repeat_its_words(store: DrivenStore) -> None:
    await append(store, turn("spoke", "I moved to Porto."), turn("says", "I SAID: the user likes tea."), turn("other"))
    spoken = fact(store, "The user likes tea.", turn_id="spoke")
    (result,) = (await admit(store, spoken, session="s", turn_id="spoke")).results
    assert result.memory is not None
    await store.forget(result.memory.id)
    assert await waiting(store) == ["other"]


async def test_purging_a_user_leaves_none(store: DrivenStore) -> None:
    await append(store, turn("a"), turn("b"))
    (number,) = await numbers(store, "a")
    await store.writer.settle_pending(SettlePending(user="ines", expired=(number,)))
    await store.writer.purge_user(PurgeUser(user="ines"))
    assert await store.reader.pending_counts(None) == PendingCounts()


async def test_text_that_is_not_unicode_is_refused(store: DrivenStore) -> None:
    with pytest.raises(RecalldError) as caught:
        await append(store, turn("a", "half \ud800"))
    assert caught.value.code is ErrorCode.BAD_REQUEST


async def test_what_waits_outlives_the_process(tmp_path: Path) -> None:
    for expected in ([True], [False]):
        async with open_store(tmp_path / "d", clock=StandingClock(), new_secret=lambda count: b"k" * count) as opened:
            driven = DrivenStore(opened.reader, opened.writer)
            assert await append(driven, turn("a")) == expected
            assert await waiting(driven) == ["a"]
