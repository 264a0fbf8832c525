"""When a turn was said, and names that hold a secret: refused with the field and the remedy."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from recalld.daemon.gateway.moments import said_ms
from recalld.daemon.gateway.translate import checked_scope, key_part, session_name
from recalld.models.domain.errors import RecalldError

NOW = datetime(2026, 4, 15, 12, tzinfo=UTC)
NOW_MS = int(NOW.timestamp() * 1000)
BERLIN = ZoneInfo("Europe/Berlin")
TOKEN = "ghp_" + "aB3" * 12


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("1989-12-31T23:59:59Z", "at: .* before 1990"),
        ("2032-01-01T00:00:00Z", "at: .* five years ahead"),
        (NOW_MS + 6 * 366 * 86_400_000, "at: .* five years ahead"),
        ("2026-03-29T02:30:00", "at: .* does not exist in Europe/Berlin"),
        ("2026-02-30T10:00:00Z", "at: .* not a possible date"),
    ],
)
def test_a_moment_at_which_nobody_can_have_spoken_is_refused(value: str | int, message: str) -> None:
    with pytest.raises(RecalldError, match=message):
        said_ms("at", value, BERLIN, now_ms=NOW_MS)


@pytest.mark.parametrize("moment", [NOW - timedelta(days=9_000), NOW, NOW + timedelta(hours=14)])
def test_a_backdated_turn_and_a_clock_some_hours_ahead_are_taken(moment: datetime) -> None:
    assert said_ms("at", moment.isoformat(), None, now_ms=NOW_MS) == int(moment.timestamp() * 1000)


def test_of_a_repeated_local_hour_the_earlier_instant_counts() -> None:
    first = datetime(2025, 10, 26, 0, 30, tzinfo=UTC)
    assert said_ms("at", "2025-10-26T02:30:00", BERLIN, now_ms=NOW_MS) == int(first.timestamp() * 1000)


def test_a_name_with_a_secret_is_refused_and_not_repeated() -> None:
    for field, check in (
        ("session", session_name),
        ("turn_id", lambda value: key_part("turn_id", value)),
        ("scope", checked_scope),
    ):
        with pytest.raises(RecalldError, match=f"^{field}: holds a password, key or token") as caught:
            check(f"chat-{TOKEN}")
        assert TOKEN not in caught.value.message


@pytest.mark.parametrize(
    "name",
    ["", "7b0c9a52-5c0e-4c52-9a61-0a2f6a1f2d11", "agent:main:telegram:dm:12345678", "01J9ZK3V5Q8T2M4N6P7R9S1W3X"],
)
def test_ordinary_names_of_sessions_are_taken(name: str) -> None:
    assert session_name(name) == name
