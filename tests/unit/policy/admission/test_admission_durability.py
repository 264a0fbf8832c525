from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from admission_policy import SAID_AT, ruling, to_ms

from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason

ROME = ZoneInfo("Europe/Rome")


def midnight(year: int, month: int, day: int, zone: ZoneInfo = ROME) -> int:
    return to_ms(datetime(year, month, day, tzinfo=zone))


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("I'm in Rome until June", midnight(2026, 7, 1)),
        ("I work from Porto until 20 September", midnight(2026, 9, 21)),
        ("I'm in Rome until 2026-08-01", midnight(2026, 8, 2)),
        ("I'm on leave until March", midnight(2027, 4, 1)),
        ("Deadline is October 15th", midnight(2026, 10, 16)),
        ("Deadline is October 16th", midnight(2026, 10, 17)),
        ("Until Friday, answer in French", midnight(2026, 4, 18)),
        ("Until the end of the month, always answer in French", midnight(2026, 5, 1)),
        ("Until the end of the week, always answer in French", midnight(2026, 4, 20)),
        ("Until the end of the year I work from Porto", midnight(2027, 1, 1)),
        ("Ich bin bis Juni in Rom", midnight(2026, 7, 1)),
        ("Je suis à Rome jusqu'au 15 juin", midnight(2026, 6, 16)),
        ("Estoy en Roma hasta junio", midnight(2026, 7, 1)),
        ("Bis Ende des Monats immer auf Englisch antworten", midnight(2026, 5, 1)),
        ("Jusqu'à la fin du mois, réponds toujours en anglais", midnight(2026, 5, 1)),
        ("Hasta final de mes responde siempre en inglés", midnight(2026, 5, 1)),
        ("Bis Ende der Woche immer auf Englisch antworten", midnight(2026, 4, 20)),
        ("Jusqu'à la fin de la semaine, réponds toujours en anglais", midnight(2026, 4, 20)),
        ("Hasta final de semana responde siempre en inglés", midnight(2026, 4, 20)),
        ("Bis Ende des Jahres arbeite ich in Porto", midnight(2027, 1, 1)),
        ("Jusqu'à la fin de l'année je travaille à Porto", midnight(2027, 1, 1)),
        ("Hasta final de año trabajo en Oporto", midnight(2027, 1, 1)),
        ("Die Frist ist der 15. Oktober", midnight(2026, 10, 16)),
        ("La date limite est le 15 octobre", midnight(2026, 10, 16)),
        ("La fecha límite es el 15 de octubre", midnight(2026, 10, 16)),
    ],
)
def test_what_names_its_end_is_stored_with_the_end_of_that_local_day(text: str, end: int) -> None:
    found = ruling(text)

    assert found.disposition is Disposition.RECORD
    assert found.candidate.expires_at_ms == end


@pytest.mark.parametrize(
    "text",
    [
        "I'm in Rome this week",
        "I'm in Rome until Friday",
        "I'm in Tallinn till Sunday",
        "We say Heron until the merger",
    ],
)
def test_what_passes_soon_or_at_no_date_is_refused_as_situational(text: str) -> None:
    found = ruling(text)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.SITUATIONAL)


def test_what_the_user_asked_to_have_saved_is_stored_with_its_end_however_soon() -> None:
    found = ruling("{I'm in Rome until Friday}", generator=Generator.EXPLICIT)

    assert found.disposition is Disposition.RECORD
    assert found.candidate.expires_at_ms == midnight(2026, 4, 18)


def test_what_the_user_asked_to_have_saved_of_today_ends_with_the_day() -> None:
    found = ruling("{I'm in Rome today}", generator=Generator.EXPLICIT)

    assert found.candidate.expires_at_ms == midnight(2026, 4, 16)


def test_the_end_counts_from_when_the_turn_was_said_and_not_from_now() -> None:
    said_at = datetime(2026, 4, 15, 12, tzinfo=UTC)
    found = ruling("Until Friday, answer in French", said_at=said_at, now=said_at + timedelta(days=1))

    assert found.candidate.expires_at_ms == midnight(2026, 4, 18)


def test_what_is_over_by_now_is_expired() -> None:
    found = ruling("Until Friday, answer in French", now=SAID_AT + timedelta(days=9))

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.EXPIRED)


def test_a_date_with_a_past_year_is_expired() -> None:
    assert ruling("The deadline was set: deadline 15 October 2024").reason is AdmissionReason.EXPIRED


def test_the_day_of_a_clock_change_ends_at_its_own_midnight() -> None:  # A23
    new_york = ZoneInfo("America/New_York")
    said_at = datetime(2026, 10, 1, 12, tzinfo=UTC)
    found = ruling("I work from Porto until November 1", said_at=said_at, zone="America/New_York")

    assert found.candidate.expires_at_ms == midnight(2026, 11, 2, new_york)
    assert found.candidate.expires_at_ms == to_ms(datetime(2026, 11, 2, 5, tzinfo=UTC))


@pytest.mark.parametrize("zone", ["", "Middle/Earth"])
def test_without_a_zone_the_day_is_read_in_utc_and_a_day_is_added(zone: str) -> None:
    found = ruling("I'm in Rome until June", zone=zone)

    assert found.candidate.expires_at_ms == to_ms(datetime(2026, 7, 2, tzinfo=UTC))


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12", "Asia/Tokyo"])
@pytest.mark.parametrize("hour", range(0, 24, 5))
def test_a_record_without_a_zone_never_ends_before_the_users_day_anywhere(zone: str, hour: int) -> None:
    said_at = datetime(2026, 4, 15, hour, 59, tzinfo=UTC)
    known = ruling("{I'm in Rome today}", generator=Generator.EXPLICIT, said_at=said_at, zone=zone)
    unknown = ruling("{I'm in Rome today}", generator=Generator.EXPLICIT, said_at=said_at, zone="")

    assert known.candidate.expires_at_ms is not None
    assert unknown.candidate.expires_at_ms is not None
    assert unknown.candidate.expires_at_ms >= known.candidate.expires_at_ms


@pytest.mark.parametrize("lasts_ms", [0, -1, -86_400_000])
def test_a_candidate_whose_own_expiry_is_not_in_the_future_is_expired(lasts_ms: int) -> None:
    found = ruling("I live in Turin", expires_at_ms=to_ms(SAID_AT) + lasts_ms)

    assert found.reason is AdmissionReason.EXPIRED


def test_of_a_candidates_expiry_and_the_words_the_earlier_one_stands() -> None:
    later, earlier = midnight(2027, 1, 1), midnight(2026, 5, 20)

    assert ruling("I'm in Rome until June", expires_at_ms=later).candidate.expires_at_ms == midnight(2026, 7, 1)
    assert ruling("I'm in Rome until June", expires_at_ms=earlier).candidate.expires_at_ms == earlier


@pytest.mark.parametrize("text", ["The shop is open until six", "I never eat until noon", "I work nights"])
def test_an_hour_ends_nothing(text: str) -> None:
    found = ruling(text)

    assert (found.disposition, found.candidate.expires_at_ms) == (Disposition.RECORD, None)


@pytest.mark.parametrize("text", ["Our cash till is a Square terminal", "The till runs Linux", "My till is from 2019"])
def test_the_thing_with_the_money_is_no_end(text: str) -> None:
    found = ruling(text)

    assert (found.disposition, found.candidate.expires_at_ms) == (Disposition.RECORD, None)


@pytest.mark.parametrize("text", ["We trade with stop-loss orders", "Our today-view is the start page"])
def test_a_word_of_a_compound_is_no_evidence(text: str) -> None:
    assert ruling(text).disposition is Disposition.RECORD
