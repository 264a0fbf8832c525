from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.policy.expiry import EPOCH_MS_MAX, parse_expiry, parse_ttl

NEW_YORK = ZoneInfo("America/New_York")
KIRITIMATI = ZoneInfo("Pacific/Kiritimati")


def utc_ms(*parts: int) -> int:
    return int(datetime(*parts, tzinfo=UTC).timestamp() * 1000)  # type: ignore[arg-type,misc]


NOW_MS = utc_ms(2026, 10, 1)


def test_a_date_is_the_end_of_that_day_in_the_users_zone_across_a_clock_change() -> None:  # A23
    expires_at_ms = parse_expiry("2026-11-01", now_ms=NOW_MS, zone=NEW_YORK)
    assert utc_ms(2026, 11, 2, 3, 59) < expires_at_ms
    assert expires_at_ms == utc_ms(2026, 11, 2, 5)
    assert expires_at_ms < utc_ms(2026, 11, 2, 5, 1)


def test_a_date_ends_fourteen_hours_early_far_in_the_east() -> None:
    assert parse_expiry("2026-11-01", now_ms=NOW_MS, zone=KIRITIMATI) == utc_ms(2026, 11, 1, 10)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-11-01T00:00:00Z", utc_ms(2026, 11, 1)),
        ("2026-11-01t00:00:00z", utc_ms(2026, 11, 1)),
        ("2026-11-01T00:00:00+14:00", utc_ms(2026, 10, 31, 10)),
        ("2026-11-01 00:00-05:00", utc_ms(2026, 11, 1, 5)),
        ("2026-11-01T00:00:00.123456Z", utc_ms(2026, 11, 1) + 123),
        (" 2026-11-01T00:00:00Z ", utc_ms(2026, 11, 1)),
        (utc_ms(2027, 1, 1), utc_ms(2027, 1, 1)),
    ],
)
def test_an_instant_is_that_instant_and_needs_no_zone(value: str | int, expected: int) -> None:
    assert parse_expiry(value, now_ms=NOW_MS, zone=None) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-10-31T09:00", utc_ms(2026, 10, 31, 13)),
        ("2026-11-02T09:00:00", utc_ms(2026, 11, 2, 14)),
        ("2026-11-01T01:30:00", utc_ms(2026, 11, 1, 6, 30)),  # occurs twice: the later one
    ],
)
def test_a_time_without_offset_is_pinned_to_the_users_zone(value: str, expected: int) -> None:
    assert parse_expiry(value, now_ms=NOW_MS, zone=NEW_YORK) == expected


@pytest.mark.parametrize(
    ("value", "zone", "remedy"),
    [
        ("2026-11-01", None, "offset"),
        ("2026-11-01T10:00:00", None, "offset"),
        ("2027-03-14T02:30:00", NEW_YORK, "does not exist"),
        ("2026-02-30", NEW_YORK, "not a possible date"),
        ("9999-12-31", NEW_YORK, "not a possible date"),
        ("2026-11-01T25:00:00Z", NEW_YORK, "not a possible date"),
        ("2026-11-01T10:00:60Z", NEW_YORK, "not a possible date"),
        ("next week", NEW_YORK, "RFC 3339"),
        ("20261101", NEW_YORK, "RFC 3339"),
        ("2026-W44-1", NEW_YORK, "RFC 3339"),
        ("\u0662\u0660\u0662\u0666-11-01", NEW_YORK, "RFC 3339"),
        ("", NEW_YORK, "RFC 3339"),
        (1_790_000_000, NEW_YORK, "multiply by 1000"),
        (0, NEW_YORK, "multiply by 1000"),
        (-utc_ms(2026, 1, 1), NEW_YORK, "calendar"),
        (EPOCH_MS_MAX + 1, NEW_YORK, "calendar"),
        (True, NEW_YORK, "truth value"),
        (NOW_MS, NEW_YORK, "not in the future"),
        ("2026-09-29", NEW_YORK, "not in the future"),
        ("2020-01-01T00:00:00Z", NEW_YORK, "not in the future"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_remedy(
    value: str | int, zone: ZoneInfo | None, remedy: str
) -> None:
    with pytest.raises(RecalldError, match=remedy) as caught:
        parse_expiry(value, now_ms=NOW_MS, zone=zone)
    assert caught.value.code is ErrorCode.BAD_REQUEST
    assert caught.value.message.startswith("expires_at: ")


@given(
    st.datetimes(datetime(2027, 1, 1), datetime(2100, 1, 1)),  # noqa: DTZ001 - made aware below
    st.integers(-14 * 60, 14 * 60),
)
def test_every_offset_form_of_an_instant_is_the_same_instant(moment: datetime, offset_min: int) -> None:
    from datetime import timedelta, timezone

    aware = moment.replace(microsecond=0, tzinfo=UTC).astimezone(timezone(timedelta(minutes=offset_min)))
    assert parse_expiry(aware.isoformat(), now_ms=NOW_MS, zone=None) == int(aware.timestamp()) * 1000


@pytest.mark.parametrize("ttl_s", [0, -1, -0.5, float("nan"), float("inf"), 1e15])
def test_a_time_to_live_that_is_not_above_zero_or_never_ends_is_refused(ttl_s: float) -> None:
    with pytest.raises(RecalldError, match="ttl") as caught:
        parse_ttl(ttl_s, now_ms=NOW_MS)
    assert caught.value.code is ErrorCode.BAD_REQUEST


def test_a_time_to_live_counts_from_now_and_is_never_nothing() -> None:
    assert parse_ttl(90, now_ms=NOW_MS) == NOW_MS + 90_000
    assert parse_ttl(0.0001, now_ms=NOW_MS) == NOW_MS + 1
