from __future__ import annotations

import pytest

from recalld.models.domain.admission import OfferedFact
from recalld.models.domain.facts import Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.domain.records import MemoryKind
from recalld.models.policy.explicit_save import examine_saves
from recalld.models.policy.save_turn import prepare_turn
from recalld.models.policy.turn_facts import CUT_RULE, OFFER_RULE, SAVE_RULE, read_turn

SECRET = "AKIAABCDEFGHIJKLMNOP"  # noqa: S105 - made up
OFFER = OfferedFact(
    statement="The user's bike is blue.",
    kind=MemoryKind.ENTITY,
    scope="garage",
    quote="my bike is blue",
    cues=("Bike",),
    asks=("Which colour?",),
    expires_at_ms=5,
    slot="bike",
)


def test_every_generator_works_on_the_same_words() -> None:
    text = "Remember that lunch is at noon. I work at Initech, and my bike is blue."
    facts = read_turn(text, (OFFER,), client="netclaw")
    by = {candidate.generator: candidate for candidate in facts.candidates}
    assert set(by) == {Generator.EXPLICIT, Generator.RULE, Generator.MODEL}
    for candidate in (by[Generator.EXPLICIT], by[Generator.RULE]):
        assert candidate.span is not None
        assert facts.turn.text[candidate.span.start : candidate.span.end] == candidate.quote
    assert by[Generator.EXPLICIT].rule == SAVE_RULE


def test_an_offer_comes_through_with_everything_but_a_place() -> None:
    (candidate,) = read_turn("my bike is blue", (OFFER,), client="netclaw", has_rules=False).candidates
    assert (candidate.statement, candidate.kind, candidate.scope, candidate.quote) == (
        *(OFFER.statement, OFFER.kind, OFFER.scope),
        OFFER.quote,
    )
    assert (candidate.cues, candidate.asks, candidate.expires_at_ms, candidate.slot) == (
        *(OFFER.cues, OFFER.asks, OFFER.expires_at_ms),
        "",  # no shipped slot or rule knows it, so nothing says that it fits
    )
    assert (candidate.span, candidate.rule) == (None, "netclaw")
    (nameless,) = read_turn("my bike is blue", (OFFER,), has_rules=False).candidates
    assert nameless.rule == OFFER_RULE


def test_secrets_are_gone_before_anything_else_sees_the_turn() -> None:
    offered = OfferedFact(
        statement=f"The key is {SECRET}.", quote=f"key is {SECRET}", cues=(SECRET,), asks=(f"Is it {SECRET}?",)
    )
    facts = read_turn(f"Remember that the key is {SECRET} for now.", (offered,))
    assert SECRET not in str(facts)
    assert {candidate.generator for candidate in facts.candidates} >= {Generator.EXPLICIT, Generator.MODEL}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("What a nice day.", AdmissionReason.NOTHING_STATED),
        ("", AdmissionReason.NO_USER_TEXT),
        ("<system-reminder>always answer in metric</system-reminder>", AdmissionReason.NO_USER_TEXT),
        ("Do you remember anything about Heidi?", AdmissionReason.QUESTION),
        ("I remember that day well.", AdmissionReason.NOT_EXPLICIT),
    ],
)
def test_a_turn_in_which_nothing_is_found_has_a_reason(text: str, reason: AdmissionReason) -> None:
    facts = read_turn(text)
    assert (facts.candidates, facts.reason) == ((), reason)
    assert [each.reason for each in facts.dropped] in ([], [reason])


@pytest.mark.parametrize(
    "text",
    ["I work at Initech. Don't remember that.", "Please remember that I don't want this saved: I work at Initech."],
)
def test_a_refusal_leaves_nothing_of_the_turn_but_what_was_asked_for(text: str) -> None:
    facts = read_turn(f"{text}\n\nRemember that lunch is at noon.", (OFFER,))
    assert [candidate.generator for candidate in facts.candidates] == [Generator.EXPLICIT]
    assert facts.is_refused
    assert {each.reason for each in facts.dropped} == {AdmissionReason.REFUSED_IN_COMMAND}
    assert Generator.MODEL in {each.generator for each in facts.dropped}


def test_a_word_for_remembering_that_was_no_command_is_told_only_where_nothing_else_was_found() -> None:
    assert read_turn("I remember well that I work at Initech.").dropped == ()
    (told,) = read_turn("I remember that day well.").dropped
    assert (told.reason, told.generator, told.source_rule) == (
        *(AdmissionReason.NOT_EXPLICIT, Generator.EXPLICIT),
        SAVE_RULE,
    )


def test_without_rules_only_saves_and_offers_are_found() -> None:
    assert read_turn("I work at Initech.", has_rules=False).candidates == ()


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("I use tabs. Remember that.", ["I use tabs."]),
        (
            "Remember: lunch is at noon. And remember that dinner is late.",
            ["lunch is at noon. And remember that dinner is late."],
        ),
        ("Lunch is late. Remember that lunch is late.", ["lunch is late."]),
    ],
)
def test_a_save_says_where_its_statement_stands(text: str, statements: list[str]) -> None:
    turn = prepare_turn(text)
    saves = examine_saves(turn).saves
    assert [found.save.statement for found in saves] == statements
    assert [turn.text[found.span.start : found.span.end] for found in saves] == statements


@pytest.mark.parametrize(
    "text",
    [
        "Filler of some length. " * 400,  # longer than the rules read
        "Filler of some length. " * 1_000,  # longer than what is kept of the user's words
        "<system-reminder>" + "x " * 20_000 + "</system-reminder> hello",  # longer than what is read as it was sent
        "Look at this page: <a>b</a>\n" + "see <i>b</i> " * 600,
        "a\n" * 2_000,
    ],
)
def test_a_turn_that_is_too_long_to_be_read_whole_says_so(text: str) -> None:
    assert (AdmissionReason.TOO_LONG, CUT_RULE) in {(each.reason, each.rule) for each in read_turn(text).dropped}


@pytest.mark.parametrize("text", ["Filler of some length. " * 250, "a\n" * 900, "see <i>b</i> " * 400])
def test_a_turn_that_is_read_whole_does_not(text: str) -> None:
    assert AdmissionReason.TOO_LONG not in {each.reason for each in read_turn(text).dropped}


def test_what_was_cut_out_of_a_turn_is_never_part_of_a_fact() -> None:
    halves = "Remember that my bike is blue and " + "x " * 11_000, "and " + "x " * 30_000 + ". I work at Initech."
    facts = read_turn("".join(halves))
    assert [candidate.value for candidate in facts.candidates] == ["Initech"]
    assert "\uf8fe" not in facts.turn.text
