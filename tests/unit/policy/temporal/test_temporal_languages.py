"""German, French and Spanish: the same rules behind other words; today is Thursday 13 March 2025 in Berlin."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from recalld.models.policy.temporal import LANGUAGES, find_intervals, temporal_language

Read = Callable[..., list[tuple[str, str, str]]]

YESTERDAY = ("2025-03-12", "2025-03-13")
LAST_WEEK = ("2025-03-03", "2025-03-10")
TWO_WEEKS_AGO = ("2025-02-24", "2025-03-03")
PAST_THREE_DAYS = ("2025-03-10T10:00", "2025-03-13T10:00")
MARCH_3 = ("2025-03-03", "2025-03-04")
MARCH_3_TO_9 = ("2025-03-03", "2025-03-10")
MARCH_3_TO_9_2022 = ("2022-03-03", "2022-03-10")
LAST_SATURDAY = ("2025-03-08", "2025-03-09")
COMING_SATURDAY = ("2025-03-15", "2025-03-16")
LEAP_DAY = ("2024-02-29", "2024-03-01")
SINCE_MONDAY = ("2025-03-10", "...")
RECENT = ("2025-02-27T10:00", "2025-03-13T10:00")

EXPRESSIONS = {
    "de": [
        ("vorgestern", "2025-03-11", "2025-03-12"),
        ("gestern", *YESTERDAY),
        ("heute", "2025-03-13", "2025-03-14"),
        ("morgen", "2025-03-14", "2025-03-15"),
        ("\u00fcbermorgen", "2025-03-15", "2025-03-16"),
        ("u\u0308bermorgen", "2025-03-15", "2025-03-16"),
        ("heute Morgen", "2025-03-13T05:00", "2025-03-13T12:00"),
        ("gestern Abend", "2025-03-12T18:00", "2025-03-13"),
        ("letzte Nacht", "2025-03-12T18:00", "2025-03-13T06:00"),
        ("letzte Woche", *LAST_WEEK),
        ("im letzten Monat", "2025-02-01", "2025-03-01"),
        ("dieses Jahr", "2025-01-01", "2026-01-01"),
        ("n\u00e4chstes Quartal", "2025-04-01", "2025-07-01"),
        ("vorletzte Woche", *TWO_WEEKS_AGO),
        ("am letzten Wochenende", "2025-03-08", "2025-03-10"),
        ("am Samstag", *LAST_SATURDAY),
        ("letzten Sonnabend", *LAST_SATURDAY),
        ("diesen Samstag", *COMING_SATURDAY),
        ("n\u00e4chsten Samstag", *COMING_SATURDAY),
        ("am Mo", "2025-03-10", "2025-03-11"),
        ("im Mai", "2024-05-01", "2024-06-01"),
        ("M\u00e4rz 2024", "2024-03-01", "2024-04-01"),
        ("letzten M\u00e4rz", "2024-03-01", "2024-04-01"),
        ("am 3. M\u00e4rz", *MARCH_3),
        ("den dritten M\u00e4rz 2025", "2025-03-03", "2025-03-04"),
        ("am Montag, dem 3. M\u00e4rz 2025", *MARCH_3),
        ("29.02.2024", *LEAP_DAY),
        ("in den letzten drei Tagen", *PAST_THREE_DAYS),
        ("seit drei Tagen", *PAST_THREE_DAYS),
        ("in der letzten Stunde", "2025-03-13T09:00", "2025-03-13T10:00"),
        ("vor zwei Wochen", *TWO_WEEKS_AGO),
        ("vor einer Stunde", "2025-03-13T08:30", "2025-03-13T09:30"),
        ("vor kurzem", *RECENT),
        ("zwischen dem 3. M\u00e4rz und dem 9. M\u00e4rz", *MARCH_3_TO_9),
        ("zwischen dem 3. und 9. M\u00e4rz", *MARCH_3_TO_9),
        ("vom 3. bis 9. M\u00e4rz 2022", *MARCH_3_TO_9_2022),
        ("von Montag bis gestern", "2025-03-10", "2025-03-13"),
        ("seit Montag", *SINCE_MONDAY),
        ("bis Freitag", "...", "2025-03-08"),
        ("vor dem 3. M\u00e4rz", "...", "2025-03-03"),
        ("nach gestern", "2025-03-13", "..."),
        ("im Jahr 2023", "2023-01-01", "2024-01-01"),
        ("am 2025-03-03", *MARCH_3),
    ],
    "fr": [
        ("avant-hier", "2025-03-11", "2025-03-12"),
        ("hier", *YESTERDAY),
        ("aujourd'hui", "2025-03-13", "2025-03-14"),
        ("aujourd\u2019hui", "2025-03-13", "2025-03-14"),
        ("demain", "2025-03-14", "2025-03-15"),
        ("apr\u00e8s-demain", "2025-03-15", "2025-03-16"),
        ("ce matin", "2025-03-13T05:00", "2025-03-13T12:00"),
        ("cet apr\u00e8s-midi", "2025-03-13T12:00", "2025-03-13T18:00"),
        ("hier soir", "2025-03-12T18:00", "2025-03-13"),
        ("la nuit derni\u00e8re", "2025-03-12T18:00", "2025-03-13T06:00"),
        ("la semaine derni\u00e8re", *LAST_WEEK),
        ("l'an dernier", "2024-01-01", "2025-01-01"),
        ("ce mois-ci", "2025-03-01", "2025-04-01"),
        ("le trimestre prochain", "2025-04-01", "2025-07-01"),
        ("le week-end dernier", "2025-03-08", "2025-03-10"),
        ("samedi", *LAST_SATURDAY),
        ("samedi dernier", *LAST_SATURDAY),
        ("ce samedi", *COMING_SATURDAY),
        ("samedi prochain", *COMING_SATURDAY),
        ("en mars", "2025-03-01", "2025-04-01"),
        ("mars 2024", "2024-03-01", "2024-04-01"),
        ("mars dernier", "2024-03-01", "2024-04-01"),
        ("le 3 mars", *MARCH_3),
        ("le lundi 3 mars 2025", *MARCH_3),
        ("le 1er mai", "2024-05-01", "2024-05-02"),
        ("le premier mai", "2024-05-01", "2024-05-02"),
        ("29/02/2024", *LEAP_DAY),
        ("ces trois derniers jours", *PAST_THREE_DAYS),
        ("depuis trois jours", *PAST_THREE_DAYS),
        ("dans la derni\u00e8re heure", "2025-03-13T09:00", "2025-03-13T10:00"),
        ("il y a deux semaines", *TWO_WEEKS_AGO),
        ("r\u00e9cemment", *RECENT),
        ("entre le 3 mars et le 9 mars", *MARCH_3_TO_9),
        ("entre le 3 et le 9 mars", *MARCH_3_TO_9),
        ("du 3 au 9 mars 2022", *MARCH_3_TO_9_2022),
        ("depuis lundi", *SINCE_MONDAY),
        ("jusqu'\u00e0 vendredi", "...", "2025-03-08"),
        ("avant le 3 mars", "...", "2025-03-03"),
        ("apr\u00e8s hier", "2025-03-13", "..."),
        ("en l'an 2023", "2023-01-01", "2024-01-01"),
        ("le 2025-03-03", *MARCH_3),
    ],
    "es": [
        ("anteayer", "2025-03-11", "2025-03-12"),
        ("antes de ayer", "2025-03-11", "2025-03-12"),
        ("ayer", *YESTERDAY),
        ("hoy", "2025-03-13", "2025-03-14"),
        ("ma\u00f1ana", "2025-03-14", "2025-03-15"),
        ("pasado ma\u00f1ana", "2025-03-15", "2025-03-16"),
        ("esta ma\u00f1ana", "2025-03-13T05:00", "2025-03-13T12:00"),
        ("anoche", "2025-03-12T18:00", "2025-03-13T06:00"),
        ("la semana pasada", *LAST_WEEK),
        ("el mes pasado", "2025-02-01", "2025-03-01"),
        ("este a\u00f1o", "2025-01-01", "2026-01-01"),
        ("el pr\u00f3ximo trimestre", "2025-04-01", "2025-07-01"),
        ("el fin de semana pasado", "2025-03-08", "2025-03-10"),
        ("el s\u00e1bado", *LAST_SATURDAY),
        ("el s\u00e1bado pasado", *LAST_SATURDAY),
        ("este s\u00e1bado", *COMING_SATURDAY),
        ("el pr\u00f3ximo s\u00e1bado", *COMING_SATURDAY),
        ("en julio", "2024-07-01", "2024-08-01"),
        ("marzo de 2024", "2024-03-01", "2024-04-01"),
        ("marzo pasado", "2024-03-01", "2024-04-01"),
        ("el 3 de marzo", *MARCH_3),
        ("el 1\u00ba de mayo", "2024-05-01", "2024-05-02"),
        ("el primero de mayo", "2024-05-01", "2024-05-02"),
        ("29/02/2024", *LEAP_DAY),
        ("en los \u00faltimos tres d\u00edas", *PAST_THREE_DAYS),
        ("desde hace tres d\u00edas", *PAST_THREE_DAYS),
        ("en la \u00faltima hora", "2025-03-13T09:00", "2025-03-13T10:00"),
        ("hace dos semanas", *TWO_WEEKS_AGO),
        ("hace un par de semanas", *TWO_WEEKS_AGO),
        ("\u00faltimamente", *RECENT),
        ("entre el 3 de marzo y el 9 de marzo", *MARCH_3_TO_9),
        ("entre el 3 y el 9 de marzo", *MARCH_3_TO_9),
        ("del 3 al 9 de marzo de 2022", *MARCH_3_TO_9_2022),
        ("desde el lunes", *SINCE_MONDAY),
        ("hasta el viernes", "...", "2025-03-08"),
        ("antes del 3 de marzo", "...", "2025-03-03"),
        ("despu\u00e9s de ayer", "2025-03-13", "..."),
        ("en el a\u00f1o 2023", "2023-01-01", "2024-01-01"),
        ("el 2025-03-03", *MARCH_3),
    ],
}
CASES = [(language, *case) for language, cases in EXPRESSIONS.items() for case in cases]
NOT_TEMPORAL = [
    ("de", "hier ist es"),
    ("de", "guten Morgen"),
    ("de", "am Morgen, am n\u00e4chsten Morgen"),
    ("de", "jeden Montag"),
    ("de", "so mo di mi"),
    ("de", "vor einer halben Stunde"),
    ("de", "der Tag vor gestern"),
    ("de", "am 31. Februar"),
    ("de", "31.02.2024"),
    ("de", "Version 1.2.2025.4"),
    ("de", "letzten Endes"),
    ("fr", "la plan\u00e8te mars"),
    ("fr", "chaque lundi"),
    ("fr", "le jour avant mars"),
    ("fr", "le 31 f\u00e9vrier 2024"),
    ("fr", "31/02/2024"),
    ("fr", "24/7"),
    ("fr", "du matin"),
    ("es", "por la ma\u00f1ana"),
    ("es", "hoy en d\u00eda"),
    ("es", "todos los lunes, cada martes"),
    ("es", "Julio me dijo"),
    ("es", "el d\u00eda antes de marzo"),
    ("es", "el 31 de febrero de 2024"),
    ("es", "31/02/2024"),
    ("es", "el \u00faltimo punto"),
]


@pytest.mark.parametrize(("language", "text", "start", "end"), CASES)
def test_an_expression_means_its_local_interval(language: str, text: str, start: str, end: str, read: Read) -> None:
    expected = [(text, start, end)]
    assert read(text, language=language) == expected
    assert read(f"x {text}, xyz", language=language) == expected


@pytest.mark.parametrize(("language", "text"), NOT_TEMPORAL)
def test_what_is_no_time_or_no_date_is_left_out(language: str, text: str, read: Read) -> None:
    assert read(text, language=language) == []


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("hier", "fr"),
        ("morgen", "de"),
        ("ma\u00f1ana", "es"),
        ("yesterday", "en"),
        ("mars 2024", "fr"),
        ("last week", "en"),
    ],
)
def test_languages_are_never_merged(text: str, language: str, read: Read) -> None:
    assert [other for other in LANGUAGES if read(text, language=other)] == [language]


@pytest.mark.parametrize("language", LANGUAGES)
def test_iso_dates_are_read_in_every_language(language: str, read: Read) -> None:
    assert read("2024-02-29", language=language) == [("2024-02-29", *LEAP_DAY)]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("what did we decide last week?", "en"),
        ("was habe ich letzte Woche gesagt?", "de"),
        ("qu'est-ce que nous avons d\u00e9cid\u00e9 la semaine derni\u00e8re ?", "fr"),
        ("qu\u00e9 hemos decidido la semana pasada?", "es"),
        ("die cast", "en"),
        ("", "en"),
    ],
)
def test_the_language_is_the_one_whose_small_words_the_text_uses(text: str, language: str) -> None:
    assert temporal_language(text) == language


def test_a_language_without_tables_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"language: 'nl' has no word tables; use one of en, de, fr, es"):
        find_intervals("gisteren", now=datetime(2025, 3, 13, tzinfo=UTC), zone=ZoneInfo("UTC"), language="nl")


def test_a_present_without_offset_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="now: has no UTC offset"):
        find_intervals("today", now=datetime(2025, 3, 13), zone=ZoneInfo("UTC"))  # noqa: DTZ001 - the fault under test
