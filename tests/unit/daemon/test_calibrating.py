from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from recalld.daemon.calibrating import calibration_in_force, running_keys, shipped_calibration
from recalld.daemon.config import Settings
from recalld.daemon.config.settings import ModelsSettings, RecallSettings, ServerSettings, StorageSettings
from recalld.models.calibration.record import CalibrationRecord, dump_calibration
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.inference.manifest import model_spec
from recalld.models.policy.floor import FloorValues
from recalld.models.policy.relevance import LOGIT_HEAD

L6 = "ms-marco-minilm-l-6-v2-int8"


def settings(recall: RecallSettings | None = None, **models: str) -> Settings:
    nowhere = Path("/nonexistent")
    return Settings(
        server=ServerSettings(socket_path=nowhere),
        storage=StorageSettings(data_dir=nowhere),
        models=ModelsSettings(dir=nowhere, **models),  # type: ignore[arg-type]
        recall=recall or RecallSettings(),
    )


def changed(tmp_path: Path, **keys: str) -> tuple[CalibrationRecord, Path]:
    record = shipped_calibration()
    record = msgspec.structs.replace(record, keys=msgspec.structs.replace(record.keys, **keys))
    path = tmp_path / "calibration.json"
    path.write_bytes(dump_calibration(record))
    return record, path


def test_the_shipped_record_was_made_for_the_default_models() -> None:
    found = calibration_in_force(settings())
    record = shipped_calibration()
    assert found.mismatches == ()
    assert found.model == record.relevance_model()
    assert found.floors == record.floors


def test_the_shipped_record_brings_a_sample_of_its_scores() -> None:
    record = shipped_calibration()
    assert record.scores is not None
    assert 0.9 * record.n <= record.scores.n <= record.n


def test_another_scorer_runs_with_its_own_default_and_the_embedders_floors() -> None:
    found = calibration_in_force(settings(cross_encoder=L6))
    assert found.model.heads == (LOGIT_HEAD,)
    assert found.model.threshold == model_spec(L6).default_cut.value
    assert found.model.calibration_id == ""
    assert found.floors == shipped_calibration().floors
    assert len(found.mismatches) == 1
    assert "model_key" in found.mismatches[0]


def test_a_record_of_another_embedder_lends_neither_heads_nor_floors(tmp_path: Path) -> None:
    _, path = changed(tmp_path, embedder_key="another")
    found = calibration_in_force(settings(RecallSettings(calibration_path=path)))
    floor = model_spec(settings().models.embedder).default_cut.value
    assert found.floors == FloorValues(record=floor, cue=floor, ask=floor)
    assert found.model.heads == (LOGIT_HEAD,)
    assert "embedder_key" in found.mismatches[0]


def test_every_mismatch_is_a_sentence_for_doctor(tmp_path: Path) -> None:
    _, path = changed(tmp_path, embedder_key="another", model_key="another", pair_template="another")
    found = calibration_in_force(settings(RecallSettings(calibration_path=path)))
    assert [
        name in sentence
        for name, sentence in zip(("model_key", "embedder_key", "pair_template"), found.mismatches, strict=True)
    ] == [True] * 3


def test_a_configured_threshold_replaces_the_records_and_says_so() -> None:
    found = calibration_in_force(settings(RecallSettings(threshold=0.4)))
    assert found.model.threshold == 0.4
    assert found.model.heads == shipped_calibration().heads
    assert found.model.calibration_id == f"{shipped_calibration().id}+configured_threshold"
    alone = calibration_in_force(settings(RecallSettings(threshold=0.4), cross_encoder=L6))
    assert alone.model.calibration_id == "configured_threshold"


@pytest.mark.parametrize("content", [None, b"", b"{}", b"not json", b'{"id": 3}'])
def test_a_configured_record_that_cannot_be_read_is_an_error_with_its_path(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "calibration.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RecalldError, match=r"recall\.calibration_path") as caught:
        calibration_in_force(settings(RecallSettings(calibration_path=path)))
    assert caught.value.code is ErrorCode.BAD_REQUEST
    assert str(path) in caught.value.message


def test_an_unknown_model_is_refused_by_name() -> None:
    with pytest.raises(RecalldError, match="nosuch"):
        running_keys(settings(cross_encoder="nosuch"))
