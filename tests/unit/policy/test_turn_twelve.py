"""The smallest evaluation: twelve turns of four kinds, and what each cheap rule alone makes of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from recalld.models.policy.turn.directions import DEFAULT_DIRECTIONS, GateAnswer, GateOperation
from recalld.models.policy.turn.model_answer import ModelAnswer, parse_model_answer
from recalld.models.policy.turn.probe import ProbeResult, TermPostings
from recalld.models.policy.turn.turn_input import MessagePart, TurnInput
from recalld.models.policy.turn.verdict import TurnGateVerdict
from recalld.models.policy.turn_gate import TurnGateSettings, decide

TURNS_FILE = Path(__file__).resolve().parents[2] / "data" / "turn_gate" / "twelve_turns.json"
KINDS = {"chit-chat": False, "direct fact": True, "follow-up in history": False, "missing memory": True}


class LabelledTurn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A turn, what the store knows about it, what a small model answered, and whether it warrants a search."""

    kind: str
    wanted: bool
    text: str
    recent: tuple[str, ...]
    postings: dict[str, int]
    entities: tuple[str, ...]
    model: str

    def verdict(self, *, with_model: bool = False, settings: TurnGateSettings | None = None) -> TurnGateVerdict:
        counts = tuple(TermPostings(term=term, postings=count) for term, count in self.postings.items())
        turn = TurnInput(
            parts=(MessagePart(text=self.text),),
            recent=self.recent,
            probe=ProbeResult(terms=counts, entities=self.entities),
        )
        model = parse_model_answer(self.model, was_truncated=False) if with_model else None
        return decide(turn, settings=settings or TurnGateSettings(), model=model)


TURNS = msgspec.json.decode(TURNS_FILE.read_bytes(), type=tuple[LabelledTurn, ...])
CLOSED = TurnGateSettings(directions=DEFAULT_DIRECTIONS[GateOperation.PROBE])

RULES: dict[str, tuple[Callable[[LabelledTurn], bool], tuple[int, int]]] = {
    "two salient terms": (lambda turn: len(turn.verdict().evidence.terms) >= 2, (6, 5)),
    "history cues": (lambda turn: bool(turn.verdict().evidence.cues), (0, 0)),
    "known entity": (lambda turn: bool(turn.verdict().evidence.entities), (1, 0)),
    "reference": (lambda turn: turn.verdict().evidence.reference is not None, (0, 1)),
    "store probe": (lambda turn: bool(turn.verdict().evidence.posted), (3, 1)),
    "all, closed on weak evidence": (lambda turn: turn.verdict(settings=CLOSED).run, (3, 2)),
    "all, open on weak evidence": (lambda turn: turn.verdict().run, (6, 4)),
    "all with a model": (lambda turn: turn.verdict(with_model=True).run, (6, 2)),
}
"""Each rule with its true yes among the six turns that warrant a search, and its false yes among the six others."""


def confusion(says_yes: Callable[[LabelledTurn], bool]) -> tuple[int, int]:
    yes = [turn.wanted for turn in TURNS if says_yes(turn)]
    return yes.count(True), yes.count(False)


def test_there_are_three_turns_of_each_kind() -> None:
    for kind, wanted in KINDS.items():
        assert [turn.wanted for turn in TURNS if turn.kind == kind] == [wanted] * 3
    assert len(TURNS) == 12


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_confuses_what_it_is_known_to_confuse(rule: str) -> None:
    says_yes, expected = RULES[rule]
    true_yes, false_yes = confusion(says_yes)
    assert (true_yes, false_yes) == expected, f"{rule}: {true_yes} of 6 true yes, {false_yes} of 6 false yes"


def test_no_rule_alone_is_as_good_as_all_with_a_model() -> None:
    errors = {name: 6 - counted[0] + counted[1] for name, (_, counted) in RULES.items()}
    best = errors.pop("all with a model")
    assert all(best < each for each in errors.values())


def test_the_gate_as_shipped_misses_no_turn_that_warrants_a_search() -> None:
    assert all(turn.verdict().run for turn in TURNS if turn.wanted)


def test_the_models_answers_are_all_readable_and_right() -> None:
    for turn in TURNS:
        answer = parse_model_answer(turn.model, was_truncated=False)
        assert isinstance(answer, ModelAnswer)
        assert answer.run is turn.wanted


def test_closing_the_gate_on_weak_evidence_skips_and_says_so() -> None:
    skipped = [turn.verdict(settings=CLOSED) for turn in TURNS if turn.kind == "missing memory"]
    assert {(verdict.answer, verdict.reason) for verdict in skipped} == {(GateAnswer.SKIP, "weak_evidence")}
