from __future__ import annotations

import random
from collections.abc import Callable

import msgspec
import pytest

from recalld.models.domain.drift import (
    AlarmName,
    DecisionSample,
    DriftReport,
    GateDrift,
    GateName,
    Reference,
    Statistic,
)
from recalld.models.domain.reasons import Op
from recalld.models.policy.drift.histogram import histogram_of
from recalld.models.policy.drift.remedies import REMEDIES
from recalld.models.policy.drift.watch import DriftContext, DriftRules, watch

RULES = DriftRules()
NOTHING = DriftContext()
CAUSES = ("history_cue", "known_entity", "terms_stored", "weak_evidence")


def recall(
    rng: random.Random, *, skips: float = 0.15, passes: float = 0.3, shift: float = 0.0, calibration_id: str = "own-1"
) -> DecisionSample:
    """A decision of a stream whose rates stay as they are."""
    if rng.random() < skips:
        return DecisionSample(op=Op.RECALL, at_ms=0, decision="skip", reason="acknowledgement", rule="acknowledgement")
    has_passed = rng.random() < passes
    score = min(1.0, rng.betavariate(2, 5) + shift)
    return DecisionSample(
        op=Op.RECALL,
        at_ms=0,
        decision="inject" if has_passed else "silent",
        reason="relevant" if has_passed else "gated",
        rule=rng.choice(CAUSES),
        relevance=score,
        calibration_id=calibration_id,
        decided=int(has_passed),
        served=int(has_passed),
    )


def turn(rng: random.Random, *, writes: float = 0.1) -> DecisionSample:
    is_kept = rng.random() < writes
    return DecisionSample(
        op=Op.OBSERVE,
        at_ms=0,
        decision="kept" if is_kept else "dropped",
        reason="stated" if is_kept else rng.choice(("nothing_stated", "question", "request")),
    )


def stream(count: int, make: Callable[[], DecisionSample]) -> list[DecisionSample]:
    return [make() for _ in range(count)]


def gate_of(report: DriftReport, name: GateName) -> GateDrift:
    return next(gate for gate in report.gates if gate.gate is name)


def alarms(samples: list[DecisionSample], context: DriftContext = NOTHING) -> dict[GateName, set[AlarmName]]:
    report = watch("ines", samples, RULES, context)
    return {gate.gate: {alarm.name for alarm in gate.alarms} for gate in report.gates if gate.alarms}


def test_a_stationary_stream_raises_hardly_ever_an_alarm() -> None:
    alarmed = 0
    for seed in range(200):
        rng = random.Random(seed)
        history = [(recall(rng), turn(rng)) for _ in range(800)]
        newest_first = [sample for pair in reversed(history) for sample in pair]
        # Looked at again and again while it goes on, as the daemon does: one alarm at any time is one too many.
        looks = (newest_first[2 * skipped :] for skipped in (0, 200))
        alarmed += any(alarms(look) for look in looks)
    assert alarmed <= 10  # 5 %


SHIFTS: tuple[tuple[str, Callable[[random.Random], DecisionSample], GateName, AlarmName], ...] = (
    ("skips", lambda rng: recall(rng, skips=0.5), GateName.TURN, AlarmName.RATE_JUMP),
    (
        "rules",
        lambda rng: msgspec.structs.replace(recall(rng), rule="known_entity"),
        GateName.TURN,
        AlarmName.REASON_SHIFT,
    ),
    ("passes", lambda rng: recall(rng, passes=0.7), GateName.RELEVANCE, AlarmName.RATE_JUMP),
    ("scores", lambda rng: recall(rng, shift=0.3), GateName.RELEVANCE, AlarmName.SCORE_SHIFT),
)


@pytest.mark.parametrize(("name", "shifted", "gate", "alarm"), SHIFTS, ids=[each[0] for each in SHIFTS])
def test_a_planted_shift_raises_its_alarm(
    name: str, shifted: Callable[[random.Random], DecisionSample], gate: GateName, alarm: AlarmName
) -> None:
    for seed in range(10):
        rng = random.Random(seed)
        before = stream(1_200, lambda: recall(rng))  # noqa: B023 - called at once
        now = stream(600, lambda: shifted(rng))  # noqa: B023 - called at once
        assert alarm in alarms([*now, *before])[gate]


def test_a_jump_of_the_write_rate_raises_its_alarm() -> None:
    rng = random.Random(1)
    samples = [*stream(500, lambda: turn(rng, writes=0.5)), *stream(1_000, lambda: turn(rng))]
    assert AlarmName.RATE_JUMP in alarms(samples)[GateName.WRITE]


@pytest.mark.parametrize(
    ("alarm", "rates"),
    [(AlarmName.NEVER_FIRES, 0.0), (AlarmName.ALWAYS_FIRES, 1.0)],
)
def test_a_gate_that_always_says_the_same_is_told_of(alarm: AlarmName, rates: float) -> None:
    rng = random.Random(1)
    silent_after = RULES.silent_after
    recalls = stream(silent_after, lambda: recall(rng, skips=0.0, passes=rates))
    skipping = stream(silent_after, lambda: recall(rng, skips=1.0 - rates))
    turns = stream(silent_after, lambda: turn(rng, writes=rates))
    assert alarm in alarms(recalls)[GateName.RELEVANCE]
    assert alarm in alarms(skipping)[GateName.TURN]
    assert alarm in alarms(turns)[GateName.WRITE]
    one_other = [*recalls[:-1], recall(rng, skips=0.0, passes=1.0 - rates)]
    assert alarm not in alarms(one_other).get(GateName.RELEVANCE, set())


@pytest.mark.parametrize(("op", "gate"), [(Op.RECALL, GateName.TURN), (Op.OBSERVE, GateName.WRITE)])
def test_turns_without_a_word_of_the_user_are_told_of(op: Op, gate: GateName) -> None:
    decision = "skip" if op is Op.RECALL else "dropped"
    empty = DecisionSample(op=op, at_ms=0, decision=decision, reason="no_user_text")
    rng = random.Random(1)
    whole = stream(120, lambda: recall(rng) if op is Op.RECALL else turn(rng))
    assert AlarmName.NO_USER_TEXT in alarms([*[empty] * 120, *whole])[gate]
    assert AlarmName.NO_USER_TEXT not in alarms([*[empty] * 99, *whole]).get(gate, set())


def test_below_the_minimum_nothing_is_said_but_how_many_there_are() -> None:
    rng = random.Random(1)
    gate = gate_of(watch("ines", stream(37, lambda: recall(rng, skips=0.0)), RULES, NOTHING), GateName.TURN)
    assert gate.too_few == "too few decisions: 37 of 200"
    assert (gate.shifts, gate.alarms) == ((), ())
    half = gate_of(watch("ines", stream(237, lambda: recall(rng, skips=0.0)), RULES, NOTHING), GateName.TURN)
    assert half.too_few == "too few earlier decisions to compare with: 37 of 200"


def test_scores_are_compared_with_the_calibration_and_only_ones_own_raises_an_alarm() -> None:
    rng = random.Random(1)
    sample = histogram_of([rng.betavariate(2, 5) for _ in range(400)])
    now = stream(300, lambda: recall(rng, skips=0.0, shift=0.4))
    for is_own, reference in ((True, Reference.CALIBRATION), (False, Reference.SHIPPED_CALIBRATION)):
        context = DriftContext(scores=sample, calibration_id="own-1", is_own=is_own)
        gate = gate_of(watch("ines", now, RULES, context), GateName.RELEVANCE)
        assert [shift.reference for shift in gate.shifts] == [reference]
        assert gate.shifts[0].value > gate.shifts[0].limit
        assert bool(gate.alarms) is is_own


def test_scores_of_another_calibration_are_not_compared() -> None:
    rng = random.Random(1)
    now = stream(500, lambda: recall(rng, skips=0.0, shift=0.4, calibration_id="own-2"))
    before = stream(1_000, lambda: recall(rng, skips=0.0, calibration_id="own-1"))
    context = DriftContext(scores=histogram_of([0.1] * 300), calibration_id="own-1", is_own=True)
    gate = gate_of(watch("ines", [*now, *before], RULES, context), GateName.RELEVANCE)
    assert [shift.what for shift in gate.shifts] == ["reasons"]


def test_scores_are_compared_by_both_statistics() -> None:
    rng = random.Random(1)
    gate = gate_of(watch("ines", stream(1_500, lambda: recall(rng, skips=0.0)), RULES, NOTHING), GateName.RELEVANCE)
    assert [(shift.what, shift.statistic) for shift in gate.shifts] == [
        ("reasons", Statistic.PSI),
        ("scores", Statistic.PSI),
        ("scores", Statistic.KS),
    ]


def test_another_model_than_the_calibrations_is_an_alarm_without_a_single_decision() -> None:
    context = DriftContext(mismatches=("the calibration is for model_key a, but b runs: calibrate again",))
    assert alarms([], context) == {GateName.RELEVANCE: {AlarmName.CALIBRATION_MISMATCH}}


def test_explicit_searches_and_broken_recalls_say_nothing_about_the_gates() -> None:
    rng = random.Random(1)
    searches = [msgspec.structs.replace(recall(rng, skips=0.0), is_search=True) for _ in range(600)]
    broken = [DecisionSample(op=Op.RECALL, at_ms=0, decision="error", reason="store_unreadable")] * 600
    report = watch("ines", [*searches, *broken], RULES, NOTHING)
    assert {gate.n for gate in report.gates} == {0}


def test_every_alarm_has_a_remedy() -> None:
    assert {gate for gate, _ in REMEDIES} == set(GateName)
    assert {name for _, name in REMEDIES} == set(AlarmName)
    assert all(len(remedy) > 20 for remedy in REMEDIES.values())
