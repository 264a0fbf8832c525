from __future__ import annotations

import fcntl
import os
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from recalld.daemon.gateway import listener as listener_module
from recalld.daemon.gateway.listener import ListenError, ListenFault, bind_listener, check_socket_path


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short path, wherever pytest keeps its temporary files."""
    with tempfile.TemporaryDirectory(prefix="recalld-") as path:
        yield Path(path)


@pytest.fixture(autouse=True)
def no_umask() -> Iterator[None]:
    """The worst umask there is: whatever is closed must have been closed on purpose."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def pretend_to_be_somebody_else_s(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let everything with the inode of `folder` belong to uid 4711; only root could really give it away."""
    inode = folder.stat().st_ino

    def with_owner(found: os.stat_result) -> os.stat_result:
        if found.st_ino != inode:
            return found
        fields = list(found)
        fields[stat.ST_UID] = 4711
        return os.stat_result(fields)

    real_fstat, real_stat = os.fstat, Path.stat
    monkeypatch.setattr(os, "fstat", lambda fd: with_owner(real_fstat(fd)))
    monkeypatch.setattr(Path, "stat", lambda path, **how: with_owner(real_stat(path, **how)))


def refusal(path: Path) -> ListenError:
    with pytest.raises(ListenError) as caught:
        bind_listener(path)
    return caught.value


@pytest.mark.parametrize(("is_system", "socket_mode", "folder_mode"), [(False, 0o600, 0o700), (True, 0o660, 0o750)])
def test_socket_and_new_folder_have_their_rights_whatever_the_umask(  # X05
    folder: Path, *, is_system: bool, socket_mode: int, folder_mode: int
) -> None:
    path = folder / "run" / "s"
    bound = bind_listener(path, is_system=is_system)
    assert mode_of(path) == socket_mode
    assert mode_of(path.parent) == folder_mode
    assert mode_of(Path(f"{path}.lock")) == 0o600
    assert os.umask(0) == 0  # the process's own umask is as it was
    bound.close()


def test_the_socket_has_its_final_rights_at_bind_itself(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # X05
    path = folder / "s"
    modes = []

    class Watched(socket.socket):
        def listen(self, *backlog: int) -> None:
            modes.append(mode_of(path))
            super().listen(*backlog)

    monkeypatch.setattr(listener_module.socket, "socket", Watched)
    monkeypatch.setattr(Path, "chmod", None)  # a chmod after bind would be too late
    bind_listener(path).close()
    assert modes == [0o600]


def test_a_folder_of_ours_that_others_may_write_to_is_closed(folder: Path) -> None:  # X05
    folder.chmod(0o777)
    bind_listener(folder / "s").close()
    assert mode_of(folder) == 0o700


@pytest.mark.parametrize("mode", [0o1777, 0o1770])
def test_a_sticky_folder_such_as_tmp_is_refused_and_left_as_it_is(folder: Path, mode: int) -> None:
    folder.chmod(mode)
    error = refusal(folder / "s")
    assert error.fault is ListenFault.UNSAFE_DIRECTORY
    assert f"mode {mode:04o}, sticky" in error.message
    assert f"use a sub-directory of its own, such as {folder}/recalld" in error.message
    assert mode_of(folder) == mode
    assert not list(folder.iterdir())


def test_a_folder_open_to_others_with_files_of_others_is_refused_and_left_as_it_is(folder: Path) -> None:
    (folder / "diary.txt").write_text("")
    folder.chmod(0o775)
    error = refusal(folder / "s")
    assert error.fault is ListenFault.UNSAFE_DIRECTORY
    assert "'diary.txt'" in error.message
    assert mode_of(folder) == 0o775
    assert [path.name for path in folder.iterdir()] == ["diary.txt"]


def test_a_folder_others_may_only_look_into_is_left_as_it_is(folder: Path) -> None:
    (folder / "diary.txt").write_text("")
    folder.chmod(0o755)
    bind_listener(folder / "s").close()
    assert mode_of(folder) == 0o755


def test_a_folder_that_a_daemon_left_its_files_in_is_closed(folder: Path) -> None:
    bind_listener(folder / "s").close()
    folder.chmod(0o777)
    bind_listener(folder / "s", is_system=True).close()
    assert mode_of(folder) == 0o750


def test_a_lock_file_open_to_others_is_closed(folder: Path) -> None:
    lock = folder / "s.lock"
    lock.touch()
    lock.chmod(0o666)
    bind_listener(folder / "s").close()
    assert mode_of(lock) == 0o600


@pytest.mark.parametrize("mode", [0o777, 0o700])
def test_a_folder_of_somebody_else_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch, mode: int) -> None:
    folder.chmod(mode)
    pretend_to_be_somebody_else_s(monkeypatch, folder)
    error = refusal(folder / "s")
    assert error.fault is ListenFault.UNSAFE_DIRECTORY
    assert f"{folder} belongs to uid 4711" in error.message
    assert mode_of(folder) == mode


def test_a_path_of_107_bytes_is_bound_and_one_of_108_refused_with_path_and_limit(folder: Path) -> None:  # P08
    longest = folder / ("s" * (107 - len(os.fsencode(folder)) - 1))
    bind_listener(longest).close()
    error = refusal(Path(f"{longest}s"))
    assert error.fault is ListenFault.PATH_UNUSABLE
    assert f"{longest}s" in error.message
    assert "107" in error.message
    assert "108" in error.message


def test_the_limit_counts_bytes_and_not_characters() -> None:
    assert check_socket_path("/" + "é" * 53)
    with pytest.raises(ListenError, match="109 bytes"):
        check_socket_path("/" + "é" * 54)


@pytest.mark.parametrize("path", ["", "\0abstract", "a\0b"])
def test_a_path_that_names_no_file_is_refused(path: str) -> None:
    with pytest.raises(ListenError) as caught:
        check_socket_path(path)
    assert caught.value.fault is ListenFault.PATH_UNUSABLE


def test_a_second_daemon_is_refused_and_harms_nothing(folder: Path) -> None:
    path = folder / "s"
    bound = bind_listener(path)
    error = refusal(path)
    assert error.fault is ListenFault.ALREADY_RUNNING
    assert "already running" in error.message
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect(str(path))
    bound.close()
    assert not path.exists()


def test_a_socket_left_by_a_killed_daemon_is_replaced(folder: Path) -> None:
    path = folder / "s"
    lines = (
        "import os, sys",
        "from recalld.daemon.gateway.listener import bind_listener",
        "bind_listener(sys.argv[1])",
    )
    subprocess.run([sys.executable, "-c", "\n".join((*lines, "os._exit(9)")), path], check=False, timeout=60)
    assert path.is_socket()
    bound = bind_listener(path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect(str(path))
    bound.close()


def test_a_socket_somebody_listens_on_is_never_replaced_even_without_a_lock(folder: Path) -> None:
    path = folder / "s"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.bind(str(path))
        other.listen()
        assert refusal(path).fault is ListenFault.ALREADY_RUNNING
        assert path.is_socket()


def test_a_datagram_socket_in_use_is_left_alone(folder: Path) -> None:
    path = folder / "s"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
        other.bind(str(path))
        assert refusal(path).fault is ListenFault.ALREADY_RUNNING
        assert path.is_socket()


def test_a_regular_file_is_never_removed(folder: Path) -> None:
    path = folder / "s"
    path.write_text("precious")
    assert refusal(path).fault is ListenFault.NOT_A_SOCKET
    assert path.read_text() == "precious"


def test_a_link_to_a_file_is_never_followed_nor_removed(folder: Path) -> None:
    (folder / "target").write_text("precious")
    (folder / "s").symlink_to(folder / "target")
    assert refusal(folder / "s").fault is ListenFault.NOT_A_SOCKET
    (folder / "t.lock").symlink_to(folder / "target")
    assert refusal(folder / "t").fault is ListenFault.OS_ERROR
    assert (folder / "target").read_text() == "precious"


def test_a_refused_start_gives_up_its_lock(folder: Path) -> None:
    path = folder / "s"
    path.write_text("")
    refusal(path)
    path.unlink()
    bind_listener(path).close()


def test_closing_twice_or_after_somebody_replaced_the_socket_removes_nothing_of_theirs(folder: Path) -> None:
    path = folder / "s"
    bound = bind_listener(path)
    path.unlink()
    path.write_text("theirs")
    bound.close()
    bound.close()
    assert path.read_text() == "theirs"


def test_the_lock_is_held_for_as_long_as_the_listener(folder: Path) -> None:
    path = folder / "s"
    bound = bind_listener(path)
    with Path(f"{path}.lock").open() as lock:
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        bound.close()
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_folder_that_cannot_be_made_is_an_error_with_the_path(folder: Path) -> None:
    (folder / "file").write_text("")
    error = refusal(folder / "file" / "s")
    assert error.fault is ListenFault.OS_ERROR
    assert str(folder) in error.message
