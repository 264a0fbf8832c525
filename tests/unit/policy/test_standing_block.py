from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standing_cases import candidate, many_candidates

from recalld.models.domain.outcomes import OutcomeTally
from recalld.models.domain.records import MemoryKind, MemorySource
from recalld.models.domain.standing import (
    StandingAction,
    StandingCandidate,
    StandingCandidates,
    StandingChoice,
    StandingReason,
    StandingVerdict,
)
from recalld.models.policy.standing.block import TOKENS_MAX, choice_after, choose_block, holds_after, reason_of
from recalld.models.policy.standing.fit import (
    POINTER_CUE_CHARS,
    POINTERS_MAX,
    BlockLimits,
    FittedBlock,
    fit,
    pointer_size,
    pointer_to,
)
from recalld.models.policy.standing.measure import size_of
from recalld.models.policy.standing.rank import StandingRules, rank

RULES = StandingRules(value_min=1.0, error_cost_words=200.0)
ROOMY = BlockLimits(chars_max=1_375, lines_max=30, tokens_max=TOKENS_MAX)


def chosen(*found: StandingCandidate, limits: BlockLimits = ROOMY, rules: StandingRules = RULES) -> FittedBlock:
    return choose_block(StandingCandidates(candidates=found), rules, limits)


def shown(block: FittedBlock) -> list[str]:
    return [memory.id for memory in block.memories]


def verdicts(block: FittedBlock) -> dict[str, StandingVerdict]:
    return {row.candidate.memory.id: row.verdict for row in block.rows}


def written(block: FittedBlock) -> str:
    """A block as a runtime would write it: an entry a line."""
    pointers = (f"{pointer.kind} {pointer.memory_id} {pointer.cue}" for pointer in block.pointers)
    return "\n".join([*pointers, *(memory.text for memory in block.memories)])


def test_outcomes_rank_and_the_users_word_comes_before_a_programs() -> None:
    block = chosen(
        candidate("stated"),
        candidate("inferred", "Likes tea", source=MemorySource.MODEL, tally=OutcomeTally(used=1)),
        candidate("proven", "Use uv", tally=OutcomeTally(used=5)),
        candidate("idle", "Signs with initials", tally=OutcomeTally(ignored=4)),
    )
    assert shown(block) == ["proven", "stated", "inferred", "idle"]


def test_the_newest_comes_first_among_equals_and_a_pinned_one_before_all() -> None:
    block = chosen(
        candidate("old", "One", at_ms=1),
        candidate("new", "Two", at_ms=2),
        candidate("pinned", "Three", at_ms=0, tally=OutcomeTally(harmful=9), choice=StandingChoice.PINNED),
    )
    assert shown(block) == ["pinned", "new", "old"]


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (candidate(tally=OutcomeTally(harmful=2)), StandingVerdict.BELOW_BAR),
        (candidate(text="word " * 150), StandingVerdict.BELOW_BAR),
        (candidate(choice=StandingChoice.DEMOTED), StandingVerdict.DEMOTED),
        (candidate(source=MemorySource.IMPORTED), StandingVerdict.UNPROVEN),
        (candidate(kind=MemoryKind.FACT, choice=StandingChoice.PINNED), StandingVerdict.SHOWN),
    ],
)
def test_each_way_out_of_the_block_has_its_verdict(found: StandingCandidate, verdict: StandingVerdict) -> None:
    assert verdicts(chosen(found)) == {"mem_1": verdict}


def test_a_pointer_stays_of_what_was_demoted_and_none_of_what_nobody_vouches_for() -> None:
    block = chosen(
        candidate("below", "Sign letters with initials", cues=("Letters",), tally=OutcomeTally(harmful=3)),
        candidate("by_hand", "Line one\nline two " + "x" * 90, choice=StandingChoice.DEMOTED),
        candidate("unproven", "Hates mornings", source=MemorySource.MODEL),
    )
    assert [(pointer.memory_id, pointer.cue) for pointer in block.pointers] == [
        ("by_hand", ("Line one line two " + "x" * 90)[:POINTER_CUE_CHARS]),
        ("below", "Letters"),
    ]
    assert (shown(block), block.left_out) == ([], 0)


def test_pointers_never_take_more_than_a_quarter_and_the_others_are_counted() -> None:
    demoted = [candidate(f"mem_{n}", f"Convention {n}", choice=StandingChoice.DEMOTED) for n in range(9)]
    block = chosen(
        *demoted, candidate("kept", "Use uv"), limits=BlockLimits(chars_max=200, lines_max=30, tokens_max=99)
    )
    assert len(block.pointers) == 1
    assert shown(block) == ["kept"]
    assert block.left_out == 8
    assert len(chosen(*demoted).pointers) == POINTERS_MAX


def test_the_same_words_in_two_scopes_are_said_once() -> None:
    block = chosen(candidate("global", "Use uv"), candidate("scoped", "use UV.", scope="work", at_ms=2_000))
    assert verdicts(block) == {"scoped": StandingVerdict.SHOWN, "global": StandingVerdict.DUPLICATE}


def test_what_the_session_sees_already_is_not_said_again_in_other_words_of_another_scope() -> None:
    rules = StandingRules(value_min=1.0, error_cost_words=200.0, visible=frozenset({"scoped"}))
    block = chosen(
        candidate("global", "Use uv"), candidate("scoped", "use UV.", scope="work", at_ms=2_000), rules=rules
    )
    assert verdicts(block) == {"scoped": StandingVerdict.ALREADY_VISIBLE, "global": StandingVerdict.DUPLICATE}
    assert reason_of(block.rows) is StandingReason.ALREADY_VISIBLE


def test_a_cap_below_what_is_stored_still_gives_the_best_that_fits() -> None:
    found = (
        candidate("long", "y" * 90, tally=OutcomeTally(used=9)),
        candidate("short", "Use uv", tally=OutcomeTally(used=3)),
        candidate("other", "Be brief", tally=OutcomeTally(used=2)),
    )
    block = chosen(*found, limits=BlockLimits(chars_max=14, lines_max=30, tokens_max=TOKENS_MAX))
    assert verdicts(block) == {
        "long": StandingVerdict.OVER_CHARS,
        "short": StandingVerdict.SHOWN,
        "other": StandingVerdict.OVER_CHARS,  # 6 + 8 characters fit, the line break between them does not
    }
    assert shown(chosen(*found, limits=BlockLimits(chars_max=15, lines_max=30, tokens_max=9))) == ["short", "other"]


@pytest.mark.parametrize(
    ("limits", "verdict"),
    [
        (BlockLimits(chars_max=8, lines_max=9, tokens_max=9), StandingVerdict.OVER_CHARS),
        (BlockLimits(chars_max=9, lines_max=1, tokens_max=9), StandingVerdict.OVER_LINES),
        (BlockLimits(chars_max=9, lines_max=2, tokens_max=2), StandingVerdict.OVER_TOKENS),
        (BlockLimits(chars_max=9, lines_max=2, tokens_max=3), StandingVerdict.SHOWN),
    ],
)
def test_each_limit_keeps_out_on_its_own(limits: BlockLimits, verdict: StandingVerdict) -> None:
    block = chosen(candidate(text="Two\nlines"), limits=limits)
    assert verdicts(block) == {"mem_1": verdict}
    expected = StandingReason.GIVEN if verdict is StandingVerdict.SHOWN else StandingReason.OVER_LIMITS
    assert reason_of(block.rows) is expected


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="limits must not be negative"):
        fit((), BlockLimits(chars_max=-1, lines_max=1, tokens_max=1))


@given(found=many_candidates(), chars_max=st.integers(0, 1_500), lines_max=st.integers(0, 30), seed=st.integers())
def test_a_block_keeps_its_limits_and_is_a_subsequence_of_the_ranking(
    found: list[StandingCandidate], chars_max: int, lines_max: int, seed: int
) -> None:
    limits = BlockLimits(chars_max=chars_max, lines_max=lines_max, tokens_max=TOKENS_MAX)
    block = chosen(*found, limits=limits)
    assert len(written(block)) == block.chars <= chars_max
    texts = [memory.text for memory in block.memories]
    lines = sum(size_of(text).lines for text in texts) + len(block.pointers)
    tokens = sum(size_of(text).tokens for text in texts) + sum(pointer_size(each).tokens for each in block.pointers)
    assert lines <= lines_max
    assert tokens == block.tokens <= TOKENS_MAX
    assert block.left_out >= 0
    ranked = [row.candidate.memory.id for row in rank(found, RULES)]
    assert [each for each in ranked if each in set(shown(block))] == shown(block)
    random.Random(seed).shuffle(found)
    assert chosen(*found, limits=limits) == block


@given(found=many_candidates(12))
def test_what_a_narrow_block_shows_a_wide_one_shows_too(found: list[StandingCandidate]) -> None:
    narrow = shown(chosen(*found, limits=BlockLimits(chars_max=120, lines_max=30, tokens_max=TOKENS_MAX)))
    wide = shown(chosen(*found, limits=BlockLimits(chars_max=100_000, lines_max=10_000, tokens_max=100_000)))
    assert set(narrow) <= set(wide)


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ((), StandingReason.NOTHING_STANDING),
        ((candidate(source=MemorySource.MODEL),), StandingReason.DEMOTED),
        ((candidate(choice=StandingChoice.DEMOTED),), StandingReason.DEMOTED),
        ((candidate(),), StandingReason.GIVEN),
    ],
)
def test_an_empty_block_says_why(found: tuple[StandingCandidate, ...], reason: StandingReason) -> None:
    assert reason_of(chosen(*found).rows) is reason


@pytest.mark.parametrize(
    ("action", "before", "preference", "fact"),
    [
        (StandingAction.PIN, None, StandingChoice.PINNED, StandingChoice.PINNED),
        (StandingAction.PIN, StandingChoice.DEMOTED, StandingChoice.PINNED, StandingChoice.PINNED),
        (StandingAction.UNPIN, StandingChoice.PINNED, None, None),
        (StandingAction.UNPIN, StandingChoice.DEMOTED, StandingChoice.DEMOTED, StandingChoice.DEMOTED),
        (StandingAction.DEMOTE, None, StandingChoice.DEMOTED, None),
        (StandingAction.DEMOTE, StandingChoice.PINNED, StandingChoice.DEMOTED, StandingChoice.DEMOTED),
        (StandingAction.RESTORE, None, StandingChoice.RESTORED, None),
        (StandingAction.RESTORE, StandingChoice.DEMOTED, StandingChoice.RESTORED, None),
        (StandingAction.RESTORE, StandingChoice.PINNED, StandingChoice.RESTORED, None),
    ],
)
def test_what_a_person_does_can_be_undone(
    action: StandingAction,
    before: StandingChoice | None,
    preference: StandingChoice | None,
    fact: StandingChoice | None,
) -> None:
    assert choice_after(action, before, by_kind=True, has_reports=True) is preference
    assert choice_after(action, before, by_kind=False, has_reports=True) is fact


@pytest.mark.parametrize("before", [None, *StandingChoice])
def test_restoring_what_nothing_was_reported_on_leaves_no_choice(before: StandingChoice | None) -> None:
    assert choice_after(StandingAction.RESTORE, before, by_kind=True, has_reports=False) is None


@pytest.mark.parametrize(
    ("choice", "preference", "fact"),
    [
        (None, True, False),
        (StandingChoice.PINNED, True, True),
        (StandingChoice.DEMOTED, False, False),
        (StandingChoice.RESTORED, True, False),
    ],
)
def test_what_stands_by_kind_or_by_choice(choice: StandingChoice | None, *, preference: bool, fact: bool) -> None:
    assert (holds_after(choice, by_kind=True), holds_after(choice, by_kind=False)) == (preference, fact)


def test_a_pointer_of_a_memory_without_cues_is_the_start_of_its_text_on_one_line() -> None:
    pointer = pointer_to(candidate(text="Line one\n  line two").memory)
    assert pointer.cue == "Line one line two"
