from __future__ import annotations

import pytest
from admission_policy import candidate, context, ruling

from recalld.models.domain.facts import Disposition, FactCandidate, Generator, Span
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.pipeline import rule_on
from recalld.models.policy.admission.quoted_words import find_literally


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("I live in Turin", "Well, I live in Turin.", "I live in Turin"),
        ("i LIVE in turin.", "Well, I live in Turin.", "I live in Turin"),
        ("I  live\nin Turin", "I live in Turin", "I live in Turin"),
        ("I\u2019m Ines", "I'm Ines", "I'm Ines"),
        ("I'm Ines", "I\u2019m Ines", "I\u2019m Ines"),
        ("\u201cI live in Turin\u201d", "I live in Turin", "I live in Turin"),
        ("call me \u201cZed\u201d", 'call me "Zed"', 'call me "Zed'),
        ("live in Tur", "I live in Turin", None),
        ("ive in Turin", "I live in Turin", None),
        ("I live in Rome", "I live in Turin", None),
        ("", "I live in Turin", None),
        ("...", "I live ... in Turin", None),
    ],
)
def test_a_quote_is_found_literally_but_for_case_space_and_marks(quote: str, text: str, found: str | None) -> None:
    span = find_literally(quote, text)

    assert (None if span is None else text[span.start : span.end]) == found


def test_a_quote_that_no_turn_of_the_user_holds_is_not_the_users() -> None:  # A11
    scene = context("ok")
    found = rule_on(candidate("I'll schedule your export for 02:00 CET.", generator=Generator.MODEL), scene)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.NOT_USER_STATED)


def test_a_model_without_a_quote_says_nothing_of_the_user() -> None:
    scene = context("I live in Turin")
    bare = FactCandidate(statement="The user lives in Turin", generator=Generator.MODEL, rule="test")

    assert rule_on(bare, scene).reason is AdmissionReason.NOT_USER_STATED


def test_a_quote_from_a_private_span_is_private() -> None:
    scene = context("Hi. <private>I live in Turin</private>")

    assert rule_on(candidate("I live in Turin"), scene).reason is AdmissionReason.PRIVATE


def test_a_quote_from_a_quoted_line_is_a_quotation() -> None:
    scene = context("> I live in Turin\nWho wrote that")

    assert rule_on(candidate("I live in Turin"), scene).reason is AdmissionReason.QUOTATION


def test_a_span_is_trusted_only_where_it_holds_the_quote() -> None:
    scene = context("No. I live in Turin")
    wrong = FactCandidate(
        statement="x", quote="I live in Turin", span=Span(start=0, end=3), generator=Generator.RULE, rule="test"
    )

    assert rule_on(wrong, scene).candidate.span == Span(start=4, end=19)


@pytest.mark.parametrize("span", [Span(start=0, end=999), Span(start=-1, end=2), Span(start=5, end=5)])
def test_a_span_outside_of_the_turn_finds_nothing(span: Span) -> None:
    scene = context("I live in Turin")
    wrong = FactCandidate(statement="x", span=span, generator=Generator.RULE, rule="test")

    assert rule_on(wrong, scene).reason is AdmissionReason.NOT_USER_STATED


def test_a_ruling_brings_the_span_it_found() -> None:
    assert ruling("Hello. {I live in Turin}.").candidate.span == Span(start=7, end=22)
