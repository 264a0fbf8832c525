"""What is printed is safe on a terminal and whole for programs."""

import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.daemon.cli.local_zone import local_tzinfo, local_zone
from recalld.daemon.cli.output import expiry, moment, printable, write_columns
from recalld.daemon.config import Environment


@given(st.text())
def test_no_text_can_steer_a_terminal(text: str) -> None:
    shown = printable(text)
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in shown)
    shown.encode("utf-8")


def test_ordinary_text_of_any_script_is_left_alone() -> None:
    assert printable("naïve: 東京 👩🏽‍🚀 ça") == "naïve: 東京 👩🏽‍🚀 ça"


def test_long_text_is_cut_and_says_so() -> None:
    assert printable("abcdef", chars_max=4) == "abc…"
    assert printable("abcd", chars_max=4) == "abcd"


def test_columns_line_up_and_are_never_cut(capsys: pytest.CaptureFixture[str]) -> None:
    write_columns([("id", "text"), ("mem_" + "x" * 300, "a")])
    first, second = capsys.readouterr().out.splitlines()
    assert first.index("text") == second.index("a")
    assert "x" * 300 in second


@pytest.mark.parametrize(("epoch_ms", "shown"), [(0, "1970-01-01 00:00 UTC"), (10**18, "1" + "0" * 18)])
def test_a_moment_no_calendar_has_stays_a_number(epoch_ms: int, shown: str) -> None:
    assert moment(epoch_ms) == shown


def test_an_expiry_no_calendar_has_stays_a_number() -> None:
    assert expiry(10**18, dt.UTC) == "1" + "0" * 18
    assert expiry(-(10**17), dt.UTC) == "-1" + "0" * 17


def _environment(**variables: str) -> Environment:
    return Environment(variables=variables, uid=1, login="x", home=Path("/"))


def test_the_zone_comes_from_tz_and_then_from_where_localtime_points(tmp_path: Path) -> None:
    zone_file = tmp_path / "zoneinfo" / "Asia" / "Tokyo"
    zone_file.parent.mkdir(parents=True)
    zone_file.touch()
    link = tmp_path / "localtime"
    link.symlink_to(zone_file)
    assert local_zone(_environment(TZ="Europe/Berlin"), link) == "Europe/Berlin"
    assert local_zone(_environment(TZ=":Europe/Berlin"), link) == "Europe/Berlin"
    assert local_zone(_environment(), link) == "Asia/Tokyo"


@pytest.mark.parametrize("tz", ["CET-1CEST,M3.5.0,M10.5.0", "/usr/share/zoneinfo/Asia/Tokyo", ""])
def test_a_zone_without_an_iana_name_counts_as_utc(tmp_path: Path, tz: str) -> None:
    plain = tmp_path / "localtime"
    plain.touch()
    for localtime in (plain, tmp_path / "missing"):
        assert local_zone(_environment(TZ=tz), localtime) == "UTC"


@pytest.mark.parametrize("tz", ["Atlantis/Capital", "../etc/passwd"])
def test_a_zone_this_machine_does_not_know_counts_as_utc(tz: str) -> None:
    assert local_tzinfo(_environment(TZ=tz)) is dt.UTC
    assert str(local_tzinfo(_environment(TZ="Europe/Berlin"))) == "Europe/Berlin"
