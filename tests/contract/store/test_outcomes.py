from __future__ import annotations

import pytest
from store_commands import DrivenStore

from recalld.actors.store import memory_outcomes
from recalld.daemon.storage import outcomes as sqlite_outcomes
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.outcomes import OutcomeResult, OutcomeTally
from recalld.models.domain.reasons import Op
from recalld.models.domain.records import MemoryKind
from recalld.models.domain.standing import StandingAction, StandingChoice
from recalld.models.domain.store import Checkpoint

pytestmark = pytest.mark.anyio

USED, IGNORED, HARMFUL, MISSED = OutcomeResult


async def refusal(store: DrivenStore, *report: str | OutcomeResult, user: str | None = None) -> tuple[ErrorCode, str]:
    decision_id, result, *memory_id = report
    with pytest.raises(RecalldError) as raised:
        await store.report(decision_id, OutcomeResult(result), *memory_id, user=user)
    return raised.value.code, raised.value.message.partition(":")[0]


async def test_reports_are_counted_by_memory_and_listed_newest_first(store: DrivenStore) -> None:
    tea, mug = await store.store("Prefers tea"), await store.store("Has a blue mug")
    first, second = await store.show(tea, mug), await store.show(tea)
    await store.report(first, USED, tea)
    await store.report(first, IGNORED, mug)
    await store.report(second, HARMFUL, tea)
    assert await store.reader.outcomes("ines", [tea, mug, "mem-9999"]) == {
        tea: OutcomeTally(used=1, harmful=1),
        mug: OutcomeTally(ignored=1),
        "mem-9999": OutcomeTally(),
    }
    found = await store.reader.reported("ines", memory_id=tea, limit=1)
    assert (found.tally, found.choice) == (OutcomeTally(used=1, harmful=1), None)
    assert [(each.decision_id, each.result, each.at_ms) for each in found.newest] == [
        (second, HARMFUL, store.now_ms - 500)
    ]
    of_decision = await store.reader.reported("ines", decision_id=first, limit=10)
    assert [(each.memory_id, each.result) for each in of_decision.newest] == [(mug, IGNORED), (tea, USED)]


async def test_the_same_report_counts_once_and_another_result_beside_it(store: DrivenStore) -> None:
    tea = await store.store("Prefers tea")
    shown = await store.show(tea)
    assert [await store.report(shown, USED, tea), await store.report(shown, USED, tea)] == [True, False]
    assert await store.report(shown, HARMFUL, tea)
    assert await store.report(shown, USED)
    assert (await store.reader.outcomes("ines", [tea]))[tea] == OutcomeTally(used=1, harmful=1)
    assert (await store.reader.reported("ines", decision_id=shown, limit=10)).tally == OutcomeTally(used=2, harmful=1)


async def test_what_is_not_there_or_belongs_to_another_is_not_found(store: DrivenStore) -> None:
    tea = await store.store("Prefers tea")
    other = await store.store("Prefers coffee", user="omar")
    shown, of_omar = await store.show(tea), await store.show(other, user="omar")
    assert await refusal(store, "rec-none", USED) == (ErrorCode.NOT_FOUND, "decision_id")
    assert await refusal(store, of_omar, USED) == (ErrorCode.NOT_FOUND, "decision_id")
    assert await refusal(store, of_omar, USED, other) == (ErrorCode.NOT_FOUND, "decision_id")
    assert await refusal(store, shown, USED, tea, user="nobody") == (ErrorCode.NOT_FOUND, "decision_id")
    assert await refusal(store, shown, MISSED, other) == (ErrorCode.NOT_FOUND, "item_id")
    assert await refusal(store, shown, MISSED, "mem-none") == (ErrorCode.NOT_FOUND, "item_id")
    assert await store.reader.outcomes("omar", [other]) == {other: OutcomeTally()}


async def test_a_memory_that_the_decision_did_not_show_is_refused_by_name(store: DrivenStore) -> None:
    tea, mug = await store.store("Prefers tea"), await store.store("Has a blue mug")
    shown = await store.show(tea)
    for result in (USED, IGNORED, HARMFUL):
        assert await refusal(store, shown, result, mug) == (ErrorCode.BAD_REQUEST, "item_id")
    assert await refusal(store, shown, MISSED, tea) == (ErrorCode.BAD_REQUEST, "item_id")
    assert await refusal(store, "dec-1", USED, tea) == (ErrorCode.BAD_REQUEST, "item_id")  # a save shows nothing
    assert await store.report("dec-1", HARMFUL)
    assert await store.report(shown, MISSED, mug)


async def test_a_standing_block_is_reported_on_like_a_recall(store: DrivenStore) -> None:
    tea = await store.store("Prefers tea")
    assert await store.report(await store.show(tea, op=Op.STANDING), USED, tea)


@pytest.mark.parametrize("is_hard", [False, True])
async def test_reports_on_a_memory_go_with_it(store: DrivenStore, *, is_hard: bool) -> None:
    tea, mug = await store.store("Prefers tea"), await store.store("Has a blue mug")
    shown, other = await store.show(tea, mug), await store.show(mug)
    for memory_id in (tea, mug):
        await store.report(shown, USED, memory_id)
    await store.report(other, MISSED, tea)
    await store.choose(tea, StandingAction.PIN)
    await store.forget(tea, is_hard=is_hard)
    gone = await store.reader.reported("ines", memory_id=tea, limit=10)
    assert (gone.tally, gone.newest, gone.choice) == (OutcomeTally(), (), None)
    assert (await store.reader.outcomes("ines", [mug]))[mug] == OutcomeTally(used=1)
    # The ledger no longer knows what the decision showed, so nothing more can be said about its items.
    assert await refusal(store, shown, IGNORED, mug) == (ErrorCode.BAD_REQUEST, "item_id")
    assert await refusal(store, other, MISSED, tea) == (ErrorCode.NOT_FOUND, "item_id")
    assert await store.report(shown, IGNORED)


async def test_a_purge_leaves_no_report_behind(store: DrivenStore) -> None:
    tea = await store.store("Prefers tea")
    shown = await store.show(tea)
    await store.report(shown, USED, tea)
    await store.report(shown, IGNORED)
    mug = await store.store("Has a blue mug")
    await store.forget(tea, is_purge=True)
    assert (await store.reader.reported("ines", decision_id=shown, limit=10)).newest == ()
    await store.forget(mug, is_purge=True)
    assert await store.reader.reported("ines", memory_id=tea, limit=10) == await store.reader.reported(
        "nobody", memory_id=tea, limit=10
    )


async def test_reports_outlive_the_ledger_row_that_they_are_about(store: DrivenStore) -> None:
    tea = await store.store("Prefers tea")
    shown = await store.show(tea)
    await store.report(shown, USED, tea)
    await store.writer.checkpoint(Checkpoint(now_ms=store.now_ms + 5_000, ledger_keep_ms=0))
    assert (await store.reader.outcomes("ines", [tea]))[tea] == OutcomeTally(used=1)
    assert await refusal(store, shown, IGNORED, tea) == (ErrorCode.NOT_FOUND, "decision_id")


async def test_the_oldest_reports_of_a_user_make_room(store: DrivenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (memory_outcomes, sqlite_outcomes):
        monkeypatch.setattr(module, "OUTCOMES_MAX", 3)
    tea = await store.store("Prefers tea")
    other = await store.store("Prefers coffee", user="omar")
    await store.report(await store.show(other, user="omar"), USED, other, user="omar")
    shown = [await store.show(tea) for _ in range(5)]
    for decision_id in shown:
        await store.report(decision_id, USED, tea)
    kept = await store.reader.reported("ines", memory_id=tea, limit=10)
    assert [each.decision_id for each in kept.newest] == shown[:1:-1]
    assert (await store.reader.outcomes("omar", [other]))[other] == OutcomeTally(used=1)


async def test_candidates_are_the_standing_kinds_of_the_scope_and_what_was_pinned(store: DrivenStore) -> None:
    prefers = await store.store("Prefers tea", kind=MemoryKind.PREFERENCE)
    scoped = await store.store("Use uv", kind=MemoryKind.CONVENTION, scope="work")
    await store.store("Use npm", kind=MemoryKind.CONVENTION, scope="other")
    fact = await store.store("The office is in Rome")
    await store.store("Prefers coffee", kind=MemoryKind.PREFERENCE, user="omar")
    await store.store("Prefers rain", kind=MemoryKind.PREFERENCE, expires_at_ms=store.now_ms + 1_500)
    gone = await store.store("Prefers snow", kind=MemoryKind.PREFERENCE)
    await store.forget(gone)
    assert [each.memory.id for each in (await store.standing()).candidates] == [prefers]
    assert [each.memory.id for each in (await store.standing("work")).candidates] == [scoped, prefers]
    await store.choose(fact, StandingAction.PIN)
    found = await store.standing("work")
    assert [(each.memory.id, each.choice) for each in found.candidates] == [
        (fact, StandingChoice.PINNED),
        (scoped, None),
        (prefers, None),
    ]
    assert found.unread == 0
    assert (await store.standing("work", limit=1)).unread == 2
    assert (await store.standing(user="nobody")).candidates == ()


async def test_candidates_carry_their_outcomes_and_the_turns_that_said_them(store: DrivenStore) -> None:
    for turn in ("s\x1f1", "s\x1f2"):
        await store.remember("Prefers tea", kind=MemoryKind.PREFERENCE, turn_key=turn)
    mug = await store.store("Prefers mugs", kind=MemoryKind.PREFERENCE)
    shown = await store.show("mem-0001")
    await store.report(shown, USED, "mem-0001")
    await store.report(shown, MISSED, mug)
    first, second = (await store.standing()).candidates
    assert (first.memory.id, first.tally, first.turns) == (mug, OutcomeTally(missed=1), 0)
    assert (second.memory.id, second.tally, second.turns) == ("mem-0001", OutcomeTally(used=1), 2)


async def test_what_was_reported_before_a_restoring_counts_no_more_in_the_block(store: DrivenStore) -> None:
    tea = await store.store("Prefers tea", kind=MemoryKind.PREFERENCE)
    first, second = await store.show(tea), await store.show(tea)
    await store.report(first, HARMFUL, tea)
    await store.choose(tea, StandingAction.RESTORE)
    await store.report(second, USED, tea)
    (found,) = (await store.standing()).candidates
    assert (found.tally, found.choice) == (OutcomeTally(used=1), StandingChoice.RESTORED)
    assert (await store.reader.outcomes("ines", [tea]))[tea] == OutcomeTally(used=1, harmful=1)


async def test_a_restoring_is_news_only_when_there_is_something_to_look_past(store: DrivenStore) -> None:
    tea = await store.store("Prefers tea", kind=MemoryKind.PREFERENCE)
    done = await store.choose(tea, StandingAction.RESTORE)
    assert (done.choice, done.is_standing, done.is_changed) == (None, True, False)
    await store.report(await store.show(tea), HARMFUL, tea)
    for is_news in (True, False):
        done = await store.choose(tea, StandingAction.RESTORE)
        assert (done.choice, done.is_standing, done.is_changed) == (StandingChoice.RESTORED, True, is_news)
    await store.report(await store.show(tea), HARMFUL, tea)
    assert (await store.choose(tea, StandingAction.RESTORE)).is_changed
    unpinned = await store.choose(tea, StandingAction.UNPIN)
    assert (unpinned.choice, unpinned.is_changed) == (StandingChoice.RESTORED, False)


async def test_a_fact_stands_only_while_it_is_pinned(store: DrivenStore) -> None:
    fact = await store.store("The office is in Rome")
    await store.report(await store.show(fact), USED, fact)
    for action in (StandingAction.RESTORE, StandingAction.DEMOTE, StandingAction.UNPIN):
        done = await store.choose(fact, action)
        assert (done.choice, done.is_standing, done.is_changed) == (None, False, False)
        assert (await store.standing()).candidates == ()
    assert (await store.choose(fact, StandingAction.PIN)).is_standing
    demoted = await store.choose(fact, StandingAction.DEMOTE)
    assert (demoted.choice, demoted.is_standing) == (StandingChoice.DEMOTED, False)
    assert [each.choice for each in (await store.standing()).candidates] == [StandingChoice.DEMOTED]
    restored = await store.choose(fact, StandingAction.RESTORE)
    assert (restored.choice, restored.is_standing, restored.is_changed) == (None, False, True)
    assert (await store.standing()).candidates == ()


async def test_choices_are_kept_undone_and_written_down(store: DrivenStore) -> None:
    tea = await store.store("Prefers tea")
    pinned = await store.choose(tea, StandingAction.PIN)
    again = await store.choose(tea, StandingAction.PIN)
    assert [(each.choice, each.is_changed) for each in (pinned, again)] == [
        (StandingChoice.PINNED, True),
        (StandingChoice.PINNED, False),
    ]
    rows = [await store.reader.decision(each.decision_id) for each in (pinned, again)]
    assert [(row.op, row.decision, row.reason) for row in rows if row is not None] == [
        (Op.SET_STANDING, "pin", "requested"),
        (Op.SET_STANDING, "pin", "unchanged"),
    ]
    assert (await store.reader.reported("ines", memory_id=tea, limit=1)).choice is StandingChoice.PINNED
    unpinned = await store.choose(tea, StandingAction.UNPIN)
    assert (unpinned.choice, unpinned.is_changed) == (None, True)
    assert (await store.standing()).candidates == ()


async def test_only_a_live_memory_of_the_user_can_be_decided_about(store: DrivenStore) -> None:
    tea = await store.store("Prefers tea", expires_at_ms=store.now_ms + 1_500)
    gone = await store.store("Prefers snow")
    await store.forget(gone)
    for memory_id, user in ((tea, None), (gone, None), ("mem-none", None), (gone, "omar"), (gone, "nobody")):
        with pytest.raises(RecalldError) as raised:
            await store.choose(memory_id, StandingAction.PIN, user=user)
        assert raised.value.code is ErrorCode.NOT_FOUND
