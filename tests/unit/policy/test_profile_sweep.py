"""Sweeps: which are limited enough to run, and that their parts cover each target exactly once."""

import base64
import itertools

import msgspec
import pytest
from decide_requests import KNOWLEDGE, ask
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.decide import SWEEP_SESSIONS_MAX, Argument, DecideCandidate, DecideScope, SweepArguments
from recalld.models.domain.decision import DecideReason, Decision, GateDecision
from recalld.models.policy.profiles.cursor import (
    CURSOR_CHARS_MAX,
    Holder,
    SweepKey,
    SweepState,
    encode_cursor,
    list_digest,
    short_digest,
)

SESSIONS = tuple(DecideCandidate(id=f"s{n}", at_ms=1_000 + n) for n in range(6))
PROJECT = DecideScope(project="recalld")
SINCE = frozenset({Argument.SINCE, Argument.PROJECT})


def sweep(
    *explicit: Argument,
    candidates: tuple[DecideCandidate, ...] = SESSIONS,
    scope: DecideScope = DecideScope(),  # noqa: B008 - frozen
    user: str = "ines",
    profile: str = "default_sweep",
    **arguments: object,
) -> Decision:
    given = SweepArguments(**arguments)  # type: ignore[arg-type]
    return ask(profile, user=user, scope=scope, sweep=given, explicit=frozenset(explicit), candidates=candidates)


def first_cursor() -> str:
    cursor = sweep(Argument.SINCE, Argument.PROJECT, scope=PROJECT, since_ms=0, targets_max=2).params.cursor
    assert cursor is not None
    return cursor


def test_a_cursor_alone_goes_on_with_as_many_targets_as_the_sweep_was_started_with() -> None:
    second = sweep(cursor=first_cursor())
    assert second.params.targets == ("s2", "s3")
    assert second.params.limits.items_max == 2
    wider = sweep(cursor=first_cursor(), targets_max=3)
    assert wider.params.targets == ("s2", "s3", "s4")
    assert sweep(cursor=wider.params.cursor or "").params.limits.items_max == 3


@pytest.mark.parametrize(
    ("argument", "given"), [(Argument.TARGET, {"target": "nope"}), (Argument.SESSIONS, {"sessions": ("no", "nope")})]
)
def test_a_sweep_over_what_is_not_there_says_so(argument: Argument, given: dict[str, object]) -> None:
    decision = sweep(argument, **given)
    assert (decision.decision, decision.reason_code) == (GateDecision.SKIP, DecideReason.NO_SUCH_TARGET)


def cursor_before_all(arguments: SweepArguments, *, is_project_given: bool) -> str:
    """A cursor of a sweep with these arguments, none of whose targets is covered yet."""
    state = SweepState(
        after=None,
        until=SweepKey("", 2_000, "z"),
        since_ms=arguments.since_ms,
        target=arguments.target,
        project=short_digest(PROJECT.project) if is_project_given else b"",
        sessions=list_digest(arguments.sessions),
    )
    return encode_cursor(state, Holder("ines", "default_sweep", "", ""), key=KNOWLEDGE.cursor_key)


@pytest.mark.parametrize("limits", list(itertools.product((False, True), repeat=4)), ids=repr)
def test_a_sweep_runs_with_any_limit_and_is_refused_without_one(limits: tuple[bool, bool, bool, bool]) -> None:
    has_list, has_target, has_cursor, has_since = limits
    arguments = SweepArguments(
        sessions=("s3", "s4") if has_list else (),
        target="s3" if has_target else "",
        since_ms=1_001 if has_since else None,
    )
    explicit = {Argument.SESSIONS, Argument.TARGET, *SINCE}
    if has_cursor:
        cursor = cursor_before_all(arguments, is_project_given=has_since)
        arguments = msgspec.structs.replace(arguments, cursor=cursor)
    decision = ask(
        "default_sweep",
        sweep=arguments,
        explicit=frozenset(explicit),
        scope=PROJECT if has_since else DecideScope(),
        candidates=SESSIONS,
    )
    if not any(limits):
        assert (decision.decision, decision.reason_code) == (GateDecision.REFUSE, DecideReason.UNSCOPED_SWEEP)
        assert decision.params.targets == ()
        return
    assert (decision.decision, decision.reason_code) == (GateDecision.RUN, DecideReason.SWEEP_SCOPED)
    named = {"s3"} if has_target else {"s3", "s4"} if has_list else {session.id for session in SESSIONS}
    assert set(decision.params.targets) == named - ({"s0"} if has_since else set())


@pytest.mark.parametrize("missing", [Argument.PROJECT, Argument.SINCE])
def test_a_time_bound_or_project_that_a_default_filled_in_does_not_count(missing: Argument) -> None:
    decision = sweep(*(SINCE - {missing}), scope=PROJECT, since_ms=0)
    assert decision.reason_code is DecideReason.UNSCOPED_SWEEP


def test_a_list_or_target_that_a_default_filled_in_does_not_count() -> None:
    assert sweep(sessions=("s1",), target="s1").reason_code is DecideReason.UNSCOPED_SWEEP


def test_an_argument_that_is_named_explicit_but_empty_does_not_count() -> None:
    decision = sweep(*Argument)
    assert decision.reason_code is DecideReason.UNSCOPED_SWEEP


def test_the_refusal_names_every_legal_alternative() -> None:
    reason = sweep().reason
    for words in ("explicit list of sessions", "single target", "valid cursor", "lower time bound", "explicit project"):
        assert words in reason


def test_a_cursor_alone_resumes_the_sweep_that_made_it() -> None:
    decision = sweep(cursor=first_cursor(), targets_max=2)
    assert decision.params.targets == ("s2", "s3")


@pytest.mark.parametrize(
    ("explicit", "fields"),
    [
        ((), {"since_ms": 5}),
        ((), {"target": "s1"}),
        ((), {"sessions": ("s1",)}),
        ((Argument.PROJECT,), {"scope": DecideScope(project="another")}),
        ((), {"scope": DecideScope(project="another")}),
    ],
)
def test_a_cursor_with_other_arguments_than_its_own_is_refused(
    explicit: tuple[Argument, ...], fields: dict[str, object]
) -> None:
    decision = sweep(*explicit, cursor=first_cursor(), **fields)  # type: ignore[arg-type]
    assert (decision.decision, decision.reason_code) == (GateDecision.REFUSE, DecideReason.CURSOR_MISMATCH)


@pytest.mark.parametrize("started_in", ["", "atlas"])
def test_a_sweep_over_listed_sessions_goes_on_in_its_own_project_only(started_in: str) -> None:
    scope = DecideScope(project=started_in)
    cursor = sweep(Argument.SESSIONS, scope=scope, sessions=("s0", "s1", "s2"), targets_max=1).params.cursor or ""
    for resumed_in in ("", started_in):
        assert sweep(cursor=cursor, scope=DecideScope(project=resumed_in)).decision is GateDecision.RUN
    elsewhere = sweep(cursor=cursor, scope=DecideScope(project="another"))
    assert (elsewhere.decision, elsewhere.reason_code) == (GateDecision.REFUSE, DecideReason.CURSOR_MISMATCH)


def test_a_cursor_written_in_another_way_is_refused() -> None:
    cursor = first_cursor()
    content = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    spellings = {cursor[:-1] + letter for letter in letters} | {
        cursor + end for end in ("=", "==", "===", "\n", " ", "A")
    }
    same = {each for each in spellings if _content(each) == content} | {base64.b64encode(content).decode().rstrip("=")}
    for spelling in (spellings | same) - {cursor}:
        assert sweep(cursor=spelling).reason_code is DecideReason.BAD_CURSOR, spelling


def _content(cursor: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(cursor.rstrip("=\n ") + "==")
    except ValueError:
        return b""


def test_a_cursor_is_bound_to_its_user_profile_agent_and_namespace() -> None:
    cursor = first_cursor()
    for decision in (
        sweep(cursor=cursor, user="otto"),
        sweep(cursor=cursor, profile="opencode_sweep"),
        sweep(cursor=cursor, scope=DecideScope(agent="other")),
        sweep(cursor=cursor, scope=DecideScope(namespace="other")),
    ):
        assert (decision.decision, decision.reason_code) == (GateDecision.REFUSE, DecideReason.BAD_CURSOR)


@given(st.data())
def test_a_cursor_that_was_changed_in_any_bit_is_refused(data: st.DataObject) -> None:
    cursor = first_cursor()
    content = bytearray(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    bit = data.draw(st.integers(0, 8 * len(content) - 1))
    content[bit // 8] ^= 1 << bit % 8
    changed = base64.urlsafe_b64encode(bytes(content)).decode().rstrip("=")
    assert sweep(cursor=changed).reason_code is DecideReason.BAD_CURSOR


@given(st.text(max_size=600))
def test_no_made_up_cursor_is_taken(text: str) -> None:
    decision = sweep(Argument.TARGET, target="s1", cursor=text)
    assert text == "" or decision.reason_code is DecideReason.BAD_CURSOR


def test_another_daemons_cursor_is_refused() -> None:
    other = msgspec.structs.replace(KNOWLEDGE, cursor_key=b"another-daemons-key")
    decision = ask("default_sweep", sweep=SweepArguments(cursor=first_cursor()), candidates=SESSIONS, knowledge=other)
    assert decision.reason_code is DecideReason.BAD_CURSOR


def test_the_cursor_of_the_longest_list_fits_its_limit() -> None:
    names = tuple(f"session-{n}" for n in range(SWEEP_SESSIONS_MAX))
    cursor = sweep(Argument.SESSIONS, sessions=names, candidates=(), targets_max=1).params.cursor
    assert cursor is not None
    assert len(cursor) <= CURSOR_CHARS_MAX
    assert len(sweep(cursor=cursor, candidates=(), sessions=names, targets_max=50).params.targets) == 50


def test_nothing_to_sweep_is_missing_input_and_refused() -> None:
    decision = sweep(*SINCE, scope=PROJECT, since_ms=0, candidates=())
    assert (decision.decision, decision.reason_code) == (GateDecision.REFUSE, DecideReason.MISSING_INPUT)


def test_a_time_bound_leaves_out_what_is_older() -> None:
    decision = sweep(*SINCE, scope=PROJECT, since_ms=1_004)
    assert decision.params.targets == ("s4", "s5")
    assert sweep(*SINCE, scope=PROJECT, since_ms=9_000).reason_code is DecideReason.SWEEP_FINISHED


TARGETS = st.dictionaries(st.text("abcdef", min_size=1, max_size=3), st.integers(0, 5), max_size=20)


@given(TARGETS, st.lists(TARGETS, max_size=30), st.integers(1, 5))
def test_each_target_is_covered_exactly_once_whatever_is_added_meanwhile(
    at_start: dict[str, int], added: list[dict[str, int]], targets_max: int
) -> None:
    present = dict(at_start)
    covered: list[str] = []
    cursor = ""
    arrivals = iter(added)
    if not at_start:
        return
    for _ in range(100):
        candidates = tuple(DecideCandidate(id=name, at_ms=at_ms) for name, at_ms in present.items())
        if cursor:
            decision = sweep(cursor=cursor, candidates=candidates, targets_max=targets_max)
        else:
            decision = sweep(*SINCE, scope=PROJECT, since_ms=0, candidates=candidates, targets_max=targets_max)
        covered.extend(decision.params.targets)
        if decision.params.cursor is None:
            break
        cursor = decision.params.cursor
        for name, at_ms in next(arrivals, {}).items():
            present.setdefault(name, at_ms)
    assert len(set(covered)) == len(covered)
    assert set(at_start) <= set(covered)
