"""The turn gate inside a recall: whom it asks, in which order and for how long, and what it writes down."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import anyio
import pytest
from actor_system import System, running_system

from recalld.daemon.config.settings import EventsSettings, RecallSettings, TurnGateSection
from recalld.models.domain.errors import ErrorCode
from recalld.models.domain.events import EventName
from recalld.models.domain.reasons import RecallDecision, RecallReason
from recalld.models.domain.recall import RecallOutcome
from recalld.models.domain.runtime_model import (
    PromptPurpose,
    RuntimeFailure,
    RuntimeFailureKind,
    RuntimePrompt,
    RuntimeReply,
)
from recalld.models.domain.turn_parts import MessagePart, PartKind
from recalld.models.domain.turn_report import TurnReport
from recalld.models.policy.turn.cues import CueFamily

pytestmark = pytest.mark.anyio

UNDECIDED = "which colour suits the kitchen walls best"
"""No rule has anything to say about it, and no memory below has a word of it."""
MODEL_ON = RecallSettings(turn_gate=TurnGateSection(model="on"))


@dataclass
class LentModel:
    """A runtime's model that answers what the test says, after a while."""

    reply: str = '{"run": true}'
    failure: RuntimeFailureKind | None = None
    takes_s: float = 0.0
    is_there: bool = True
    was_truncated: bool = False
    prompts: list[RuntimePrompt] = field(default_factory=list)
    allowed_s: list[float] = field(default_factory=list)

    def is_connected(self, user: str) -> bool:
        return self.is_there and user == "ines"

    async def ask(self, user: str, prompt: RuntimePrompt, *, deadline_s: float) -> RuntimeReply | RuntimeFailure:
        self.prompts.append(prompt)
        self.allowed_s.append(deadline_s - anyio.current_time())
        await anyio.sleep(self.takes_s)
        if self.failure is not None:
            return RuntimeFailure(kind=self.failure)
        return RuntimeReply(text=self.reply, was_truncated=self.was_truncated)


def seen(outcome: RecallOutcome) -> TurnReport:
    assert outcome.turn is not None
    return outcome.turn


def gate(**options: object) -> RecallSettings:
    return RecallSettings(turn_gate=TurnGateSection(**options))  # type: ignore[arg-type]


async def test_the_store_is_asked_where_no_rule_decides() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", "The kitchen is painted white")
        outcome = await system.recall("ines", UNDECIDED)
        assert system.reading.calls["posted"] == 1
    report = seen(outcome)
    assert (report.answer, report.decided_by) == ("run", "store_probe")
    assert report.terms_posted == 1
    assert report.terms >= 3


async def test_the_store_is_not_asked_where_a_rule_decides() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", "The kitchen is painted white")
        cued = await system.recall("ines", "as we discussed, the kitchen walls")
        assert "posted" not in system.reading.calls
    assert (seen(cued).decided_by, seen(cued).cue_families) == ("history_cue", ("discussed",))
    assert seen(cued).terms_posted is None


async def test_a_turn_answered_by_the_last_ones_is_skipped_only_when_they_are_supplied() -> None:
    text = "what was that you just said?"
    async with running_system(System()) as system:
        await system.store_text("ines", "The kitchen is painted white")
        unknown = await system.recall("ines", text)
        at_start = await system.recall("ines", text, turns=())
        known = await system.recall("ines", text, turns=("how long?", "It takes two hours."))
    assert unknown.decision is not RecallDecision.SKIP
    assert at_start.decision is not RecallDecision.SKIP
    assert (known.decision, known.reason) == (RecallDecision.SKIP, RecallReason.ANSWERED_IN_HISTORY)
    assert seen(known).local_references >= 1


async def test_too_short_is_a_reason_only_at_a_sessions_start() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", "The kitchen is painted white")
        unknown = await system.recall("ines", "why so?")
        at_start = await system.recall("ines", "why so?", turns=())
    assert unknown.decision is not RecallDecision.SKIP
    assert at_start.reason is RecallReason.TOO_SHORT


async def test_only_the_users_parts_are_read() -> None:
    parts = (
        MessagePart(kind=PartKind.HOST, text="as we discussed the kitchen"),
        MessagePart(text="thanks a lot"),
    )
    async with running_system(System()) as system:
        outcome = await system.recall("ines", "thanks a lot", parts=parts)
    assert outcome.reason is RecallReason.ACKNOWLEDGEMENT


@pytest.mark.parametrize("fault", ["error", "timeout"])
@pytest.mark.parametrize("answer", ["run", "skip"])
async def test_a_probe_that_fails_goes_the_way_its_knob_says(fault: str, answer: str) -> None:
    async with running_system(System(), recall=gate(**{f"on_{fault}": answer})) as system:
        await system.store_text("ines", "The kitchen is painted white")
        if fault == "error":
            system.reading.code = ErrorCode.STORAGE_UNAVAILABLE
        else:
            system.reading.slow_s["posted"] = 1.0
        outcome = await system.recall("ines", UNDECIDED)
    report = seen(outcome)
    assert (report.decided_by, report.cause, report.answer) == ("error_path", fault, answer)
    if answer == "skip":
        assert outcome.reason is RecallReason.TURN_GATE_FAILED
    else:
        assert outcome.decision is not RecallDecision.SKIP


@pytest.mark.parametrize("answer", ["run", "skip"])
async def test_weak_evidence_goes_the_way_its_knob_says(answer: str) -> None:
    async with running_system(System(), recall=gate(on_weak=answer)) as system:
        await system.store_text("ines", "Lunch is at one")
        outcome = await system.recall("ines", UNDECIDED)
    assert seen(outcome).answer == answer
    assert (outcome.reason is RecallReason.WEAK_EVIDENCE) is (answer == "skip")


async def test_a_search_on_purpose_is_never_skipped_by_any_knob() -> None:
    async with running_system(System(), recall=gate(on_weak="skip")) as system:
        wanted = await system.store_text("ines", "thanks were said in the kitchen")
        outcome = await system.recall("ines", "thanks kitchen", is_search=True)
    assert [item.memory.id for item in outcome.items] == [wanted]


async def test_a_gate_that_is_off_searches_whatever_can_be_searched_for() -> None:
    async with running_system(System(), recall=gate(enabled=False)) as system:
        await system.store_text("ines", "thanks were said in the kitchen")
        assert (await system.recall("ines", "thanks")).decision is not RecallDecision.SKIP
        hosted = await system.recall("ines", "<system-reminder>thanks</system-reminder>")
        assert hosted.reason is RecallReason.NO_USER_TEXT
        assert (await system.recall("ines", "???")).reason is RecallReason.NO_SEARCHABLE_TERMS


async def test_a_family_of_cues_can_be_switched_off_and_lines_can_be_marked_as_the_hosts() -> None:
    settings = gate(cues_off=(CueFamily.DISCUSSED,), line_markers=("HOST>",))
    async with running_system(System(), recall=settings) as system:
        cued = await system.recall("ines", "as we discussed, the kitchen walls")
        marked = await system.recall("ines", "HOST> the kitchen walls")
    assert seen(cued).cue_families == ()
    assert marked.reason is RecallReason.NO_USER_TEXT


async def test_a_model_is_asked_only_about_what_rules_and_store_leave_open() -> None:
    model = LentModel(reply='Thinking… {"run": false, "reason": "general knowledge"}')
    async with running_system(System(runtime_model=model), recall=MODEL_ON) as system:
        await system.store_text("ines", "Lunch is at one")
        ruled = await system.recall("ines", "as we discussed, the walls")
        posted = await system.recall("ines", "when is lunch served downstairs in summer")
        assert model.prompts == []
        outcome = await system.recall("ines", UNDECIDED, turns=("Hello.", "Good morning, what can I do?"))
    assert seen(ruled).decided_by == "history_cue"
    assert seen(posted).decided_by == "store_probe"
    assert (outcome.decision, outcome.reason) == (RecallDecision.SKIP, RecallReason.NOT_NEEDED)
    report = seen(outcome)
    assert (report.decided_by, report.model, report.model_prompt) == ("model", "answered", "turn_gate.v1")
    (prompt,) = model.prompts
    assert prompt.purpose is PromptPurpose.TURN_GATE
    assert prompt.turns == ("Hello.", "Good morning, what can I do?", UNDECIDED)
    assert UNDECIDED not in prompt.prompt
    assert report.model_chars == len(prompt.prompt) + sum(map(len, prompt.turns)) + len(model.reply)
    assert seen(posted).model_chars == 0


@pytest.mark.parametrize(
    ("settings", "is_there", "user"),
    [(RecallSettings(), True, "ines"), (MODEL_ON, False, "ines"), (MODEL_ON, True, "bruno")],
)
async def test_no_model_is_asked_that_is_not_wanted_or_not_there(
    settings: RecallSettings, user: str, *, is_there: bool
) -> None:
    model = LentModel(is_there=is_there)
    async with running_system(System(runtime_model=model), recall=settings) as system:
        await system.store_text(user, "Lunch is at one")
        outcome = await system.recall(user, UNDECIDED)
    assert model.prompts == []
    assert (seen(outcome).decided_by, seen(outcome).model) == ("default", "")


async def test_a_models_query_is_what_is_looked_for_and_without_one_the_message_is() -> None:
    model = LentModel(reply='{"run": true, "query": "paint bucket shelf"}')
    async with running_system(System(runtime_model=model), recall=MODEL_ON) as system:
        wanted = await system.store_text("ines", "The paint bucket is on the upper shelf")
        found = await system.recall("ines", "where did I put that thing for redecorating")
        assert [item.memory.id for item in found.items] == [wanted]
        model.reply = '{"run": true, "query": null}'
        blank = await system.recall("ines", UNDECIDED)
    assert seen(blank).query_fallback
    assert not seen(found).query_fallback
    assert any("colour suits" in text for text in system.embedder.embedded)


@pytest.mark.parametrize(
    ("model", "outcome_word", "cause"),
    [
        (LentModel(reply="no idea"), "unreadable", "error"),
        (LentModel(reply='{"run": null}'), "no_decision", "error"),
        (LentModel(reply='{"run": "maybe"}'), "decision_not_boolean", "error"),
        (LentModel(was_truncated=True), "truncated", "error"),
        (LentModel(failure=RuntimeFailureKind.REFUSED), "refused", "error"),
        (LentModel(failure=RuntimeFailureKind.DISCONNECTED), "disconnected", "error"),
        (LentModel(failure=RuntimeFailureKind.BUSY), "busy", "budget"),
        (LentModel(failure=RuntimeFailureKind.TIMEOUT), "timeout", "timeout"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_model_that_does_not_decide_means_run_unless_a_knob_says_otherwise(
    model: LentModel, outcome_word: str, cause: str
) -> None:
    for answer in ("run", "skip"):
        settings = gate(model="on", **{f"on_{cause}": answer})
        async with running_system(System(runtime_model=model), recall=settings) as system:
            await system.store_text("ines", "Lunch is at one")
            outcome = await system.recall("ines", UNDECIDED)
        report = seen(outcome)
        assert (report.model, report.cause, report.answer) == (outcome_word, cause, answer)


async def test_a_hung_model_costs_its_own_time_and_a_tenth_and_the_answer_still_comes() -> None:
    model = LentModel(takes_s=60.0)
    async with running_system(System(runtime_model=model), recall=gate(model="on", model_ms=100.0)) as system:
        await system.store_text("ines", "Lunch is at one")
        outcome = await system.recall("ines", UNDECIDED)
    assert model.allowed_s == [pytest.approx(0.1)]
    assert outcome.timings.turn_ms == pytest.approx(110.0, abs=1.0)
    assert outcome.decision is RecallDecision.SILENT
    assert (seen(outcome).model, seen(outcome).cause) == ("timeout", "timeout")


async def test_a_model_may_take_four_fifths_of_what_is_left_and_no_more() -> None:
    model = LentModel(takes_s=60.0)
    async with running_system(System(runtime_model=model), recall=gate(model="on", model_ms=5_000.0)) as system:
        await system.store_text("ines", "Lunch is at one")
        outcome = await system.recall("ines", UNDECIDED)
    assert model.allowed_s == [pytest.approx(0.8 * 0.285)]
    assert outcome.timings.deadline_left_ms > 0


async def test_a_turn_is_decided_once_and_its_failure_too() -> None:
    model = LentModel(failure=RuntimeFailureKind.REFUSED)
    async with running_system(System(runtime_model=model), recall=MODEL_ON) as system:
        await system.store_text("ines", "Lunch is at one")
        first = await system.recall("ines", UNDECIDED, session="s", turn_id="t1")
        again = await system.recall("ines", UNDECIDED, session="s", turn_id="t1")
        assert len(model.prompts) == 1
        assert system.reading.calls["posted"] == 1
        for differing in (
            {"turn_id": "t2"},
            {"session": "other"},
            {"scope": "work"},
            {"turns": ("before",)},
            {"turns": ()},
        ):
            asked = len(model.prompts)
            fields = {"session": "s", "turn_id": "t1", **differing}
            await system.recall("ines", UNDECIDED, **fields)  # type: ignore[arg-type]
            assert len(model.prompts) == asked + 1, differing
    assert (seen(first).is_repeat, seen(again).is_repeat) == (False, True)
    assert seen(again).model == "refused"


@pytest.mark.parametrize(("session", "turn_id"), [("", "t1"), ("s", "")])
async def test_a_recall_that_stands_for_itself_is_decided_by_itself(session: str, turn_id: str) -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", "Lunch is at one")
        for _ in range(2):
            outcome = await system.recall("ines", UNDECIDED, session=session, turn_id=turn_id)
            assert not seen(outcome).is_repeat


async def test_a_host_that_sends_its_text_in_the_users_place_is_reported_once_a_while() -> None:
    events = EventsSettings(degraded_cooldown_s=60.0)
    hosted = "<system-reminder>be brief</system-reminder>"
    async with running_system(System(), events=events) as system:
        for _ in range(4):
            await system.recall("ines", hosted, session="s")
        await system.recall("ines", "thanks!", session="s")  # a word of the user: the row begins anew
        for _ in range(4):
            await system.recall("ines", hosted, session="s")
            await system.recall("ines", hosted, session="")
        assert system.events(EventName.MEMORY_RECALL_NO_USER_TEXT) == []
        for _ in range(3):
            await system.recall("ines", hosted, session="s")
        (warned,) = system.events(EventName.MEMORY_RECALL_NO_USER_TEXT)
        assert (warned.user, warned.fields["session"], warned.fields["in_a_row"]) == ("ines", "s", 5)
        assert warned.fields["suppressed_count"] == 0
        await anyio.sleep(60.0)
        await system.recall("bruno", "thanks!", session="b")
        told = system.events(EventName.MEMORY_RECALL_NO_USER_TEXT)
        assert [event.fields["suppressed_count"] for event in told] == [0, 2]
        counters = (await system.service.stats()).counters
    assert counters["recalls_no_user_text_in_a_row"] == 3


async def test_the_ledger_says_why_without_a_word_of_the_user() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", "The kitchen is painted white")
        outcome = await system.recall(
            "ines", "as we discussed yesterday, the zirconium kitchen", time_zone="Europe/Berlin"
        )
        row = await system.service.explain("ines", outcome.recall_id)
    body = json.loads(row.body)
    assert body["turn"]["decided_by"] == "history_cue"
    assert body["turn"]["intervals"][0]["rule"] == "day"
    assert body["turn_ms"] >= 0
    assert "zirconium" not in row.body.decode()
    assert "discussed yesterday" not in row.body.decode()
