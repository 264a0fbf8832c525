from __future__ import annotations

import pytest

from recalld.daemon.demo import patience
from recalld.daemon.demo.patience import ask_patiently, until
from recalld.protocol.replies import Recalled


def answer(mode: str, degraded_reason: str | None = None) -> Recalled:
    return Recalled(recall_id="r", decision="silent", mode=mode, reason="gated", degraded_reason=degraded_reason)


GATED = answer("gated")
LATE = answer("floor_only", "sub_budget_exceeded")


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "PAUSE_S", 0.0)


@pytest.mark.parametrize("late", [LATE, answer("unavailable"), answer("lexical_only", "embed_timeout")])
def test_a_turn_that_was_short_of_time_is_asked_again(late: Recalled) -> None:
    answers = [late, late, GATED]
    tries: list[int] = []

    def ask(tried: int) -> Recalled:
        tries.append(tried)
        return answers[tried - 1]

    assert ask_patiently(ask) is GATED
    assert tries == [1, 2, 3]


@pytest.mark.parametrize("answered", [GATED, answer("empty"), answer("floor_only", "score_failed")])
def test_an_answer_and_a_failure_stand_as_they_are(answered: Recalled) -> None:
    assert ask_patiently(lambda tried: (answered,)[tried - 1]) is answered


def test_what_never_gets_time_is_shown_as_it_is_in_the_end() -> None:
    assert ask_patiently(lambda _: LATE, seconds_max=0.0) is LATE


def test_waiting_ends_when_it_is_so_or_time_is_up() -> None:
    seen = iter([False, False, True])
    assert until(lambda: next(seen), seconds_max=60.0)
    assert not until(lambda: False, seconds_max=0.0)
