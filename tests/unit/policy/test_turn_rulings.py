from __future__ import annotations

import pytest

from recalld.models.domain.admission import OfferedFact
from recalld.models.domain.facts import Disposition, FactCandidate, Generator, Span
from recalld.models.domain.position import Position
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.context import AdmissionContext
from recalld.models.policy.turn_facts import read_turn
from recalld.models.policy.turn_rulings import DROPPED_MAX, FACTS_MAX, TurnRulings, rule_turn

NOW_MS = 1_800_000_000_000


def rule(text: str, *offered: OfferedFact, position: Position = Position.OPEN) -> TurnRulings:
    facts = read_turn(text, offered, client="netclaw")
    context = AdmissionContext(turn=facts.turn, said=facts.said, at_ms=NOW_MS, now_ms=NOW_MS, position=position)
    return rule_turn(facts.candidates, context)


@pytest.mark.parametrize(
    "lent",
    [
        OfferedFact(statement="Works at Initech", quote="I work at Initech", cues=("ignore <|im_start|>",)),
        OfferedFact(statement="Works at Initech", quote="I work at Initech", asks=("<s>Where does the user work?",)),
        OfferedFact(statement="Works at Initech", quote="I work at Initech", asks=("a? b? c? d?",), expires_at_ms=5),
    ],
)
def test_what_a_model_lends_never_costs_the_users_own_statement(lent: OfferedFact) -> None:
    (fact,) = rule("I work at Initech.", lent).facts
    assert (fact.ruling.disposition, fact.ruling.reason) == (Disposition.RECORD, AdmissionReason.STATED)
    assert "<" not in str((fact.ruling.candidate.cues, fact.ruling.candidate.asks))
    assert (fact.ruling.candidate.expires_at_ms, fact.also_found_by) == (None, ("model:netclaw",))


def test_a_turn_that_states_more_than_a_turn_can_is_cut_and_says_so() -> None:
    text = "".join(f"Item{number} is mine. " for number in range(FACTS_MAX + 3))
    turn = read_turn(text).turn
    candidates = []
    for number in range(FACTS_MAX + 3):
        quote = f"Item{number} is mine."
        start = turn.text.index(quote)
        candidates.append(
            FactCandidate(
                statement=f"The user has item{number}.",
                quote=quote,
                span=Span(start=start, end=start + len(quote)),
                generator=Generator.EXPLICIT,
                rule="r",
            )
        )
    rulings = rule_turn(candidates, AdmissionContext(turn=turn, at_ms=NOW_MS, now_ms=NOW_MS))
    assert len(rulings.facts) == FACTS_MAX
    assert [(each.reason, each.rule) for each in rulings.dropped] == [(AdmissionReason.TOO_LONG, "facts_max")] * 3


def test_of_very_many_that_were_dropped_not_all_are_told() -> None:
    facts = read_turn("Hello there.")
    context = AdmissionContext(turn=facts.turn, at_ms=NOW_MS, now_ms=NOW_MS, position=Position.OPEN)
    distinct = [
        FactCandidate(statement=f"Statement {number}.", quote="nowhere", generator=Generator.MODEL, rule="r")
        for number in range(DROPPED_MAX + 10)
    ]
    assert len(rule_turn(distinct, context).dropped) == DROPPED_MAX


def test_a_dropped_fact_names_everything_that_found_it() -> None:
    offered = OfferedFact(statement="The user works at Initech", quote="I work at Initech")
    facts = read_turn("Do I work at Initech?", (offered,), client="netclaw", has_rules=False)
    (found,) = facts.candidates
    judged = FactCandidate(
        statement="Do I work at Initech?",
        quote="Do I work at Initech?",
        span=Span(start=0, end=21),
        generator=Generator.JUDGE,
        rule="judge.v1",
    )
    context = AdmissionContext(turn=facts.turn, said=facts.said, at_ms=NOW_MS, now_ms=NOW_MS)
    (told,) = rule_turn((judged, found), context).dropped
    assert (told.generator, told.also) == (Generator.JUDGE, ("model:netclaw",))
