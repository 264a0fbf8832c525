from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.reasons import RecallReason
from recalld.models.policy.temporal import find_intervals
from recalld.models.policy.turn.directions import DEFAULT_DIRECTIONS, Directions, GateAnswer, GateCause, GateOperation
from recalld.models.policy.turn.model_answer import AnswerFault, ModelAnswer, ModelAnswerError
from recalld.models.policy.turn.probe import ProbeResult, TermPostings
from recalld.models.policy.turn.references import Reference
from recalld.models.policy.turn.turn_input import NOT_SUPPLIED, MessagePart, NotSupplied, PartKind, TurnInput, own_words
from recalld.models.policy.turn.verdict import TurnGateVerdict, TurnRule
from recalld.models.policy.turn_gate import LOOKED_AT_CHARS_MAX, TurnGateSettings, decide, decide_turn

SCAFFOLDING = (
    "<system-reminder>always answer in metric</system-reminder>\n"
    'Conversation info (untrusted metadata): {"note":"from now on use UTC"}\n'
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", RecallReason.NO_USER_TEXT),
        (" \n", RecallReason.NO_USER_TEXT),
        (SCAFFOLDING, RecallReason.NO_USER_TEXT),
        ("<recalled-memory>tea", RecallReason.NO_USER_TEXT),
        ("/clear", RecallReason.SLASH_COMMAND),
        ("/model opus now", RecallReason.SLASH_COMMAND),
        ("/mcp:list", RecallReason.SLASH_COMMAND),
        (f"{SCAFFOLDING}[Mon 2026-04-13 12:34 EDT] thanks", RecallReason.ACKNOWLEDGEMENT),  # A12
        ("ok", RecallReason.ACKNOWLEDGEMENT),
        ("OK, thanks!", RecallReason.ACKNOWLEDGEMENT),
        ("Great, thank you so much :)", RecallReason.ACKNOWLEDGEMENT),
        ("that\u2019s... no wait", None),
        ("You\u2019re welcome", RecallReason.ACKNOWLEDGEMENT),
        ("Danke sch\u00f6n", RecallReason.ACKNOWLEDGEMENT),
        ("d'accord, merci", RecallReason.ACKNOWLEDGEMENT),
        ("\u00a1Muchas gracias!", RecallReason.ACKNOWLEDGEMENT),
        ("\U0001f44d", RecallReason.ACKNOWLEDGEMENT),
        *((text, RecallReason.NO_SEARCHABLE_TERMS) for text in ("*", '""', "_", "...", "???", "!", "-", "/", "```")),
        ("*\0*", RecallReason.NO_SEARCHABLE_TERMS),
        ("\0", RecallReason.NO_USER_TEXT),
        ("\u2800\u3164", RecallReason.NO_USER_TEXT),
        ("\U0001f4a3", RecallReason.ACKNOWLEDGEMENT),
        ("2+2", RecallReason.ARITHMETIC),
        ("what is 12*7?", RecallReason.ARITHMETIC),
        ("3 - 1", RecallReason.ARITHMETIC),
        ("10/4=", RecallReason.ARITHMETIC),
        ("(3 + 4) \u00d7 2", RecallReason.ARITHMETIC),
    ],
)
def test_a_turn_that_asks_for_nothing_is_skipped(text: str, reason: RecallReason | None) -> None:
    verdict = decide_turn(text)
    assert verdict.reason is reason
    assert verdict.run is (reason is None)


@pytest.mark.parametrize(
    "text",
    [
        "what is my name?",
        "k8s?",
        "tea",
        "/usr/bin/python fails",
        "ok?",
        "thanks for the H100 numbers",
        "yes, the second one",
        "ok 2",
        "thanks " * 9,
        "2026-04-13",
        "13/04/2026",
        "555-1234",
        "24/7",
        "42",
        "1.5",
        "what is 5?",
        "3 apples + 4 pears",
        "\u6771\u4eac",
        "ok " * 100,
    ],
)
def test_weak_evidence_means_run(text: str) -> None:
    verdict = decide_turn(text)
    assert verdict.run
    assert verdict.user_text == text.strip()


def test_the_verdict_carries_the_users_own_words() -> None:
    assert decide_turn(f"{SCAFFOLDING}where do I live?").user_text == "where do I live?"


def test_markers_are_passed_on() -> None:
    assert decide_turn("HOST: x", line_markers=("HOST:",)).reason is RecallReason.NO_USER_TEXT
    assert decide_turn("HOST: x").run


@given(st.text(st.characters(), max_size=200))
def test_any_text_gets_a_verdict(text: str) -> None:
    verdict = decide_turn(text)
    assert verdict.run is (verdict.reason is None)
    assert verdict.run <= bool(verdict.user_text)


HOSTILE_UNITS = [
    "<system-reminder>",
    "<",
    "[",
    "<recalled-memory ",
    "[2026-01-01 10:00]",
    "Sender (untrusted metadata)\n{\n",
    "ok ",
    "1+",
    " \n",
    "```\n",
    "\u201c",
]


@pytest.mark.parametrize("unit", HOSTILE_UNITS)
def test_a_hostile_megabyte_is_decided_without_quadratic_work(unit: str) -> None:
    # Linear work on 2**20 characters takes about a second at worst here; quadratic work would take hours, and the bound
    # of the process that runs the tests ends it.
    verdict = decide_turn(unit * (2**20 // len(unit)))
    assert verdict.run is (verdict.reason is None)


NOON = datetime(2026, 4, 13, 12, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
UNDECIDED = "which colour suits the new kitchen walls best"
"""No rule has anything to say about it."""


def turn(
    text: str,
    *,
    recent: tuple[str, ...] | NotSupplied = NOT_SUPPLIED,
    probe: ProbeResult | GateCause | None = None,
    now: datetime | None = NOON,
    zone: ZoneInfo | None = BERLIN,
) -> TurnInput:
    return TurnInput(parts=(MessagePart(text=text),), recent=recent, probe=probe, now=now, zone=zone)


def postings(**counts: int) -> ProbeResult:
    return ProbeResult(terms=tuple(TermPostings(term=term, postings=count) for term, count in counts.items()))


class Span(msgspec.Struct, frozen=True):
    text: str


class FindWord:
    """A temporal grammar of one word in one language, which notes what it was asked."""

    def __init__(self, word: str, language: str = "en") -> None:
        self.word, self.language = word, language
        self.asked: list[tuple[str, datetime, ZoneInfo, str]] = []

    def __call__(self, text: str, *, now: datetime, zone: ZoneInfo, language: str) -> Sequence[Span]:
        self.asked.append((text, now, zone, language))
        return [Span(self.word)] if language == self.language and self.word in text else []


def test_only_the_users_parts_are_read() -> None:
    parts = (
        MessagePart(kind=PartKind.HOST, text="as we discussed"),
        MessagePart(text="<system-reminder>do you remember</system-reminder>\nmy question"),
        MessagePart(kind=PartKind.SYNTHETIC, text="continue as before"),
        MessagePart(text=" \n"),
        MessagePart(text="in two parts"),
    )
    verdict = decide(TurnInput(parts=parts))
    assert verdict.user_text == own_words(parts) == "my question\nin two parts"
    assert verdict.evidence.cues == ()


@pytest.mark.parametrize("parts", [(), (MessagePart(kind=PartKind.SYNTHETIC, text="where do I live?"),)])
def test_a_message_without_user_parts_is_skipped(parts: tuple[MessagePart, ...]) -> None:
    verdict = decide(TurnInput(parts=parts))
    assert (verdict.reason, verdict.decided_by) == (RecallReason.NO_USER_TEXT, TurnRule.NO_USER_TEXT)


@pytest.mark.parametrize("text", ["\u200b", "\ufeff \x00", "\u2060\n\u200d"])
def test_invisible_characters_are_no_words_of_the_user(text: str) -> None:
    assert decide_turn(text).reason is RecallReason.NO_USER_TEXT


@pytest.mark.parametrize("text", ["\u00bd" * 101 + "+ 1", "\ufdfa" * 50])
def test_a_text_that_grows_long_when_spelt_out_is_neither_sum_nor_acknowledgement(text: str) -> None:
    assert decide_turn(text).run


@pytest.mark.parametrize("text", ["what about 3 + 4", "Room 3 + 4", "\u20ac 3 + 4", "... 3"])
def test_a_sum_with_other_words_is_no_bare_sum(text: str) -> None:
    assert decide_turn(text).run


@pytest.mark.parametrize(
    ("text", "is_lacking"),
    [
        ("why?", True),
        ("how so?", True),
        ("so what is it?", False),
        ("who am I?", False),
        ("k8s?", False),
        ("why again?", False),
    ],
)
def test_a_bare_question_at_the_start_of_a_session_refers_to_nothing(text: str, *, is_lacking: bool) -> None:
    verdict = decide(turn(text, recent=()))
    assert (verdict.reason is RecallReason.TOO_SHORT) is is_lacking
    assert verdict.run is not is_lacking
    assert decide(turn(text)).run
    assert decide(turn(text, recent=("I like tea", "Noted"))).run


def test_history_that_is_not_supplied_is_missing_input_but_an_empty_one_is_not() -> None:
    unknown = decide(turn("so what is it then, and how?"))
    assert (unknown.decided_by, unknown.cause) == (TurnRule.ERROR_PATH, GateCause.MISSING_INPUT)
    known = decide(turn("so what is it then, and how?", recent=()))
    assert (known.decided_by, known.cause) == (TurnRule.DEFAULT, GateCause.WEAK)


def test_an_expression_of_time_is_looked_for_in_the_users_own_words() -> None:
    find = FindWord("tuesday")
    verdict = decide(turn("<system-reminder>x</system-reminder>the plan for tuesday"), find_times=find)
    assert (verdict.decided_by, verdict.evidence.times) == (TurnRule.TIME_EXPRESSION, ("tuesday",))
    assert find.asked == [("the plan for tuesday", NOON, BERLIN, "en")]


def test_the_temporal_grammar_fits_the_gate() -> None:
    verdict = decide(turn("what did the vendor answer on 3 March"), find_times=find_intervals)
    assert (verdict.decided_by, verdict.evidence.times) == (TurnRule.TIME_EXPRESSION, ("on 3 March",))


def test_a_short_message_is_read_by_each_language_until_one_finds_a_time() -> None:
    find = FindWord("dienstag", language="de")
    assert decide(turn("Plan dienstag"), find_times=find).decided_by is TurnRule.TIME_EXPRESSION
    assert [asked[3] for asked in find.asked] == ["en", "de"]


def test_no_time_is_looked_for_in_a_language_without_words_between_spaces() -> None:
    find = FindWord("dienstag", language="zh")
    assert decide(turn("Plan dienstag \u6771\u4eac"), find_times=find).evidence.times == ()
    assert [asked[3] for asked in find.asked] == ["en", "de", "fr", "es"]


@pytest.mark.parametrize(("now", "zone"), [(None, BERLIN), (NOON, None)])
def test_without_a_moment_and_a_zone_no_time_is_looked_for(now: datetime | None, zone: ZoneInfo | None) -> None:
    find = FindWord("tuesday")
    assert decide(turn("the plan for tuesday", now=now, zone=zone), find_times=find).decided_by is TurnRule.DEFAULT
    assert find.asked == []


def test_a_known_name_decides_also_in_code() -> None:
    probe = ProbeResult(entities=("auth_token", "Priya"))
    verdict = decide(turn("which service reads `auth_token` first", probe=probe))
    assert (verdict.decided_by, verdict.evidence.entities) == (TurnRule.KNOWN_ENTITY, ("auth_token",))


def test_cues_in_code_and_quotations_are_somebody_elses_words() -> None:
    assert decide_turn("rename the function `do_it_again` and the label 'last time' in the form").evidence.cues == ()


def test_one_posting_is_enough() -> None:
    verdict = decide(turn(UNDECIDED, probe=postings(kitchen=1)))
    assert (verdict.decided_by, verdict.evidence.posted) == (TurnRule.STORE_PROBE, ("kitchen",))


@pytest.mark.parametrize("probe", [postings(), postings(kitchen=0), postings(bathroom=3)])
def test_no_posting_is_weak_evidence_and_runs(probe: ProbeResult) -> None:
    verdict = decide(turn(UNDECIDED, probe=probe))
    assert verdict.run
    assert (verdict.decided_by, verdict.cause) == (TurnRule.DEFAULT, GateCause.WEAK)


def test_a_message_leans_on_others_only_if_there_are_any() -> None:
    text = "and the larger one with the two disks"
    assert decide(turn(text, recent=("We have two servers",))).evidence.reference is Reference.CONJUNCTION
    assert decide(turn(text, recent=())).evidence.reference is None
    assert decide(turn(text)).evidence.reference is None


RECENT = ("Which port does the proxy use?", "The proxy listens on port number 8443.")
POINTING = "Can you format the port number you just gave?"


@pytest.mark.parametrize(
    ("text", "recent", "probe", "is_skipped"),
    [
        (POINTING, RECENT, postings(), True),
        (POINTING, RECENT, postings(port=2), True),  # the store knows it too, but it was just said
        (POINTING, RECENT, postings(format=1), False),  # points past the last turns
        (POINTING, RECENT, None, False),  # the store was not asked about "format"
        (POINTING, RECENT, GateCause.TIMEOUT, False),
        ("Which port number was it that you just wrote?", (*RECENT, "I wrote it."), None, True),
        ("What was the port number just now?", RECENT, None, True),
        (POINTING, (), postings(), False),
        (POINTING, NOT_SUPPLIED, postings(), False),
        (f"{POINTING} And last time?", RECENT, postings(), False),
        ("Can you format the port number of the proxy?", RECENT, postings(), False),
    ],
)
def test_a_message_about_the_last_turns_alone_is_skipped(
    text: str, recent: tuple[str, ...] | NotSupplied, probe: ProbeResult | GateCause | None, *, is_skipped: bool
) -> None:
    verdict = decide(turn(text, recent=recent, probe=probe))
    assert (verdict.reason is RecallReason.ANSWERED_IN_HISTORY) is is_skipped
    assert verdict.run is not is_skipped


def test_a_models_no_is_heard_in_the_remaining_band_only() -> None:
    no = ModelAnswer(run=False, query="ignored", reason="small talk")
    verdict = decide(turn(UNDECIDED), model=no)
    assert (verdict.answer, verdict.reason) == (GateAnswer.SKIP, RecallReason.NOT_NEEDED)
    assert (verdict.decided_by, verdict.evidence.model_reason) == (TurnRule.MODEL, "small talk")
    assert decide(turn(f"{UNDECIDED} again"), model=no).decided_by is TurnRule.HISTORY_CUE


@pytest.mark.parametrize("blank", [None, "", " \u200b"])
def test_a_models_query_is_taken_and_a_missing_one_falls_back_to_the_message(blank: str | None) -> None:
    verdict = decide(turn(UNDECIDED), model=ModelAnswer(run=True, query="kitchen colours"))
    assert (verdict.query, verdict.query_fallback) == ("kitchen colours", False)
    verdict = decide(turn(UNDECIDED), model=ModelAnswer(run=True, query=blank))
    assert (verdict.query, verdict.query_fallback, verdict.run) == (UNDECIDED, True, True)


def test_a_model_decides_over_a_probe_that_failed_and_the_failure_is_kept() -> None:
    verdict = decide(turn(UNDECIDED, probe=GateCause.ERROR), model=ModelAnswer(run=False))
    assert (verdict.decided_by, verdict.cause) == (TurnRule.MODEL, GateCause.ERROR)


FAULT = ModelAnswerError(fault=AnswerFault.NO_DECISION, detail="x")


@pytest.mark.parametrize(
    ("probe", "model", "cause"),
    [
        (None, None, GateCause.WEAK),
        (postings(), None, GateCause.WEAK),
        (GateCause.TIMEOUT, None, GateCause.TIMEOUT),
        (GateCause.BUDGET, None, GateCause.BUDGET),
        (None, FAULT, GateCause.ERROR),
        (GateCause.TIMEOUT, FAULT, GateCause.ERROR),
        (None, GateCause.TIMEOUT, GateCause.TIMEOUT),
        (postings(), GateCause.BUDGET, GateCause.BUDGET),
        (None, GateCause.MISSING_INPUT, GateCause.MISSING_INPUT),
    ],
)
@pytest.mark.parametrize("op", GateOperation)
def test_what_no_rule_decides_goes_the_direction_of_its_cause(
    op: GateOperation,
    probe: ProbeResult | GateCause | None,
    model: ModelAnswerError | GateCause | None,
    cause: GateCause,
) -> None:
    settings = TurnGateSettings(directions=DEFAULT_DIRECTIONS[op])
    verdict = decide(turn(UNDECIDED, probe=probe), settings=settings, model=model)
    is_weak = cause is GateCause.WEAK
    assert verdict.answer is DEFAULT_DIRECTIONS[op].answer(cause)
    assert verdict.cause is cause
    assert verdict.decided_by is (TurnRule.DEFAULT if is_weak else TurnRule.ERROR_PATH)
    if verdict.run:
        assert (verdict.reason, verdict.query) == (None, UNDECIDED)
    else:
        assert verdict.reason is (RecallReason.WEAK_EVIDENCE if is_weak else RecallReason.TURN_GATE_FAILED)


def test_a_direction_never_overrules_a_rule() -> None:
    closed = TurnGateSettings(directions=DEFAULT_DIRECTIONS[GateOperation.SWEEP])
    assert decide(turn("as we discussed", recent=()), settings=closed).run
    assert decide(turn("thanks"), settings=closed).answer is GateAnswer.SKIP


def test_a_long_message_is_read_at_its_head_and_tail() -> None:
    filler = "lorem " * LOOKED_AT_CHARS_MAX
    assert decide_turn(f"as we discussed: {filler}").evidence.cues != ()
    assert decide_turn(f"{filler} as we discussed").evidence.cues != ()
    assert decide_turn(f"{filler} as we discussed {filler}").evidence.cues == ()


answers = st.sampled_from(GateAnswer)
words = st.sampled_from(
    [
        "and",
        "it",
        "again",
        "last",
        "time",
        "you",
        "just",
        "port",
        "Ann",
        "thanks",
        "why",
        "/x",
        "1+1",
        "?",
        ".",
        "`",
        "上次",
        "\u200b",
    ]
)
texts = st.one_of(st.text(st.characters(), max_size=60), st.lists(words, max_size=8).map(" ".join))
turns = st.builds(
    TurnInput,
    parts=st.lists(st.builds(MessagePart, kind=st.sampled_from(PartKind), text=texts), max_size=3).map(tuple),
    recent=st.one_of(st.just(NOT_SUPPLIED), st.lists(texts, max_size=3).map(tuple)),
    now=st.sampled_from([None, NOON]),
    zone=st.sampled_from([None, BERLIN]),
    probe=st.one_of(
        st.none(),
        st.sampled_from(GateCause),
        st.builds(
            ProbeResult,
            terms=st.lists(
                st.builds(TermPostings, term=words, postings=st.integers(min_value=0, max_value=2)), max_size=3
            ).map(tuple),
            entities=st.lists(words, max_size=3).map(tuple),
        ),
    ),
)
models = st.one_of(
    st.none(),
    st.sampled_from(GateCause),
    st.just(FAULT),
    st.builds(ModelAnswer, run=st.booleans(), query=st.sampled_from([None, "a query", " ", "\u200b"])),
)
directions = st.builds(
    Directions, on_weak=answers, on_error=answers, on_timeout=answers, on_missing_input=answers, on_budget=answers
)


def check(verdict: TurnGateVerdict) -> None:
    """What holds of every verdict."""
    assert verdict.run is (verdict.reason is None) is (verdict.answer is GateAnswer.RUN)
    assert not verdict.run or verdict.query.strip()
    assert not verdict.query_fallback or (verdict.run and verdict.decided_by is TurnRule.MODEL)
    assert (verdict.decided_by in {TurnRule.DEFAULT, TurnRule.ERROR_PATH}) <= (verdict.cause is not None)


@given(turns, models, directions)
def test_every_turn_gets_a_verdict_and_a_run_has_a_query(
    given_turn: TurnInput,
    model: ModelAnswer | ModelAnswerError | GateCause | None,
    directions: Directions,
) -> None:
    check(
        decide(given_turn, settings=TurnGateSettings(directions=directions), model=model, find_times=FindWord("last"))
    )


@given(turns, st.sampled_from([None, FAULT, GateCause.TIMEOUT]))
def test_failures_alone_never_silence_a_recall(
    given_turn: TurnInput, model: ModelAnswerError | GateCause | None
) -> None:
    verdict = decide(given_turn, model=model)
    assert verdict.run or verdict.decided_by not in {TurnRule.DEFAULT, TurnRule.ERROR_PATH, TurnRule.MODEL}
