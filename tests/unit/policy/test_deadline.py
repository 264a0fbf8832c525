from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.deadline import (
    RESERVE_S,
    embed_deadline_s,
    gate_deadline_s,
    model_window_s,
    probe_deadline_s,
    relations_deadline_s,
    reply_reserve_s,
    step_deadline_s,
)

nows = st.floats(0, 1e6)
lefts = st.floats(1e-3, 100)


@pytest.mark.parametrize(
    ("gate_ms", "left_s", "expected_s"),
    [
        (60, 0.300, 0.060),  # the ceiling
        (60, 0.050, 0.045),  # a short envelope less a tenth
        (500, 0.300, 0.285),  # a long one less the full reserve
        (60, 0.0, 0.0),
        (60, -1.0, 0.0),
        (0, 0.300, 0.0),
    ],
)
def test_the_gate_ends_at_its_ceiling_or_before_the_reserve(gate_ms: float, left_s: float, expected_s: float) -> None:
    assert gate_deadline_s(now_s=100.0, gate_ms=gate_ms, envelope_deadline_s=100.0 + left_s) == pytest.approx(
        100.0 + expected_s
    )


@given(nows, lefts, st.floats(0, 1e6))
def test_a_degraded_answer_always_has_its_reserve_before_the_envelope_ends(
    now_s: float, left_s: float, gate_ms: float
) -> None:
    envelope_s = now_s + left_s
    gate_s = gate_deadline_s(now_s=now_s, gate_ms=gate_ms, envelope_deadline_s=envelope_s)
    assert now_s <= gate_s < envelope_s
    assert envelope_s - gate_s >= reply_reserve_s(left_s) - 1e-6


@given(nows, lefts, st.floats(0, 10), st.floats(0, 10))
def test_a_longer_ceiling_never_ends_earlier(now_s: float, left_s: float, one_s: float, other_s: float) -> None:
    short_s, long_s = sorted((one_s, other_s))
    ends = [
        step_deadline_s(now_s=now_s, ceiling_s=ceiling_s, envelope_deadline_s=now_s + left_s)
        for ceiling_s in (short_s, long_s)
    ]
    assert ends[0] <= ends[1]


def test_embedding_leaves_half_of_the_time_to_what_follows() -> None:
    assert embed_deadline_s(now_s=10.0, envelope_deadline_s=10.3) == pytest.approx(10.15)
    assert embed_deadline_s(now_s=10.0, envelope_deadline_s=9.0) == 10.0


def test_the_reserve_is_capped_and_never_negative() -> None:
    assert reply_reserve_s(10.0) == RESERVE_S
    assert reply_reserve_s(0.05) == pytest.approx(0.005)
    assert reply_reserve_s(-1.0) == 0.0


def test_a_configured_reserve_takes_the_place_of_the_default_and_a_short_envelope_still_caps_it() -> None:
    def gate_s(left_s: float) -> float:
        return gate_deadline_s(now_s=0.0, gate_ms=1e6, envelope_deadline_s=left_s, reserve_s=0.030)

    assert gate_s(1.0) == pytest.approx(0.970)
    assert gate_s(0.1) == pytest.approx(0.090)


def test_a_negative_ceiling_is_an_error() -> None:
    with pytest.raises(ValueError, match="ceiling_s"):
        step_deadline_s(now_s=0.0, ceiling_s=-0.1, envelope_deadline_s=1.0)


def test_what_an_answer_brings_along_may_take_a_quarter_of_what_is_left() -> None:
    assert relations_deadline_s(now_s=10.0, envelope_deadline_s=10.2) == pytest.approx(10.05)
    assert relations_deadline_s(now_s=10.0, envelope_deadline_s=9.0) == 10.0


def test_a_probe_of_the_store_may_take_a_fifth_of_what_is_left() -> None:
    assert probe_deadline_s(now_s=10.0, envelope_deadline_s=10.3) == pytest.approx(10.06)
    assert probe_deadline_s(now_s=10.0, envelope_deadline_s=9.0) == 10.0


@pytest.mark.parametrize(
    ("left_s", "model_ms", "expected_s"),
    [(0.285, None, 0.228), (0.285, 100.0, 0.1), (0.285, 5_000.0, 0.228), (0.0, 100.0, 0.0), (-1.0, None, 0.0)],
)
def test_a_model_may_take_what_is_configured_and_four_fifths_of_what_is_left_at_most(
    left_s: float, model_ms: float | None, expected_s: float
) -> None:
    assert model_window_s(left_s=left_s, model_ms=model_ms) == pytest.approx(expected_s)
