from __future__ import annotations

import numpy as np
import pytest
from judged_rows import embed, make_rows

from recalld.models.calibration.admission_calibrate import AdmissionInfo, calibrate_admission
from recalld.models.calibration.admission_record import AdmissionRecord
from recalld.models.domain.facts import Generator
from recalld.models.domain.records import MemoryKind
from recalld.models.policy.judge.find import (
    FINDS_MAX,
    JudgeThresholds,
    found_facts,
    found_places,
    judge_sentences,
    judge_texts,
    kind_of,
)
from recalld.models.policy.judge.model import Judge
from recalld.models.policy.judge.phrases import read_phrases
from recalld.models.policy.judge.segments import split_segments
from recalld.models.policy.judge.wording import statement_of
from recalld.models.policy.save_turn import prepare_turn

INFO = AdmissionInfo(id="test", date="2026-11-30", provenance="a test", embedder_key="words", corpus_sha256="0")
ALL = JudgeThresholds(balanced=-1e9, strict=1e9)


@pytest.fixture(scope="module")
def record() -> AdmissionRecord:
    return calibrate_admission(make_rows(), embed, INFO)


def test_a_find_quotes_the_sentence_and_says_how_sure_it_is(record: AdmissionRecord) -> None:
    turn = prepare_turn("Good morning! We use Consul here. Thanks.")
    vectors = [embed(text) for text in judge_texts(turn).texts]
    (found,) = judge_sentences(turn, vectors, Judge.of(record.model), ALL, rule="test")
    assert found.span is not None
    assert turn.text[found.span.start : found.span.end] == found.quote == "We use Consul here"
    assert (found.statement, found.generator, found.rule) == (
        "The user's team uses Consul here.",
        Generator.JUDGE,
        "test",
    )
    assert found.score is not None
    above = JudgeThresholds(balanced=found.score + 0.001, strict=found.score + 1)
    assert judge_sentences(turn, vectors, Judge.of(record.model), above) == ()


def test_a_turn_of_code_alone_needs_no_vector_and_finds_nothing(record: AdmissionRecord) -> None:
    turn = prepare_turn("```\nwe use tabs\n```")
    assert judge_texts(turn).texts == ()
    assert judge_sentences(turn, [], Judge.of(record.model), ALL) == ()


def test_the_best_segments_count_and_no_more_than_allowed() -> None:
    assert found_places((0.1, 0.9, 0.5), 0.0) == (1,)
    assert len(found_places((1.0,) * 9, 0.0)) == FINDS_MAX
    assert found_places((0.1, 0.2), 0.3) == ()
    assert found_places((), 0.0) == ()


def test_a_language_without_means_of_its_own_is_read_as_english(record: AdmissionRecord) -> None:
    judge = Judge.of(record.model)
    vector = np.asarray([embed("We use Consul")], dtype=np.float64)
    flags = np.zeros((1, len(record.model.flags)))
    turn = prepare_turn("We use Consul")
    phrases = read_phrases(turn, split_segments(turn))
    assert judge.log_odds(vector, vector[0], flags, phrases, "xx") == judge.log_odds(
        vector, vector[0], flags, phrases, "en"
    )


@pytest.mark.parametrize(
    ("text", "language", "statement"),
    [
        ("my dog is called Biscuit", "en", "The user's dog is called Biscuit."),
        ("fix this Makefile, we're on FreeBSD 14", "en", "The user's team is on FreeBSD 14."),
        ("I never want you to use emojis", "en", "The user never wants the assistant to use emojis."),
        ("Actually Noor's swimming moved to Thursdays", "en", "Noor's swimming moved to Thursdays."),
        ("No, I work from Ghent these days", "en", "The user works from Ghent these days."),
        ("No meetings on Fridays, ever", "en", "No meetings on Fridays, ever."),
        ("since I'm vegetarian", "en", "The user is vegetarian."),
        ("since Monday I work from home", "en", "Since Monday the user works from home."),
        ("I no longer work at Initech", "en", "The user no longer works at Initech."),
        ("I now lived through that", "en", "The user now lived through that."),
        ("we deploy\n  on Fridays!", "en", "The user's team deploys on Fridays!"),
        (
            "Also we've moved our builds to Nix, and I like it",
            "en",
            "The user's team has moved their builds to Nix, and the user likes it.",
        ),
        ("We have two cats and a parrot", "en", "We have two cats and a parrot."),
        ("It's my driving test on May 4th, remind me to sleep", "en", "It's the user's driving test on May 4th."),
        ("When I send a log, please read it first", "en", "When the user sends a log, please read it first."),
        ("je travaille \u00e0 Lyon", "fr", "Je travaille \u00e0 Lyon."),
    ],
)
def test_a_statement_is_the_users_own_words_in_english_in_the_third_person(
    text: str, language: str, statement: str
) -> None:
    assert statement_of(text, language) == statement


@pytest.mark.parametrize(
    ("turn", "quotes"),
    [
        ("Never mind.", []),
        ("Oh, scratch that!", []),
        ("Memo to self: order more toner in April.", []),
        ("Never mind the gap in the docs.", ["Never mind the gap in the docs"]),
        ("Never mind. We use Consul here.", ["We use Consul here"]),
    ],
)
def test_a_stock_phrase_or_a_note_to_oneself_is_no_find_and_hides_none(turn: str, quotes: list[str]) -> None:
    prepared = prepare_turn(turn)
    segments = split_segments(prepared)
    scores = [9.0, 1.0][: len(segments)]
    assert [each.quote for each in found_facts(prepared, segments, scores, 0.0)] == quotes


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("we deploy with Nomad", MemoryKind.CONVENTION),
        ("always answer in French", MemoryKind.PREFERENCE),
        ("my sister runs a bakery", MemoryKind.ENTITY),
        ("I live near Ghent", MemoryKind.FACT),
    ],
)
def test_the_kind_is_guessed_by_the_words(text: str, kind: MemoryKind) -> None:
    assert kind_of(split_segments(prepare_turn(text))[0], "en") is kind


def test_a_strict_threshold_below_the_balanced_one_is_refused() -> None:
    with pytest.raises(ValueError, match="must not lie below"):
        JudgeThresholds(balanced=1.0, strict=0.5)
