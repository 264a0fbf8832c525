from __future__ import annotations

import os
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from recalld.daemon.private_directories import (
    DIRECTORY_SHARED,
    DIRECTORY_TIGHTENED,
    OPEN_TO_OTHERS,
    WRITABLE_BY_OTHERS,
    DirectoryRefusedError,
    claim_directory,
)
from recalld.daemon.storage.errors import DatabaseRefusedError
from recalld.daemon.storage.files import create_private, prepare_directory
from recalld.daemon.storage.lock import hold_lock

OURS = ("recalld.db", "recalld.db-wal", "recalld.lock", "recalld.sock", "s.lock", "fault-scorer-hangs")


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="recalld-") as path:
        yield Path(path)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def claim(directory: Path, *, mode: int = 0o700, forbidden: int = OPEN_TO_OTHERS) -> None:
    claim_directory(directory, purpose="the directory", mode=mode, forbidden=forbidden)


def refusal(directory: Path) -> str:
    before = directory.stat(), sorted(directory.iterdir())
    with pytest.raises(DirectoryRefusedError) as caught:
        claim(directory)
    assert (directory.stat(), sorted(directory.iterdir())) == before
    return str(caught.value)


@pytest.mark.parametrize("mask", [0o000, 0o077, 0o777])
@pytest.mark.parametrize("mode", [0o700, 0o750])
def test_a_directory_that_is_made_and_its_parents_have_exactly_the_mode_whatever_the_umask(
    folder: Path, mask: int, mode: int
) -> None:
    before = os.umask(mask)
    try:
        claim(folder / "a" / "b", mode=mode)
    finally:
        os.umask(before)
    assert mode_of(folder / "a") == mode_of(folder / "a" / "b") == mode


@pytest.mark.parametrize("mode", [0o700, 0o500, 0o1700, 0o2700])
def test_a_directory_closed_to_others_is_left_as_it_is_whatever_it_holds(folder: Path, mode: int) -> None:
    (folder / "diary.txt").touch()
    folder.chmod(mode)
    with capture_logs() as logs:
        claim(folder)
    assert mode_of(folder) == mode
    assert not logs


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o701, 0o777])
@pytest.mark.parametrize("names", [(), OURS])
def test_an_open_directory_of_ours_with_nothing_else_in_it_is_tightened_and_that_is_logged_once(
    folder: Path, mode: int, names: tuple[str, ...]
) -> None:
    for name in names:
        (folder / name).touch()
    folder.chmod(mode)
    with capture_logs() as logs:
        claim(folder)
        claim(folder)
    assert mode_of(folder) == 0o700
    expected = {"event": DIRECTORY_TIGHTENED, "log_level": "warning", "directory": str(folder)}
    assert logs == [{**expected, "old_mode": f"{mode:04o}", "new_mode": "0700"}]


def test_a_socket_of_ours_and_the_directories_of_models_and_runtime_files_are_no_foreign_files(folder: Path) -> None:
    (folder / "models").mkdir()
    (folder / "run").mkdir()
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(folder / "any-name"))
        folder.chmod(0o755)
        claim(folder)
    assert mode_of(folder) == 0o700


@pytest.mark.parametrize("mode", [0o1777, 0o1755, 0o3770])
def test_an_open_sticky_directory_is_refused_even_when_empty(folder: Path, mode: int) -> None:
    folder.chmod(mode)
    message = refusal(folder)
    assert message == (
        f"the directory {folder} is shared with others (mode {mode:04o}, sticky): "
        f"use a sub-directory of its own, such as {folder}/recalld"
    )


@pytest.mark.parametrize("name", ["diary.txt", ".hidden", "xrecalld.db", "recalldb"])
def test_a_directory_that_others_may_write_to_with_a_file_of_somebody_elses_making_is_refused_and_the_file_named(
    folder: Path, name: str
) -> None:
    (folder / "recalld.db").touch()
    (folder / name).touch()
    folder.chmod(0o777)
    message = refusal(folder)
    assert str(folder) in message
    assert "mode 0777" in message
    assert repr(name) in message
    assert "use a sub-directory" in message


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o711])
def test_a_directory_that_others_can_only_look_into_keeps_its_other_files_and_its_mode(folder: Path, mode: int) -> None:
    (folder / "serve.log").touch()
    folder.chmod(mode)
    with capture_logs() as logs:
        claim(folder)
    assert mode_of(folder) == mode
    assert logs == [
        {"event": DIRECTORY_SHARED, "log_level": "warning", "directory": str(folder), "mode": f"{mode:04o}"}
    ]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_with_a_name_of_ours_that_belongs_to_somebody_else_is_not_ours(folder: Path) -> None:
    (folder / "recalld.db").touch()
    os.chown(folder / "recalld.db", 4711, 4711)
    folder.chmod(0o777)
    assert "recalld.db" in refusal(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give directories away")
@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_a_directory_of_somebody_else_is_refused_whatever_its_mode(folder: Path, mode: int) -> None:
    other = folder / "other"
    other.mkdir(mode=mode)
    os.chown(other, 4711, 4711)
    assert "belongs to uid 4711" in refusal(other)


def test_what_counts_as_open_is_up_to_the_caller(folder: Path) -> None:
    (folder / "diary.txt").touch()
    folder.chmod(0o755)
    claim(folder, forbidden=WRITABLE_BY_OTHERS)
    assert mode_of(folder) == 0o755
    folder.chmod(0o775)
    with pytest.raises(DirectoryRefusedError, match="diary"):
        claim(folder, forbidden=WRITABLE_BY_OTHERS)


def test_a_file_in_the_directorys_place_is_an_error_of_the_system(folder: Path) -> None:
    (folder / "file").touch()
    for path in (folder / "file", folder / "file" / "data"):
        with pytest.raises(NotADirectoryError):
            claim(path)


def test_a_shared_data_directory_is_refused_as_a_matter_of_configuration(folder: Path) -> None:
    folder.chmod(0o1777)
    with pytest.raises(DatabaseRefusedError, match=r"the data directory .* is shared with others .*/recalld\.$"):
        prepare_directory(folder)
    assert mode_of(folder) == 0o1777


@pytest.mark.parametrize("mask", [0o000, 0o777])
def test_files_of_ours_are_private_whatever_the_umask_and_whatever_they_were(folder: Path, mask: int) -> None:
    (folder / "recalld.lock").touch()
    (folder / "recalld.lock").chmod(0o666)
    before = os.umask(mask)
    try:
        create_private(folder / "recalld.db")
        with hold_lock(folder):
            pass
    finally:
        os.umask(before)
    assert mode_of(folder / "recalld.db") == mode_of(folder / "recalld.lock") == 0o600
