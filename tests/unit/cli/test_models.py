"""`recalld models` needs no daemon, and its exit codes tell apart what may work later."""

import errno
import json
import os
from pathlib import Path

import pytest
from rich.console import Console
from stand_in_daemon import Run

from recalld.daemon.cli.commands import models as models_command
from recalld.daemon.cli.commands.models_progress import progress_listener
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.inference.manifest import DEFAULT_MODEL_IDS, MODELS
from recalld.models.inference.provision.progress import Progress, Stage
from recalld.models.inference.provision.results import ModelResult, Outcome

L12 = "ms-marco-minilm-l-12-v2-int8"


def results(*outcomes: Outcome) -> tuple[ModelResult, ...]:
    return tuple(
        ModelResult(model_id=model_id, outcome=outcome, detail="seen", remedy="do this")
        for model_id, outcome in zip(DEFAULT_MODEL_IDS, outcomes, strict=False)
    )


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Provisioning answers with what `planned.results` says; the list holds the ids that were asked for."""
    asked: list[tuple[str, ...]] = []

    def ensure(_model_dir: Path, ids: tuple[str, ...], **_named: object) -> tuple[ModelResult, ...]:
        asked.append(tuple(ids))
        return results(Outcome.READY, Outcome.PROVISIONED)

    monkeypatch.setattr(models_command, "ensure", ensure)
    return asked


def test_the_listing_shows_every_model_whole_and_which_ones_are_configured(run: Run) -> None:
    out = run("models", "list").out
    for model_id in MODELS:
        assert model_id in out
    assert out.count("configured") == 2
    assert out.count("missing") == len(MODELS)


def test_the_listing_as_json_has_pins_and_states(run: Run, tmp_path: Path) -> None:
    document = json.loads(run("models", "list", "--json").out)
    assert document["model_dir"] == str(tmp_path / "models")
    first = next(model for model in document["models"] if model["id"] == L12)
    assert first["is_configured"]
    assert first["files"][0]["expected_sha256"] == MODELS[L12].model.sha256


def test_verifying_what_is_missing_ends_with_1(run: Run) -> None:
    ended = run("models", "verify")
    assert ended.code == 1
    assert ended.out.count("is missing") == 4


def test_a_model_with_wrong_bytes_is_shown_with_both_hashes(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "models" / L12 / "model.onnx"
    path.parent.mkdir(parents=True)
    path.touch()
    os.truncate(path, MODELS[L12].model.size_bytes)
    ended = run("models", "verify", L12)
    assert ended.code == 1
    assert f"expected SHA-256 {MODELS[L12].model.sha256}" in ended.out
    assert "actual SHA-256" in ended.out


def test_a_model_outside_the_list_cannot_be_named(run: Run) -> None:
    for name in ("verify", "provision"):
        ended = run("models", name, "some/other-model")
        assert ended.code == 64
        assert L12 in ended.err


@pytest.mark.usefixtures("planned")
def test_provisioning_says_what_became_of_each_model(run: Run) -> None:
    ended = run("models", "provision")
    assert ended.code == 0
    assert f"{DEFAULT_MODEL_IDS[0]}: ready" in ended.out
    assert f"{DEFAULT_MODEL_IDS[1]}: provisioned" in ended.out


def test_the_configured_models_are_provisioned_unless_others_are_named(
    run: Run, planned: list[tuple[str, ...]]
) -> None:
    run("models", "provision")
    run("models", "provision", "ms-marco-minilm-l-6-v2-int8")
    assert planned == [DEFAULT_MODEL_IDS, ("ms-marco-minilm-l-6-v2-int8",)]


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (Outcome.UNREACHABLE, 75),
        (Outcome.INTERRUPTED, 75),
        (Outcome.BUSY, 75),
        (Outcome.NO_SPACE, 75),
        (Outcome.MISMATCH, 1),
        (Outcome.NOT_WRITABLE, 77),
    ],
)
def test_what_may_work_later_ends_with_75(
    run: Run, monkeypatch: pytest.MonkeyPatch, outcome: Outcome, code: int
) -> None:
    monkeypatch.setattr(models_command, "ensure", lambda *_, **__: results(Outcome.READY, outcome))
    ended = run("models", "provision")
    assert ended.code == code
    assert f"recalld: {DEFAULT_MODEL_IDS[1]}: {outcome.value}: seen; do this" in ended.err
    document = json.loads(run("models", "provision", "--json").out)
    assert [model["is_ready"] for model in document["models"]] == [True, False]


def test_importing_something_else_is_refused(run: Run, tmp_path: Path) -> None:
    stray = tmp_path / "model.onnx"
    stray.write_bytes(b"no model")
    ended = run("models", "import", str(stray))
    assert ended.code == 64
    assert "no file of the allowlist" in ended.err
    assert run("models", "import", str(tmp_path / "missing")).code == 1


def test_a_model_directory_that_may_not_be_written_to_ends_with_77(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = RecalldError(ErrorCode.STORAGE_UNAVAILABLE, "cannot store a model")

    def import_file(*_arguments: object, **_named: object) -> None:
        raise refused from OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(models_command, "import_file", import_file)
    assert run("models", "import", str(tmp_path / "x")).code == 77


def test_people_and_programs_read_the_same_word_for_a_file_nobody_has_hashed(run: Run, tmp_path: Path) -> None:
    for artefact in MODELS[L12].artefacts:
        path = tmp_path / "models" / L12 / artefact.file_name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.truncate(path, artefact.size_bytes)
    row = next(line for line in run("models", "list").out.splitlines() if line.startswith(L12))
    document = json.loads(run("models", "list", "--json").out)
    state = next(model["state"] for model in document["models"] if model["id"] == L12)
    assert state == "unverified"
    assert f" {state} " in row


def step(stage: Stage, text: str, done: int = 0, total: int | None = None) -> Progress:
    return Progress(model_id=L12, stage=stage, text=text, bytes_done=done, bytes_total=total)


STEPS = (
    step(Stage.VERIFYING, "verifying local files"),
    step(Stage.DOWNLOADING, "downloading 1 %", 1, 100),
    step(Stage.DOWNLOADING, "downloading 50 %", 50, 100),
    step(Stage.UNPACKING, "unpacking"),
    step(Stage.INSTALLED, "done"),
)


def test_without_a_terminal_each_stage_is_one_plain_line() -> None:
    console = Console(force_terminal=False, width=300)
    with console.capture() as captured, progress_listener(is_silent=False, console=console) as listener:
        for each in STEPS:
            listener(each)
    assert captured.get().splitlines() == [
        f"{L12}: verifying local files",
        f"{L12}: downloading 1 %",
        f"{L12}: unpacking",
    ]


def test_on_a_terminal_there_is_a_bar_that_is_gone_at_the_end() -> None:
    console = Console(force_terminal=True, width=120)
    with console.capture() as captured, progress_listener(is_silent=False, console=console) as listener:
        for each in STEPS:
            listener(each)
    assert "\x1b" in captured.get()


def test_with_json_nothing_is_shown_on_the_way(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_listener(is_silent=True) as listener:
        for each in STEPS:
            listener(each)
    assert capsys.readouterr() == ("", "")
