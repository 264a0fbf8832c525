"""Modes, paths, space, models and units, seen from outside."""

import os
import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from recalld.daemon.config import ServerMode, Settings
from recalld.daemon.doctor import files, models, service_unit
from recalld.daemon.doctor.context import DoctorContext, Live
from recalld.daemon.doctor.result import Status
from recalld.models.inference.manifest import MODELS
from recalld.models.inference.provision import files as model_files

MakeContext = Callable[..., DoctorContext]


def with_socket_path(settings: Settings, path: Path, mode: ServerMode = ServerMode.USER) -> Settings:
    server = msgspec.structs.replace(settings.server, socket_path=path, mode=mode)
    return msgspec.structs.replace(settings, server=server)


@pytest.mark.parametrize(("used_bytes", "status"), [(107, Status.PASS), (108, Status.FAIL), (120, Status.FAIL)])
def test_a_socket_path_over_the_limit_fails_with_path_and_limit(
    make_context: MakeContext, settings: Settings, used_bytes: int, status: Status
) -> None:
    path = Path("/" + "é" * ((used_bytes - 1) // 2) + "x" * ((used_bytes - 1) % 2))  # P08; counted in bytes
    finding = files.check_socket_path(make_context(settings=with_socket_path(settings, path)))
    assert finding.status is status
    assert str(path) in finding.seen
    assert "107" in finding.seen


@pytest.mark.parametrize(
    ("mode", "server_mode", "status"),
    [
        (0o700, ServerMode.USER, Status.PASS),
        (0o755, ServerMode.USER, Status.INFO),
        (0o750, ServerMode.SYSTEM, Status.PASS),
        (0o770, ServerMode.SYSTEM, Status.FAIL),
        (0o777, ServerMode.USER, Status.FAIL),
    ],
)
def test_a_socket_directory_that_others_can_write_to_fails(
    make_context: MakeContext, settings: Settings, tmp_path: Path, mode: int, server_mode: ServerMode, status: Status
) -> None:
    folder = tmp_path / "sockets"  # X05
    folder.mkdir()
    folder.chmod(mode)
    changed = with_socket_path(settings, folder / "s.sock", server_mode)
    assert files.check_socket_directory(make_context(settings=changed)).status is status


def test_a_shared_directory_such_as_tmp_is_never_to_be_closed(
    make_context: MakeContext, settings: Settings, tmp_path: Path
) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    finding = files.check_socket_directory(make_context(settings=with_socket_path(settings, folder / "s.sock")))
    assert finding.status is Status.FAIL
    assert finding.remedy == f"configure a sub-directory of its own, such as {folder}/recalld"


@pytest.mark.parametrize(("mode", "status"), [(0o600, Status.PASS), (0o660, Status.FAIL), (0o777, Status.FAIL)])
def test_a_socket_that_others_can_connect_to_fails(
    make_context: MakeContext, settings: Settings, mode: int, status: Status
) -> None:
    path = settings.server.socket_path  # X05
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        path.chmod(mode)
        assert files.check_socket(make_context()).status is status


def test_a_regular_file_in_the_sockets_place_fails_and_stays(make_context: MakeContext, settings: Settings) -> None:
    path = settings.server.socket_path
    path.parent.mkdir()
    path.write_text("precious")
    assert files.check_socket(make_context()).status is Status.FAIL
    assert path.read_text() == "precious"


def test_what_does_not_exist_yet_is_not_checked(make_context: MakeContext) -> None:
    for check in (
        files.check_socket_directory,
        files.check_socket,
        files.check_data_directory,
        files.check_database_files,
        files.check_model_directory,
    ):
        finding = check(make_context())
        assert (finding.status, finding.is_checked) == (Status.INFO, False)


@pytest.mark.parametrize(
    ("mode", "status"), [(0o700, Status.PASS), (0o750, Status.WARN), (0o755, Status.WARN), (0o707, Status.FAIL)]
)
def test_a_data_directory_open_to_others_shows(
    make_context: MakeContext, settings: Settings, mode: int, status: Status
) -> None:
    settings.storage.data_dir.mkdir()
    settings.storage.data_dir.chmod(mode)
    assert files.check_data_directory(make_context()).status is status


@pytest.mark.parametrize("name", ["recalld.db", "recalld.db-wal", "recalld.db-shm"])
@pytest.mark.parametrize(("mode", "status"), [(0o600, Status.PASS), (0o640, Status.FAIL), (0o604, Status.FAIL)])
def test_each_file_of_the_database_must_be_private(
    make_context: MakeContext, settings: Settings, name: str, mode: int, status: Status
) -> None:
    settings.storage.data_dir.mkdir()  # X05
    for each in ("recalld.db", "recalld.db-wal", "recalld.db-shm"):
        (settings.storage.data_dir / each).touch(0o600)
    (settings.storage.data_dir / name).chmod(mode)
    finding = files.check_database_files(make_context())
    assert finding.status is status
    if status is Status.FAIL:
        assert f"chmod 600 {settings.storage.data_dir / name}" in finding.remedy


def test_a_file_in_a_directorys_place_fails(make_context: MakeContext, settings: Settings) -> None:
    settings.storage.data_dir.write_text("")
    assert files.check_data_directory(make_context()).status is Status.FAIL


def test_a_place_this_account_may_not_see_is_never_passed(
    make_context: MakeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_named: object) -> os.stat_result:
        raise PermissionError(13, "Permission denied")

    context = make_context(Live(problem="down"))
    monkeypatch.setattr(Path, "stat", refuse)
    monkeypatch.setattr(Path, "lstat", refuse)
    for check in (files.check_socket, files.check_data_directory):
        finding = check(context)
        assert (finding.status, finding.is_checked) == (Status.WARN, False)


@pytest.mark.parametrize(
    ("free_mib", "status"), [(63, Status.FAIL), (64, Status.WARN), (511, Status.WARN), (512, Status.PASS)]
)
def test_little_free_space_shows(
    make_context: MakeContext, monkeypatch: pytest.MonkeyPatch, free_mib: int, status: Status
) -> None:
    monkeypatch.setattr(files.shutil, "disk_usage", lambda _folder: SimpleNamespace(free=free_mib << 20))
    assert files.check_disk_space(make_context()).status is status


def test_a_missing_model_fails_with_the_way_to_get_it(make_context: MakeContext) -> None:
    finding = models.check_cross_encoder(make_context())  # O06
    assert finding.status is Status.FAIL
    assert "is missing" in finding.seen
    assert "recalld models provision ms-marco-minilm-l-12-v2-int8" in finding.remedy


def test_a_missing_relevance_model_is_no_fault_while_the_gate_is_off(
    make_context: MakeContext, settings: Settings
) -> None:
    off = msgspec.structs.replace(settings, recall=msgspec.structs.replace(settings.recall, gate="off"))
    assert models.check_cross_encoder(make_context(settings=off)).status is Status.INFO
    assert models.check_embedder(make_context(settings=off)).status is Status.FAIL


@pytest.mark.parametrize("content", [b"", b"x" * 1024, b"version https://git-lfs.github.com/spec/v1\n", None])
def test_a_damaged_model_fails_and_a_full_size_one_with_both_hashes(
    make_context: MakeContext, settings: Settings, content: bytes | None
) -> None:
    spec = MODELS[settings.models.embedder]  # M04
    folder = settings.models.dir / spec.id
    folder.mkdir(parents=True)
    path = folder / "model.onnx"
    path.write_bytes(content or b"")
    if content is None:  # the right size, and not the right bytes
        os.truncate(path, spec.model.size_bytes)
    finding = models.check_embedder(make_context())
    assert finding.status is Status.FAIL
    assert str(path) in finding.seen
    if content is None:
        assert f"expected SHA-256 {spec.model.sha256}, actual {model_files.sha256_of(path)}" in finding.seen


def test_other_models_are_noted_and_damaged_ones_a_warning(make_context: MakeContext, settings: Settings) -> None:
    assert models.check_other_models(make_context()).status is Status.INFO
    folder = settings.models.dir / "ms-marco-minilm-l-6-v2-int8"
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(b"half")
    finding = models.check_other_models(make_context())
    assert finding.status is Status.WARN
    assert "ms-marco-minilm-l-6-v2-int8" in finding.seen


def test_an_installed_unit_is_noted(tmp_path: Path, make_context: MakeContext) -> None:
    assert "no unit" in service_unit.find_units((tmp_path, tmp_path / "missing")).seen
    (tmp_path / "recalld.socket").touch()
    assert str(tmp_path / "recalld.socket") in service_unit.find_units((tmp_path,)).seen
    own = tmp_path / ".config/systemd/user"
    own.mkdir(parents=True)
    (own / "recalld.service").touch()
    assert str(own / "recalld.service") in service_unit.check_units(make_context()).seen
