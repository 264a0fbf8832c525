"""The process environment is read once, in one place."""

import os
import pwd
from pathlib import Path

import pytest

from recalld.daemon.config import environment as environment_module
from recalld.daemon.config.environment import (
    Environment,
    forbid_runtime_telemetry,
    process_environment,
    remove_variables,
)


def test_a_snapshot_does_not_follow_later_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECALLD_TEST_VARIABLE", "before")
    snapshot = process_environment()
    monkeypatch.setenv("RECALLD_TEST_VARIABLE", "after")
    assert snapshot.get("RECALLD_TEST_VARIABLE") == "before"


def test_an_empty_variable_reads_as_unset() -> None:
    environment = Environment(variables={"A": ""}, uid=1, login="x", home=Path("/"))
    assert environment.get("A") is None
    assert environment.get("B") is None


def test_the_login_name_belongs_to_the_uid() -> None:
    snapshot = process_environment()
    assert snapshot.uid == os.getuid()
    assert snapshot.login == pwd.getpwuid(os.getuid()).pw_name


def test_a_uid_without_an_entry_is_named_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_uid: int) -> pwd.struct_passwd:
        raise KeyError

    monkeypatch.setattr(environment_module.pwd, "getpwuid", unknown)
    monkeypatch.delenv("HOME", raising=False)
    snapshot = process_environment()
    assert snapshot.login == str(os.getuid())
    assert snapshot.home == Path("/")


def test_a_home_that_is_not_absolute_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "somewhere")
    assert process_environment().home == Path(pwd.getpwuid(os.getuid()).pw_dir)


def test_removed_variables_are_gone_for_child_processes_and_absent_ones_do_not_matter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LISTEN_FDS", "1")
    monkeypatch.delenv("LISTEN_PID", raising=False)
    remove_variables(["LISTEN_FDS", "LISTEN_PID"])
    assert "LISTEN_FDS" not in os.environ


def test_telemetry_of_the_model_runtime_cannot_be_left_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORT_DISABLE_TELEMETRY", "0")
    forbid_runtime_telemetry()
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "1"
