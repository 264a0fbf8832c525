"""The word tables: every phrase is reachable, every table is needed, every rule is in every language."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import pytest

from recalld.models.policy.temporal import LANGUAGES, TemporalRule, find
from recalld.models.policy.temporal.confidence import _BY_RULE
from recalld.models.policy.temporal.phrases import INTERVAL_RULES, PhraseTree, expand, phrase_tree
from recalld.models.policy.temporal.resolve import _RULES
from recalld.models.policy.temporal.slots import Slot
from recalld.models.policy.temporal.tokens import tokenize
from recalld.models.policy.temporal.words import PhraseEntry, TemporalWords, shipped_words

MADE_OF_OTHERS = {
    TemporalRule.RANGE,
    TemporalRule.SINCE,
    TemporalRule.UNTIL,
    TemporalRule.BEFORE,
    TemporalRule.AFTER,
}

Read = Callable[..., list[tuple[str, str, str]]]

DAY_ORDINALS = {"en": "3rd", "fr": "1er", "es": "3ro"}
TODAY = {"en": "today", "de": "heute", "fr": "aujourd'hui", "es": "hoy"}


def first_word(words: dict[str, tuple[str, ...]]) -> str:
    return next(iter(words.values()))[0]


def examples(language: str) -> dict[Slot, str]:
    """A word that fills each slot."""
    words = shipped_words()[language]
    month, weekday, some = words.months[0][0], words.weekdays[0][0], words.articles[0]
    return {
        Slot.MONTH: month,
        Slot.ANY_MONTH: month,
        Slot.CLEAR_MONTH: month,
        Slot.PROPER_MONTH: month.capitalize(),
        Slot.WEEKDAY: weekday,
        Slot.CLEAR_WEEKDAY: weekday,
        Slot.DAY: "3",
        Slot.LAST_DAY: "9",
        Slot.ORDINAL_DAY: DAY_ORDINALS.get(language, "3"),
        Slot.WORD_DAY: next(iter(words.day_words)),
        Slot.MONTH_NUMBER: "4",
        Slot.YEAR: "2024",
        Slot.UNIT: first_word({unit.value: synonyms for unit, synonyms in words.units.items()}),
        Slot.PERIOD: first_word({unit.value: synonyms for unit, synonyms in words.periods.items()}),
        Slot.PART: first_word({part.value: synonyms for part, synonyms in words.parts.items()}),
        Slot.COUNT: next(word for word, value in words.counts.items() if value > 1),
        Slot.SOME: some,
        Slot.ISO: "2024-02-29",
        Slot.DATE_END: "",
        Slot.POINT: TODAY[language],
        Slot.NAMED_POINT: TODAY[language],
    }


def written(phrase: str, language: str) -> Iterator[str]:
    """The phrase in all its variants, with examples in its slots."""
    filled = examples(language)
    for variant in expand(phrase):
        yield " ".join(filled[part] if isinstance(part, Slot) else part for part in variant).strip()


def entries(language: str) -> list[PhraseEntry]:
    return [entry for entry in shipped_words()[language].phrases if not entry.is_inner]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_phrase_of_the_tables_is_found_whole_and_by_its_rule(language: str) -> None:
    tree = phrase_tree(language)
    for entry in entries(language):
        for phrase in entry.phrases:
            for text in written(phrase, language):
                tokens = tokenize(f"x {text}")
                match = tree.longest(tokens, 1)
                assert match is not None, text
                assert match.end == len(tokens), text
                assert match.entry is not None, text
                assert (match.entry.rule, match.entry.offset) == (entry.rule, entry.offset), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_blocker_of_the_tables_swallows_its_words(language: str) -> None:
    tree = phrase_tree(language)
    for blocker in shipped_words()[language].blockers:
        for text in written(blocker, language):
            tokens = tokenize(f"x {text}")
            match = tree.longest(tokens, 1)
            assert match is not None, text
            assert match.end == len(tokens), text
            assert match.entry is None, text


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_rule(language: str) -> None:
    known = {entry.rule for entry in shipped_words()[language].phrases}
    # English writes 3/4/2024 for two different days, so it reads no numeric dates.
    assert set(TemporalRule) - known == ({TemporalRule.NUMERIC_DATE} if language == "en" else set())


def test_every_rule_has_a_meaning_and_a_confidence() -> None:
    assert set(_RULES) == set(TemporalRule)
    assert set(_BY_RULE) == set(TemporalRule) - MADE_OF_OTHERS
    assert MADE_OF_OTHERS < INTERVAL_RULES


PROBES = {
    "en": {
        "months": "in March",
        "short_months": "in Dec",
        "homographs": "we march on",
        "modals": "in may be",
        "modal_followers": "in may be",
        "weekdays": "Monday",
        "short_weekdays": "on Sat",
        "units": "3 days ago",
        "periods": "last week",
        "parts": "this morning",
        "counts": "two days ago",
        "articles": "a day ago",
        "day_suffixes": "March 3rd",
        "day_words": "the first of May",
        "after_dates": "march 3 was",
        "phrases": "yesterday",
        "blockers": "every Monday",
    },
    "de": {
        "months": "im M\u00e4rz",
        "short_months": "im Dez",
        "weekdays": "Montag",
        "short_weekdays": "am Mo",
        "units": "vor 3 Tagen",
        "periods": "letzte Woche",
        "parts": "heute Abend",
        "counts": "vor zwei Tagen",
        "articles": "vor einem Tag",
        "day_words": "am dritten M\u00e4rz",
        "after_dates": "in 2024 war",
        "phrases": "gestern",
        "blockers": "guten Morgen",
    },
    "fr": {
        "months": "en mars",
        "short_months": "en D\u00e9c",
        "homographs": "mars",
        "weekdays": "lundi",
        "units": "il y a 3 jours",
        "periods": "la semaine derni\u00e8re",
        "parts": "ce matin",
        "counts": "il y a deux jours",
        "articles": "il y a un jour",
        "day_suffixes": "le 1er mai",
        "day_words": "le premier mai",
        "after_dates": "en 2024 nous",
        "phrases": "hier",
        "blockers": "chaque lundi",
    },
    "es": {
        "months": "en marzo",
        "short_months": "en Dic",
        "homographs": "julio",
        "weekdays": "lunes",
        "units": "hace 3 d\u00edas",
        "periods": "la semana pasada",
        "parts": "esta ma\u00f1ana",
        "counts": "hace dos d\u00edas",
        "articles": "hace un d\u00eda",
        "day_suffixes": "el 1ro de mayo",
        "day_words": "el primero de mayo",
        "after_dates": "en 2024 hemos",
        "phrases": "ayer",
        "blockers": "por la ma\u00f1ana",
    },
}
"""For each table that a language fills, a text that is read otherwise without it."""


def emptied(words: TemporalWords, field: str) -> TemporalWords:
    value = getattr(words, field)
    return msgspec.structs.replace(words, **{field: {} if isinstance(value, dict) else ()})


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_table_that_is_filled_has_a_probe(language: str) -> None:
    fields = TemporalWords.__struct_fields__
    assert {field for field in fields if getattr(shipped_words()[language], field)} == set(PROBES[language])


@pytest.mark.parametrize(
    ("language", "field", "text"),
    [(language, field, text) for language, probes in PROBES.items() for field, text in probes.items()],
)
def test_emptying_a_table_changes_what_is_found(
    language: str, field: str, text: str, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = f"x {text}"
    before = read(sentence, language=language)
    tree = PhraseTree(emptied(shipped_words()[language], field))
    monkeypatch.setattr(find, "phrase_tree", lambda _language: tree)
    assert read(sentence, language=language) != before


def test_a_phrase_with_an_unknown_slot_is_refused() -> None:
    with pytest.raises(ValueError, match="fortnight"):
        list(expand("last {fortnight}"))


def test_the_notation_expands_to_plain_variants() -> None:
    assert list(expand("[the|an] (past|last) {count} days")) == [
        ("past", Slot.COUNT, "days"),
        ("last", Slot.COUNT, "days"),
        ("the", "past", Slot.COUNT, "days"),
        ("the", "last", Slot.COUNT, "days"),
        ("an", "past", Slot.COUNT, "days"),
        ("an", "last", Slot.COUNT, "days"),
    ]
    assert list(expand("aujourd'hui [{year}]")) == [("aujourd", "'", "hui"), ("aujourd", "'", "hui", Slot.YEAR)]
