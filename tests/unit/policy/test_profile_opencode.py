"""OpenCode's staged reading of past sessions, its sweeps, and its recall on history cues."""

import pytest
from decide_requests import Fields, ask, judged

from recalld.models.domain.decide import Argument, DecideCandidate, DecideScope, ReadStage, SweepArguments
from recalld.models.domain.decision import CandidateReason, DecideReason, Decision, GateDecision
from recalld.models.policy.profiles.sentences import DECIDE_SENTENCES

READ = "opencode_session_recall"
AUTO = "opencode_auto_recall"
MESSAGE = "Why does the journal checkpoint stall?"
CARD = DecideCandidate(id="old", title="journal work", description="checkpoint stalls", session="old")


def read(stage: ReadStage, *candidates: DecideCandidate, **fields: object) -> Decision:
    given: Fields = {"stage": stage, "candidates": candidates, **fields}  # type: ignore[typeddict-item]
    return ask(READ, MESSAGE, **given)


def hit(number: int, **fields: object) -> DecideCandidate:
    given = {"text": "a message", "session": f"old{number}", "score": float(number), **fields}
    return DecideCandidate(id=f"h{number}", **given)  # type: ignore[arg-type]


def test_cards_that_match_lead_straight_to_their_sessions() -> None:
    decision = read(ReadStage.CARDS, CARD)
    assert (decision.reason_code, decision.params.targets) == (DecideReason.CARDS_MATCH, ("old",))
    assert decision.params.stage is ReadStage.MESSAGES


def test_without_a_matching_card_the_index_is_next() -> None:
    other = DecideCandidate(id="x", title="tea", description="kinds of tea")
    decision = read(ReadStage.CARDS, other)
    assert (decision.reason_code, decision.params.stage) == (DecideReason.SEARCH_INDEX, ReadStage.INDEX)


def test_the_index_leads_to_the_twelve_best_sessions() -> None:
    decision = read(ReadStage.INDEX, *(hit(n) for n in range(15)))
    assert decision.params.targets == tuple(f"old{n}" for n in range(14, 2, -1))


def test_a_page_has_twenty_five_messages_and_the_limits_are_told() -> None:
    messages = tuple(hit(n, session="old", at_ms=n) for n in range(30))
    decision = read(ReadStage.MESSAGES, *messages)
    assert decision.params.items == tuple(f"h{n}" for n in range(25))
    limits = decision.params.limits
    assert (limits.page_messages, limits.items_max) == (25, 12)
    assert limits.chars_per_session_max is not None
    assert limits.chars_max is not None
    assert limits.chars_per_session_max < limits.chars_max


def test_a_session_and_the_query_have_budgets_of_characters() -> None:
    long = tuple(hit(n, session="a", at_ms=n, text="x" * 2_500) for n in range(3))
    decision = read(ReadStage.MESSAGES, *long, hit(9, session="b", text="short"))
    assert decision.params.items == ("h0", "h1", "h9")
    assert judged(decision)["h2"].reason is CandidateReason.OVER_CHARS
    many = tuple(hit(n, session=f"s{n}", text="x" * 6_000) for n in range(6))
    assert len(read(ReadStage.MESSAGES, *many).params.items) == 4


def test_a_resume_goes_on_exactly_where_the_page_ended() -> None:
    messages = tuple(hit(n, session=f"past{n % 3}", at_ms=n) for n in range(60))
    shown: list[str] = []
    cursor = ""
    while True:
        decision = read(ReadStage.MESSAGES, *messages, sweep=SweepArguments(cursor=cursor))
        shown.extend(decision.params.items)
        if decision.params.cursor is None:
            break
        cursor = decision.params.cursor
    assert sorted(shown) == sorted(message.id for message in messages)
    assert len(set(shown)) == len(shown)


def test_a_foreign_cursor_is_refused() -> None:
    decision = read(ReadStage.MESSAGES, hit(1), sweep=SweepArguments(cursor="AAAA"))
    assert (decision.decision, decision.reason_code) == (GateDecision.REFUSE, DecideReason.BAD_CURSOR)


def test_every_stage_says_how_much_was_looked_at_and_why_not_more() -> None:
    counts = read(ReadStage.INDEX, hit(1), hit(2, session="s1"), counters={"index_lag": 4}).evidence.counts
    assert counts == {"discovered": 2, "searched": 1, "skipped": 1, "index_lag": 4}


def test_a_lagging_index_is_said_first_and_other_words_are_not_advised() -> None:
    lagging = read(ReadStage.INDEX, counters={"index_lag": 3})
    assert (lagging.decision, lagging.reason_code) == (GateDecision.DEFER, DecideReason.INDEX_LAGGING)
    assert lagging.reason.startswith("The full-text index lags")
    assert "other words" not in lagging.reason
    fresh = read(ReadStage.INDEX)
    assert (fresh.decision, fresh.reason_code) == (GateDecision.SKIP, DecideReason.NOTHING_FOUND)
    assert "other words" in fresh.reason
    assert read(ReadStage.INDEX, hit(1), counters={"index_lag": 3}).is_degraded


@pytest.mark.parametrize("stage", ReadStage)
def test_the_asking_session_its_family_and_our_own_blocks_never_win(stage: ReadStage) -> None:
    text = {"title": "journal", "description": "checkpoint stall", "text": MESSAGE, "score": 99.0}
    own = DecideCandidate(id="own", session="s1", **text)  # type: ignore[arg-type]
    child = DecideCandidate(id="child", session="s1-child", **text)  # type: ignore[arg-type]
    block = DecideCandidate(id="block", session="old", is_injected=True, **text)  # type: ignore[arg-type]
    framed = DecideCandidate(
        id="framed", session="old", text=f"<recalled-memory>{MESSAGE}</recalled-memory>", score=99.0
    )
    scope = DecideScope(family=("s1-child",))
    decision = read(stage, own, child, block, framed, scope=scope)
    assert (decision.params.targets, decision.params.items) == ((), ())
    assert {name: each.reason for name, each in judged(decision).items()} == {
        "own": CandidateReason.OWN_SESSION,
        "child": CandidateReason.OWN_SESSION,
        "block": CandidateReason.OWN_BLOCK,
        "framed": CandidateReason.HOST_TEXT,
    }


def test_without_a_stage_the_reading_is_refused_for_missing_input() -> None:
    decision = ask(READ, MESSAGE, candidates=(CARD,))
    assert (decision.decision, decision.reason_code) == (GateDecision.REFUSE, DecideReason.MISSING_INPUT)
    assert decision.params.missing == ("stage",)


def test_an_unscoped_sweep_is_refused() -> None:
    decision = ask("opencode_sweep", candidates=(CARD,))
    assert (decision.decision, decision.reason_code) == (GateDecision.REFUSE, DecideReason.UNSCOPED_SWEEP)
    scoped = ask(
        "opencode_sweep",
        sweep=SweepArguments(target="old"),
        explicit=frozenset({Argument.TARGET}),
        candidates=(CARD,),
    )
    assert scoped.params.targets == ("old",)


@pytest.mark.parametrize("text", ["What did we decide about the journal?", "Do it the same as last time, please"])
def test_a_history_cue_recalls(text: str) -> None:
    decision = ask(AUTO, text)
    assert (decision.decision, decision.reason_code) == (GateDecision.RUN, DecideReason.HISTORY_CUE)
    assert decision.evidence.cues
    assert decision.params.query == text


@pytest.mark.parametrize("text", ["Where is the deploy key kept now?", "What did I eat yesterday evening?"])
def test_nothing_but_a_history_cue_recalls(text: str) -> None:
    decision = ask(AUTO, text)
    assert (decision.decision, decision.reason_code) == (GateDecision.SKIP, DecideReason.NO_HISTORY_CUE)


@pytest.mark.parametrize("text", ["clean up before committing the code", "an earlier version of this is broken"])
def test_a_bare_before_or_earlier_is_no_cue(text: str) -> None:
    assert ask(AUTO, text).reason_code is DecideReason.NO_HISTORY_CUE


@pytest.mark.parametrize(("text", "reason"), [("last time", DecideReason.TOO_SHORT), ("as last time", None)])
def test_a_message_needs_twelve_characters(text: str, reason: DecideReason | None) -> None:
    assert len("as last time") == 12
    assert (ask(AUTO, text).reason_code is DecideReason.TOO_SHORT) is (reason is DecideReason.TOO_SHORT)


def test_at_most_three_hits_and_nine_hundred_characters_are_shown_in_whole() -> None:
    text = "What did we decide about the journal?"
    short = tuple(DecideCandidate(id=f"m{n}", text="x" * 100) for n in range(5))
    assert ask(AUTO, text, candidates=short).params.items == ("m0", "m1", "m2")
    long = tuple(DecideCandidate(id=f"m{n}", text="x" * 450) for n in range(2))
    assert ask(AUTO, text, candidates=(*long, *short)).params.items == ("m0", "m1")
    limits = ask(AUTO, text).params.limits
    assert (limits.items_max, limits.chars_max) == (3, 900)


@pytest.mark.parametrize(
    ("text", "candidates", "reason"),
    [
        ("", (), DecideReason.NO_USER_TEXT),
        ("last time", (), DecideReason.TOO_SHORT),
        ("Where is the deploy key kept?", (), DecideReason.NO_HISTORY_CUE),
        ("What did we decide back then?", (DecideCandidate(id="m", text="x" * 901),), DecideReason.NONE_PASSED),
    ],
)
def test_every_silence_says_why(text: str, candidates: tuple[DecideCandidate, ...], reason: DecideReason) -> None:
    decision = ask(AUTO, text, candidates=candidates)
    assert (decision.decision, decision.reason_code) == (GateDecision.SKIP, reason)
    assert decision.reason == DECIDE_SENTENCES[reason]
