from __future__ import annotations

from pathlib import Path

import pytest
from fake_models import FakeScorer

from recalld.actors.inference_thread.stop import StopSignal
from recalld.daemon.faults import HANG_FILE, RAISE_FILE, BreakableScorer, InjectedFaultError
from recalld.models.domain.errors import ScoreStopped


def test_without_a_fault_file_it_scores_as_the_real_one(tmp_path: Path) -> None:
    scorer = BreakableScorer(FakeScorer(logit=lambda _query, _memory: 2.5), tmp_path)
    assert scorer.score("q", "m", StopSignal()) == 2.5
    assert scorer.model_key == FakeScorer().model_key
    assert scorer.count_tokens("a b", "c") == FakeScorer().count_tokens("a b", "c")


def test_it_raises_while_told_to(tmp_path: Path) -> None:
    scorer = BreakableScorer(FakeScorer(), tmp_path)
    (tmp_path / RAISE_FILE).touch()
    with pytest.raises(InjectedFaultError):
        scorer.score("q", "m", StopSignal())
    (tmp_path / RAISE_FILE).unlink()
    assert scorer.score("q", "m", StopSignal()) == 1.0


def test_a_hang_lets_go_when_it_is_stopped(tmp_path: Path) -> None:
    fake = FakeScorer()
    scorer = BreakableScorer(fake, tmp_path)
    (tmp_path / HANG_FILE).touch()
    stop = StopSignal()
    stop.set()
    with pytest.raises(ScoreStopped):
        scorer.score("q", "m", stop)
    assert fake.scored == []
