from __future__ import annotations

import json
from typing import Any

import anyio
import msgspec
import pytest
from actor_system import WRITE_S, System, drain, running_system
from scripted_model import ScriptedModel, asks_about, record_in

from recalld.actors.runtime_model import NoRuntimeModel
from recalld.models.domain.cues import (
    BackfillEnd,
    BackfillFailure,
    BackfillReply,
    BackfillRequest,
    MemoryChanges,
    UpdateRequest,
)
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.events import EventName
from recalld.models.domain.runtime_model import RuntimeFailure, RuntimeFailureKind, RuntimePrompt, RuntimeReply
from recalld.models.domain.store import MemoryPage

pytestmark = pytest.mark.anyio

TEXTS = ("Kestrel is the meeting room upstairs", "Bonfires are held on Fridays", "Tarragon grows behind the shed")


async def backfill(
    system: System,
    *,
    limit: int = 10,
    is_dry_run: bool = False,
    cursor: str | None = None,
    within_s: float = 60.0,
) -> BackfillReply:
    return await system.service.backfill(
        BackfillRequest(
            user="ines",
            limit=limit,
            is_dry_run=is_dry_run,
            cursor=cursor,
            deadline_s=system.now_s() + within_s,
        )
    )


async def stored(system: System) -> list[str]:
    """Three memories without asks, oldest first."""
    ids = []
    for text in TEXTS:
        ids.append(await system.store_text("ines", text))
        await anyio.sleep(0.01)
    return ids


async def test_each_memory_without_asks_gets_those_that_the_model_wrote_for_it() -> None:
    model = ScriptedModel()
    async with running_system(System(runtime_model=model)) as system:
        ids = await stored(system)
        await system.store_text("ines", "Marigolds are in the greenhouse", asks=("Which flowers?",))
        await system.store_text("olga", "Bonfires are held on Sundays")
        reply = await backfill(system)
        assert (reply.asked, reply.updated, reply.refused, reply.failed, reply.remaining) == (3, 3, 0, 0, 0)
        assert (reply.end, reply.cursor) == (BackfillEnd.DONE, None)
        assert [record_in(prompt) for _, prompt in model.asked] == list(reversed(TEXTS))
        assert {user for user, _ in model.asked} == {"ines"}
        memory = await system.service.get("ines", ids[1])
        assert (memory.cues, memory.asks, memory.text) == (("Bonfires notes",), ("What about Bonfires?",), TEXTS[1])


async def test_what_the_model_wrote_is_in_the_ledger_with_the_version_of_its_prompt() -> None:
    async with running_system(System(runtime_model=ScriptedModel())) as system:
        await system.store_text("ines", TEXTS[0])
        await backfill(system)
        (event,) = system.events(EventName.MEMORY_UPDATED)
        row = await system.service.explain("ines", str(event.fields["decision_id"]))
        assert (row.op, row.reason) == ("update", "backfilled")
        assert json.loads(row.body)["note"] == "cues.v1"


async def test_cues_that_are_there_stay_and_come_first() -> None:
    async with running_system(System(runtime_model=ScriptedModel())) as system:
        memory_id = await system.store_text("ines", TEXTS[0], cues=("mine",))
        await backfill(system)
        memory = await system.service.get("ines", memory_id)
        assert (memory.cues, memory.asks) == (("mine", "Kestrel notes"), ("What about Kestrel?",))


async def test_nothing_of_a_refused_answer_is_stored_and_the_rest_goes_on() -> None:
    def answer(prompt: RuntimePrompt) -> RuntimeReply:
        if "Bonfires" in record_in(prompt):
            return RuntimeReply(text='{"cues": ["Home"], "asks": ["Where?", "where?"]}')
        return asks_about(prompt)

    async with running_system(System(runtime_model=ScriptedModel(answer=answer))) as system:
        ids = await stored(system)
        reply = await backfill(system)
        assert (reply.updated, reply.refusals, reply.failures, reply.remaining) == (2, {"repeated": 1}, {}, 1)
        memory = await system.service.get("ines", ids[1])
        assert (memory.cues, memory.asks, memory.revision) == ((), (), 1)


async def test_asks_that_would_fit_anything_are_refused_as_they_are_from_anybody() -> None:
    stuffing = json.dumps({"cues": ["Room"], "asks": ["Which room is Kestrel?", "What is that?"]})
    model = ScriptedModel(answer=lambda _prompt: RuntimeReply(text=stuffing))
    async with running_system(System(runtime_model=model)) as system:
        memory_id = await system.store_text("ines", TEXTS[0])
        reply = await backfill(system)
        assert (reply.refusals, reply.remaining) == ({"not_admitted": 1}, 1)
        memory = await system.service.get("ines", memory_id)
        assert (memory.cues, memory.asks) == ((), ())


async def test_the_limit_ends_it_and_the_cursor_goes_on_behind_what_was_refused() -> None:
    model = ScriptedModel(answer=lambda _prompt: RuntimeReply(text="no"))
    async with running_system(System(runtime_model=model)) as system:
        await stored(system)
        first = await backfill(system, limit=2)
        assert (first.asked, first.refusals, first.end) == (2, {"unreadable": 2}, BackfillEnd.LIMIT)
        second = await backfill(system, limit=2, cursor=first.cursor)
        assert (second.asked, second.end, second.cursor) == (1, BackfillEnd.DONE, None)
        assert [record_in(prompt) for _, prompt in model.asked] == list(reversed(TEXTS))


async def test_a_memory_that_cannot_be_read_does_not_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ScriptedModel()
    async with running_system(System(runtime_model=model)) as system:
        ids = await stored(system)
        reader = system.store.reader
        list_memories = reader.list_memories

        async def without_the_newest(*args: Any, **options: Any) -> MemoryPage:
            page = await list_memories(*args, **options)
            return msgspec.structs.replace(page, memories=tuple(each for each in page.memories if each.id != ids[-1]))

        monkeypatch.setattr(reader, "list_memories", without_the_newest)
        reply = await backfill(system)
        assert (reply.updated, reply.end) == (2, BackfillEnd.DONE)


async def test_without_a_lent_model_it_says_so_and_asks_nobody() -> None:
    async with running_system(System(runtime_model=NoRuntimeModel())) as system:
        await stored(system)
        for is_dry_run in (False, True):
            reply = await backfill(system, is_dry_run=is_dry_run)
            assert (reply.asked, reply.remaining, reply.end) == (0, 3, BackfillEnd.NO_RUNTIME)


async def test_a_model_that_is_lent_for_others_is_not_asked() -> None:
    model = ScriptedModel(lent_for=lambda user: user == "olga")
    async with running_system(System(runtime_model=model)) as system:
        await stored(system)
        assert (await backfill(system)).end is BackfillEnd.NO_RUNTIME
        assert model.asked == []


async def test_a_dry_run_counts_and_asks_nobody() -> None:
    model = ScriptedModel()
    async with running_system(System(runtime_model=model)) as system:
        await stored(system)
        reply = await backfill(system, is_dry_run=True)
        assert (reply.asked, reply.remaining, reply.end) == (0, 3, BackfillEnd.DRY_RUN)
        assert model.asked == []


async def test_with_nothing_to_do_it_is_done_whoever_is_connected() -> None:
    async with running_system(System()) as system:
        assert (await backfill(system)).end is BackfillEnd.DONE


async def test_a_model_that_fails_again_and_again_is_left_alone() -> None:
    failure = RuntimeFailure(kind=RuntimeFailureKind.DISCONNECTED)
    model = ScriptedModel(answer=lambda _prompt: failure)
    async with running_system(System(runtime_model=model)) as system:
        for place in range(5):
            await system.store_text("ines", f"Fact number {place}")
        reply = await backfill(system)
        assert (reply.failures, reply.remaining, reply.end) == ({"disconnected": 3}, 5, BackfillEnd.FAILING)


async def test_it_answers_in_time_however_slow_the_model_is() -> None:
    model = ScriptedModel(takes_s=40.0)
    async with running_system(System(runtime_model=model)) as system:
        await stored(system)
        began_s = system.now_s()
        reply = await backfill(system, within_s=60.0)
        assert system.now_s() - began_s <= 60.0
        assert (reply.updated, reply.failures, reply.end) == (1, {"timeout": 1}, BackfillEnd.TIME)
        assert reply.remaining == 2


async def test_a_second_one_of_the_same_user_is_told_to_wait() -> None:
    async with (
        running_system(System(runtime_model=ScriptedModel(takes_s=5.0))) as system,
        anyio.create_task_group() as tasks,
    ):
        await stored(system)
        tasks.start_soon(backfill, system)
        await anyio.sleep(1.0)
        with pytest.raises(RecalldError, match="under way") as error:
            await backfill(system)
        assert error.value.code is ErrorCode.BUSY
        await anyio.sleep(20.0)
        assert (await backfill(system)).end is BackfillEnd.DONE


async def test_everything_else_of_the_user_goes_on_meanwhile() -> None:
    async with (
        running_system(System(runtime_model=ScriptedModel(takes_s=30.0))) as system,
        anyio.create_task_group() as tasks,
    ):
        await stored(system)
        tasks.start_soon(backfill, system)
        await anyio.sleep(1.0)
        began_s = system.now_s()
        await system.store_text("ines", "Basil does not grow here")
        assert (await system.recall("ines", "which meeting room is upstairs")).items
        assert system.now_s() - began_s < 1.0
        tasks.cancel_scope.cancel()


async def test_a_memory_that_changed_while_the_model_wrote_keeps_the_change() -> None:
    async with (
        running_system(System(runtime_model=ScriptedModel(takes_s=5.0))) as system,
        anyio.create_task_group() as tasks,
    ):
        memory_id = await system.store_text("ines", TEXTS[0])
        replies: list[BackfillReply] = []

        async def fill() -> None:
            replies.append(await backfill(system))

        tasks.start_soon(fill)
        await anyio.sleep(1.0)
        changes = MemoryChanges(asks=("My own question?",))
        await system.service.update(
            UpdateRequest(user="ines", memory_id=memory_id, changes=changes, deadline_s=system.now_s() + WRITE_S)
        )
        await anyio.sleep(10.0)
        assert replies[0].failures == {"changed": 1}
        assert (await system.service.get("ines", memory_id)).asks == ("My own question?",)


async def test_nobody_is_asked_any_more_once_the_asker_has_left() -> None:
    model = ScriptedModel(takes_s=5.0)
    async with running_system(System(runtime_model=model)) as system:
        await stored(system)
        with anyio.move_on_after(7.0):
            await backfill(system)
        await anyio.sleep(60.0)
        assert len(model.asked) == 2


async def test_a_store_that_takes_nothing_ends_it_with_that_error() -> None:
    async with running_system(System(runtime_model=ScriptedModel())) as system:
        await stored(system)
        system.writing.code = ErrorCode.STORAGE_FULL
        with pytest.raises(RecalldError) as error:
            await backfill(system)
        assert error.value.code is ErrorCode.STORAGE_FULL


async def test_it_does_not_hold_up_the_end_of_the_daemon() -> None:
    async with (
        running_system(System(runtime_model=ScriptedModel(takes_s=2.0))) as system,
        anyio.create_task_group() as tasks,
    ):
        await stored(system)
        replies: list[BackfillReply] = []

        async def fill() -> None:
            replies.append(await backfill(system))

        tasks.start_soon(fill)
        await anyio.sleep(1.0)
        began_s = system.now_s()
        await drain(system)
        assert system.now_s() - began_s < 2.0  # the answer that was under way is waited for, and no other is asked for
        assert [reply.updated for reply in replies] == [1]


def test_every_kind_of_failure_of_a_model_is_one_of_a_backfill() -> None:
    assert {kind.value for kind in RuntimeFailureKind} <= {failure.value for failure in BackfillFailure}
