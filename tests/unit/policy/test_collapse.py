from __future__ import annotations

from itertools import permutations

import msgspec
import pytest

from recalld.models.domain.facts import FactCandidate, Generator, Span
from recalld.models.domain.position import Position
from recalld.models.policy.collapse import collapse, generator_order, is_same_fact

STRICT, BALANCED, OPEN = Position


def found(generator: Generator, statement: str, span: tuple[int, int] | None, **fields: object) -> FactCandidate:
    place = None if span is None else Span(start=span[0], end=span[1])
    return FactCandidate(generator=generator, rule="r", statement=statement, span=place, **fields)  # type: ignore[arg-type]


RULE = found(Generator.RULE, "The user works at Initech.", (0, 17), slot="employer", value="Initech")
JUDGE = found(Generator.JUDGE, "I work at Initech and live in Bern.", (0, 35))
MODEL = found(
    Generator.MODEL,
    "Employed by Initech.",
    (2, 17),
    cues=("Job",),
    asks=("Where does the user work?",),
    expires_at_ms=9,
)


@pytest.mark.parametrize("order", list(permutations((RULE, JUDGE, MODEL))))
def test_what_three_generators_found_in_one_sentence_is_one_fact(order: tuple[FactCandidate, ...]) -> None:
    (fact,) = collapse(order, STRICT)
    assert (fact.candidate.generator, fact.candidate.statement) == (Generator.RULE, RULE.statement)
    assert fact.also_found_by == ("judge:r", "model:r")


def test_what_the_best_reading_lacks_the_others_lend() -> None:
    (fact,) = collapse((RULE, MODEL), BALANCED)
    assert (fact.candidate.cues, fact.candidate.asks) == (("Job",), ("Where does the user work?",))
    assert (fact.bare.cues, fact.bare.asks) == ((), ())
    own = msgspec.structs.replace(RULE, cues=("Own",))
    (fact,) = collapse((own, MODEL), BALANCED)
    assert fact.candidate.cues == ("Own",)


def test_a_model_that_may_not_write_lends_no_words_either() -> None:
    (fact,) = collapse((RULE, MODEL), STRICT)
    assert (fact.candidate, fact.also_found_by) == (RULE, ("model:r",))


@pytest.mark.parametrize("lead", [RULE, found(Generator.EXPLICIT, "I work at Initech", (0, 17))])
def test_nobody_says_when_the_users_own_statement_ends(lead: FactCandidate) -> None:
    (fact,) = collapse((lead, MODEL), BALANCED)
    assert fact.candidate.expires_at_ms is None
    (judged,) = collapse((JUDGE, MODEL), BALANCED)
    assert judged.candidate.expires_at_ms == 9


def test_questions_that_are_stuffing_are_not_lent() -> None:
    stuffed = msgspec.structs.replace(MODEL, asks=("Who? What? Where? When?",))
    (fact,) = collapse((RULE, stuffed), OPEN)
    assert (fact.candidate.cues, fact.candidate.asks) == (("Job",), ())


def test_a_models_reading_stands_before_the_judges_only_where_it_may_write() -> None:
    (strict,) = collapse((JUDGE, MODEL), STRICT)
    (opened,) = collapse((JUDGE, MODEL), OPEN)
    assert (strict.candidate.generator, opened.candidate.generator) == (Generator.JUDGE, Generator.MODEL)


def test_two_facts_of_one_sentence_stay_two_and_the_sentence_speaks_for_both() -> None:
    second = found(Generator.RULE, "The user lives in Bern.", (22, 35), slot="location", value="Bern")
    facts = collapse((second, JUDGE, RULE), STRICT)
    assert [fact.candidate.slot for fact in facts] == ["employer", "location"]
    assert [fact.also_found_by for fact in facts] == [("judge:r",), ("judge:r",)]


@pytest.mark.parametrize(
    "other",
    [
        msgspec.structs.replace(RULE, is_ending=True),  # an end is no beginning
        found(Generator.MODEL, "The user is an engineer.", (0, 17), slot="role"),  # another slot
        found(Generator.MODEL, "The user works at Globex.", (0, 17), slot="employer", value="Globex"),  # another value
        found(Generator.RULE, "The user works in Bern.", (0, 17)),  # what one generator calls two facts
        found(Generator.MODEL, "The user works at Globex.", (17, 20)),  # side by side
        found(Generator.MODEL, "The user works at Globex.", None),  # found nowhere
    ],
)
def test_what_may_be_another_fact_stays_one(other: FactCandidate) -> None:
    assert not is_same_fact(RULE, other)
    assert len(collapse((RULE, other), STRICT)) == 2


@pytest.mark.parametrize(
    "other",
    [
        found(Generator.RULE, "the user works at INITECH", (40, 50)),  # the same words elsewhere in the turn
        found(Generator.RULE, "Initech employs the user.", (40, 50), slot="employer", value="initech"),
        found(Generator.MODEL, "The user works at Initech", None, slot="employer"),  # a slot without a value
    ],
)
def test_the_same_statement_or_value_twice_is_one_fact(other: FactCandidate) -> None:
    assert is_same_fact(other, RULE)
    assert len(collapse((RULE, other), STRICT)) == 1


def test_a_save_takes_the_slot_of_a_rule_that_is_about_most_of_it() -> None:
    save = found(Generator.EXPLICIT, "I work at Initech", (0, 17))
    (fact,) = collapse((RULE, save), STRICT)
    assert (fact.candidate.generator, fact.candidate.slot, fact.candidate.value) == (
        Generator.EXPLICIT,
        "employer",
        "Initech",
    )


def test_a_save_of_two_facts_takes_the_slot_of_neither() -> None:
    save = found(Generator.EXPLICIT, "I work at Initech and live in Bern.", (0, 35))
    (fact,) = collapse((RULE, save), STRICT)
    assert (fact.candidate.slot, fact.also_found_by) == ("", ("rule:r",))
    second = found(Generator.RULE, "The user is an engineer.", (0, 30), slot="role", value="engineer")
    (fact,) = collapse((msgspec.structs.replace(RULE, span=Span(start=0, end=30)), second, save), STRICT)
    assert fact.candidate.slot == ""


def test_a_lead_without_a_place_takes_a_slot_only_from_its_own_words() -> None:
    save = found(Generator.EXPLICIT, RULE.statement, None)
    assert collapse((RULE, save), STRICT)[0].candidate.slot == "employer"


def test_facts_come_in_the_order_in_which_they_were_said() -> None:
    facts = [found(Generator.RULE, f"Fact {place}.", (place, place + 1)) for place in (30, 10, 20)]
    lost = found(Generator.MODEL, "Fact nowhere.", None)
    told = [fact.candidate.statement for fact in collapse((lost, *facts), STRICT)]
    assert told == ["Fact 10.", "Fact 20.", "Fact 30.", "Fact nowhere."]


@pytest.mark.parametrize("position", Position)
def test_every_generator_has_a_place_in_every_order(position: Position) -> None:
    assert set(generator_order(position)) == set(Generator)


def test_the_judge_takes_an_end_for_a_statement_and_is_not_believed() -> None:
    end = found(
        Generator.RULE, "The user no longer works at Acme.", (0, 24), slot="employer", value="Acme", is_ending=True
    )
    judged = found(Generator.JUDGE, "I no longer work at Acme.", (0, 24))
    (fact,) = collapse((end, judged), STRICT)
    assert fact.candidate == end
    more = found(Generator.JUDGE, "I no longer work at Acme, and I run a bakery now.", (0, 48))
    assert len(collapse((end, more), STRICT)) == 2
