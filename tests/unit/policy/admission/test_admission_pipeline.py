from __future__ import annotations

import pytest
from admission_policy import candidate, context, ruling
from hypothesis import given, settings
from hypothesis import strategies as st

from recalld.models.domain.facts import Disposition, FactCandidate, Generator, Span
from recalld.models.domain.position import Position
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.pipeline import rule_all, rule_on

_WORDS = st.sampled_from(
    ["we", "use", "Kafka", "if", "not", "?", ".", ",", "until", "Friday", "my", "friend", "always", "call", "me", "I",
     "used", "to", "live", "in", "Turin", "<private>", "```", '"', "\n", "nous", "pas", "wir", "nicht", "[redacted]"]
)  # fmt: skip


@pytest.mark.parametrize(
    ("generator", "reason"),
    [
        (Generator.RULE, AdmissionReason.STATED),
        (Generator.MODEL, AdmissionReason.MODEL_FOUND),
        (Generator.EXPLICIT, AdmissionReason.EXPLICIT_SAVE),
        (Generator.CONFIRMED, AdmissionReason.CONFIRMED),
    ],
)
def test_what_is_admitted_says_who_found_it(generator: Generator, reason: AdmissionReason) -> None:
    found = ruling("I live in Turin", generator=generator)

    assert (found.disposition, found.reason, found.rule) == (Disposition.RECORD, reason, "admitted")


def test_candidates_of_one_turn_are_ruled_in_their_order_each_on_its_own() -> None:
    scene = context("we're on Snowflake? no, we're on BigQuery. I live in Turin.")
    quotes = ("I live in Turin", "we're on Snowflake", "we're on BigQuery")
    found = rule_all([candidate(quote) for quote in quotes], scene)

    assert [each.candidate.quote for each in found] == list(quotes)
    assert [each.disposition for each in found] == [Disposition.RECORD, Disposition.DROP, Disposition.RECORD]
    assert list(found) == [rule_on(candidate(quote), scene) for quote in quotes]


def test_no_candidates_no_rulings() -> None:
    assert rule_all((), context("I live in Turin")) == ()


@pytest.mark.parametrize("generator", [Generator.EXPLICIT, Generator.CONFIRMED])
def test_a_command_to_remember_is_not_judged_for_modality_again(generator: Generator) -> None:
    assert ruling("remember that {we are not on Redshift}", generator=generator).disposition is Disposition.RECORD


def test_a_ruling_quotes_the_words_that_decided() -> None:
    assert ruling("we probably use Kafka").evidence == ("probably",)


@settings(max_examples=150)
@given(
    words=st.lists(_WORDS, min_size=1, max_size=25),
    start=st.integers(0, 60),
    length=st.integers(1, 60),
    generator=st.sampled_from(Generator),
)
def test_every_candidate_gets_one_ruling_and_a_looser_position_never_lowers_it(
    words: list[str], start: int, length: int, generator: Generator
) -> None:
    text = " ".join(words)
    order = list(Disposition)
    spanned = FactCandidate(
        statement="The user uses Kafka",
        span=Span(start=start, end=start + length),
        generator=generator,
        rule="test",
    )
    ranks = []
    for position in (Position.STRICT, Position.BALANCED, Position.OPEN):
        (found,) = rule_all((spanned,), context(text, position=position))
        assert found.candidate.statement == spanned.statement
        assert len(found.evidence) <= 3
        ranks.append(order.index(found.disposition))

    assert ranks == sorted(ranks, reverse=True)
