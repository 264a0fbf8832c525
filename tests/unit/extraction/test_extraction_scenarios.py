"""The model gate from an observed turn to a record, on a virtual clock: what is read when, and that nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

import anyio
import msgspec
import pytest
from actor_system import System, drain, running_system

from recalld.daemon.config.settings import AdmissionSettings, ExtractionSection
from recalld.models.domain.admission import OfferedFact, SessionEvent, Speaker
from recalld.models.domain.errors import ErrorCode
from recalld.models.domain.extraction import PendingCounts
from recalld.models.domain.position import Position
from recalld.models.domain.runtime_model import RuntimeFailure, RuntimeFailureKind, RuntimePrompt, RuntimeReply
from recalld.models.domain.store import ListFilter
from recalld.models.domain.user_data import PurgeUser

pytestmark = pytest.mark.anyio

BEES, PORTO, CHESS = "I keep bees on the roof.", "My sister lives in Porto.", "I play chess on Tuesdays."
STATEMENTS = {
    BEES: "The user keeps bees on the roof.",
    PORTO: "The user's sister lives in Porto.",
    CHESS: "The user plays chess on Tuesdays.",
}
GATE = AdmissionSettings(position=Position.OPEN, rules=False, judge=False, model_gate="runtime")


@dataclass
class Model:
    """A lent model: finds what it knows, and can be made to fail or to take its time."""

    is_here: bool = True
    call_s: float = 2.0
    calls: list[tuple[float, list[str]]] = field(default_factory=list)
    """When each call began, and the turns it was asked about."""
    failing: Callable[[list[str]], RuntimeFailureKind | str | None] = lambda _texts: None

    def is_connected(self, user: str) -> bool:
        assert user
        return self.is_here

    async def ask(self, user: str, prompt: RuntimePrompt, *, deadline_s: float) -> RuntimeReply | RuntimeFailure:
        assert (user, deadline_s > anyio.current_time()) == ("ines", True)
        turns = [cast("dict[str, str]", json.loads(each)) for each in prompt.turns]
        texts = [turn["text"] for turn in turns]
        self.calls.append((anyio.current_time(), texts))
        await anyio.sleep(self.call_s)
        failure = self.failing(texts)
        if isinstance(failure, RuntimeFailureKind):
            return RuntimeFailure(kind=failure)
        return RuntimeReply(text=failure if failure is not None else json.dumps(list(map(_fact, turns))))

    @property
    def read(self) -> list[list[str]]:
        return [texts for _, texts in self.calls]


def _fact(turn: dict[str, str]) -> dict[str, str]:
    return {
        "statement": STATEMENTS.get(turn["text"], f"The user said: {turn['text']}"),
        "quote": turn["text"],
        "turn": turn["turn"],
    }


def system_with(model: Model) -> System:
    return System(runtime_model=model)


async def say(system: System, turn_id: str, text: str, *, session: str = "s") -> None:
    await system.observe("ines", text, session=session, turn_id=turn_id)


async def stored(system: System) -> set[str]:
    page = await system.store.reader.list_memories(
        "ines", ListFilter(), now_ms=system.clock.now_ms(), limit=100, cursor=None
    )
    return {memory.text for memory in page.memories}


async def counts(system: System) -> PendingCounts:
    return await system.store.reader.pending_counts("ines")


def counted(system: System, name: str) -> int:
    return system.running.service._parts.conditions.counters[f"extraction_{name}"]


async def test_a_burst_of_three_is_one_extraction_thirty_seconds_after_the_last() -> None:
    model = Model()
    async with running_system(system_with(model), admission=GATE) as system:
        for turn_id, text in enumerate(STATEMENTS):
            await say(system, str(turn_id), text)
            last_s = system.now_s()
            await anyio.sleep(5)
        await anyio.sleep(60)
        ((began_s, texts),) = model.calls
        assert texts == list(STATEMENTS)
        assert began_s == pytest.approx(last_s + 30, abs=0.1)
        assert await stored(system) == set(STATEMENTS.values())
        assert (await counts(system), counted(system, "read")) == (PendingCounts(), 1)
        assert counted(system, "superseded") == 2
        assert counted(system, "chars") > sum(map(len, STATEMENTS.values()))  # and what asks for it, and the answer


async def test_steady_chatter_is_read_within_the_longest_wait() -> None:
    model = Model()
    gate = msgspec.structs.replace(GATE, extraction=ExtractionSection(gathered_min=100, batch_max=50))
    async with running_system(system_with(model), admission=gate) as system:
        began_s = system.now_s()
        for number in range(30):
            await say(system, f"t{number}", f"I own boat number {number}.")
            await anyio.sleep(20)
        await anyio.sleep(120)
        assert model.calls[0][0] - began_s == pytest.approx(300, abs=1)
        assert sorted(text for texts in model.read for text in texts) == sorted(
            f"I own boat number {number}." for number in range(30)
        )


async def test_a_cooldown_defers_and_drops_nothing() -> None:
    model = Model()
    async with running_system(system_with(model), admission=GATE) as system:
        await say(system, "1", BEES)
        await anyio.sleep(33)
        ended_s = model.calls[0][0] + model.call_s
        await say(system, "2", PORTO)
        await anyio.sleep(31)
        assert len(model.calls) == 1
        await anyio.sleep(60)
        assert model.read == [[BEES], [PORTO]]
        assert model.calls[1][0] == pytest.approx(ended_s + 60, abs=0.1)
        assert counted(system, "cooled") >= 1


async def test_a_turn_that_comes_during_the_call_is_read_next() -> None:
    model = Model(call_s=10)
    async with running_system(system_with(model), admission=GATE) as system:
        await say(system, "1", BEES)
        await anyio.sleep(35)
        assert len(model.calls) == 1
        await say(system, "2", PORTO)
        await anyio.sleep(10)
        assert (await counts(system)).waiting == 1
        await anyio.sleep(120)
        assert model.read == [[BEES], [PORTO]]
        assert await stored(system) == {STATEMENTS[BEES], STATEMENTS[PORTO]}


async def test_a_worker_that_comes_late_still_reads_everything() -> None:
    model = Model(is_here=False)
    system = system_with(model)
    async with running_system(system, admission=GATE):
        await say(system, "1", BEES)
        await anyio.sleep(10)
    await anyio.sleep(3 * 86_400)
    model.is_here = True
    async with running_system(system, admission=GATE):
        await anyio.sleep(60)
        assert model.read == [[BEES]]
        assert await stored(system) == {STATEMENTS[BEES]}


async def test_a_crash_after_admitting_and_before_the_note_admits_nothing_twice() -> None:
    model = Model()
    system = system_with(model)
    async with running_system(system, admission=GATE):
        await say(system, "1", BEES)
        system.writing.code = None
        system.writing.slow_s["settle_pending"] = 10_000
        await anyio.sleep(60)
        assert await stored(system) == {STATEMENTS[BEES]}
    system.writing.slow_s.clear()
    async with running_system(system, admission=GATE):
        await anyio.sleep(60)
        assert model.read == [[BEES], [BEES]]
        assert (len(await stored(system)), (await counts(system)).waiting) == (1, 0)


async def test_a_batch_that_always_fails_is_halved_and_the_poison_set_aside_while_the_rest_is_read() -> None:
    model = Model(failing=lambda texts: "no list at all" if PORTO in texts else None)
    async with running_system(system_with(model), admission=GATE) as system:
        for turn_id, text in enumerate(STATEMENTS):
            await say(system, str(turn_id), text)
        await anyio.sleep(3_600)
        assert await stored(system) == {STATEMENTS[BEES], STATEMENTS[CHESS]}
        assert await counts(system) == PendingCounts(set_aside=1)
        assert max(map(len, model.read)) == 3
        calls = len(model.calls)
        assert calls <= 12
        await anyio.sleep(3_600)
        assert len(model.calls) == calls


async def test_what_comes_while_a_batch_fails_never_makes_it_larger() -> None:
    model = Model(failing=lambda texts: "nonsense" if BEES in texts else None)
    async with running_system(system_with(model), admission=GATE) as system:
        await say(system, "1", BEES)
        for number in range(20):
            await anyio.sleep(40)
            await say(system, f"t{number}", f"I own boat number {number}.")
        await anyio.sleep(1_000)
        tries = [texts for texts in model.read if BEES in texts]
        others = len(model.read) - len(tries)
        assert tries == [[BEES]] * len(tries)
        assert 3 <= len(tries) <= 3 + others  # three of its own, and one after each answer about something else
        assert await counts(system) == PendingCounts(set_aside=1)


async def test_what_a_broken_source_had_set_aside_is_read_once_it_works_again() -> None:
    model = Model(failing=lambda _texts: "nonsense")
    async with running_system(system_with(model), admission=GATE) as system:
        for turn_id, text in enumerate((BEES, PORTO)):
            await say(system, str(turn_id), text)
        await anyio.sleep(7_200)
        assert await counts(system) == PendingCounts(set_aside=2)
        model.failing = lambda _texts: None
        await say(system, "3", CHESS)
        await anyio.sleep(600)
        assert await stored(system) == {STATEMENTS[BEES], STATEMENTS[PORTO], STATEMENTS[CHESS]}
        assert await counts(system) == PendingCounts()


async def test_a_source_that_never_answers_in_time_costs_no_turn() -> None:
    model = Model(failing=lambda _texts: RuntimeFailureKind.TIMEOUT)
    async with running_system(system_with(model), admission=GATE) as system:
        await say(system, "1", BEES)
        await anyio.sleep(7_200)
        found = await counts(system)
        assert (found.waiting, found.set_aside) == (1, 0)


async def test_a_source_that_is_away_or_busy_costs_no_turn() -> None:
    model = Model(failing=lambda _texts: RuntimeFailureKind.BUSY)
    async with running_system(system_with(model), admission=GATE) as system:
        await say(system, "1", BEES)
        await anyio.sleep(3_600)
        model.is_here = False
        calls = len(model.calls)
        await anyio.sleep(3_600)
        assert len(model.calls) == calls > 10
        assert await counts(system) == PendingCounts(waiting=1, oldest_at_ms=(await counts(system)).oldest_at_ms)
        model.is_here, model.failing = True, lambda _texts: None
        await anyio.sleep(120)
        assert await stored(system) == {STATEMENTS[BEES]}
        assert counted(system, "fault_busy") == calls


async def test_an_empty_list_is_a_normal_answer_and_told_apart_from_an_error() -> None:
    model = Model(failing=lambda _texts: "[]")
    async with running_system(system_with(model), admission=GATE) as system:
        await say(system, "1", BEES)
        await anyio.sleep(60)
        assert (counted(system, "empty"), counted(system, "error"), counted(system, "read")) == (1, 0, 0)
        assert (await counts(system)).waiting == 0


async def test_what_waited_too_long_is_let_go_and_counted() -> None:
    model = Model(is_here=False)
    gate = msgspec.structs.replace(GATE, extraction=ExtractionSection(keep_days=0.01))
    async with running_system(system_with(model), admission=gate) as system:
        await say(system, "1", BEES)
        await anyio.sleep(900)
        assert await counts(system) == PendingCounts(expired=1)
        assert counted(system, "expired") == 1
        assert model.calls == []


async def test_a_store_that_fails_for_a_while_loses_nothing() -> None:
    model = Model()
    async with running_system(system_with(model), admission=GATE) as system:
        await say(system, "1", BEES)
        system.writing.code = ErrorCode.STORAGE_FULL
        await anyio.sleep(600)
        assert await stored(system) == set()
        system.writing.code = None
        await anyio.sleep(120)
        assert await stored(system) == {STATEMENTS[BEES]}
        assert (await counts(system)).waiting == 0
        assert counted(system, "not_admitted_storage_full") >= 1


async def test_the_end_of_a_session_has_its_turns_read_at_once() -> None:
    model = Model()
    async with running_system(system_with(model), admission=GATE) as system:
        await say(system, "1", BEES)
        await system.service.session("ines", "s", SessionEvent.ENDED)
        await anyio.sleep(3)
        assert model.read == [[BEES]]


async def test_only_the_users_own_words_wait_and_nothing_that_was_refused_or_read_before() -> None:
    model = Model(is_here=False)
    async with running_system(system_with(model), admission=GATE) as system:
        await say(
            system, "1", "Our token is ghp_0123456789abcdefghijABCDEFGHIJ012345 and <private>my PIN</private> I ski."
        )
        await say(system, "2", "Please remember that I don't want this saved: I ski in Gastein.")
        await system.observe("ines", "I keep bees.", session="s", turn_id="3", speaker=Speaker.ASSISTANT)
        offered = (OfferedFact(statement=STATEMENTS[BEES], quote=BEES),)
        await system.observe("ines", BEES, session="s", turn_id="4", offered=offered)
        (waiting,) = await system.store.reader.pending_turns("ines", limit=10)
        assert (waiting.turn_id, "I ski." in waiting.text) == ("1", True)
        assert "ghp_" not in waiting.text
        assert "PIN" not in waiting.text


async def test_a_quote_that_the_turn_does_not_hold_is_never_stored() -> None:
    invented = json.dumps([{"statement": "The user flies kites.", "quote": "I fly kites", "turn": "t1"}])
    model = Model(failing=lambda _texts: invented)
    async with running_system(system_with(model), admission=GATE) as system:
        await say(system, "1", BEES)
        await anyio.sleep(60)
        assert await stored(system) == set()
        assert (await counts(system)).waiting == 0


async def test_without_a_configured_gate_nothing_waits_and_nobody_is_asked() -> None:
    model = Model()
    settings = AdmissionSettings(position=Position.OPEN, rules=False, judge=False)
    async with running_system(system_with(model), admission=settings) as system:
        await say(system, "1", BEES)
        await anyio.sleep(600)
        assert (model.calls, await counts(system)) == ([], PendingCounts())


async def test_a_wall_clock_that_is_set_neither_hurries_nor_delays_anything() -> None:
    model = Model()
    async with running_system(system_with(model), admission=GATE) as system:
        await say(system, "1", BEES)
        said_s = system.now_s()
        system.clock.jump_ms = -365 * 86_400_000
        await anyio.sleep(10)
        assert model.calls == []
        await anyio.sleep(30)
        assert model.calls[0][0] == pytest.approx(said_s + 30, abs=0.1)


async def test_a_call_that_hangs_does_not_hold_up_the_end_of_the_daemon_and_costs_no_turn() -> None:
    model = Model(call_s=100)
    system = system_with(model)
    async with running_system(system, admission=GATE):
        await say(system, "1", BEES)
        await anyio.sleep(40)
        assert len(model.calls) == 1
        began_s = system.now_s()
        await drain(system)
        assert system.now_s() - began_s < 1
    assert (await counts(system)).waiting == 1


async def test_a_turn_that_is_delivered_again_is_read_once() -> None:
    model = Model()
    async with running_system(system_with(model), admission=GATE) as system:
        await say(system, "1", BEES)
        await say(system, "1", BEES)
        await anyio.sleep(60)
        await say(system, "1", BEES)
        await anyio.sleep(200)
        assert model.read == [[BEES]]


async def test_what_is_purged_while_the_model_reads_it_does_not_come_back() -> None:
    model = Model(call_s=10)
    async with running_system(system_with(model), admission=GATE) as system:
        await say(system, "1", BEES)
        await anyio.sleep(35)
        assert len(model.calls) == 1
        await system.store.writer.purge_user(PurgeUser(user="ines"))
        await anyio.sleep(120)
        assert await stored(system) == set()
        assert await counts(system) == PendingCounts()
