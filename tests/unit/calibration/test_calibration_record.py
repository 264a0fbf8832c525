from __future__ import annotations

import json

import msgspec
import pytest

from recalld.models.calibration.intervals import wilson
from recalld.models.calibration.record import (
    CalibrationError,
    CalibrationKeys,
    CalibrationRecord,
    SourceReport,
    dump_calibration,
    load_calibration,
)
from recalld.models.domain.records import MemoryKind
from recalld.models.policy.floor import FloorValues
from recalld.models.policy.head_inputs import HeadInput
from recalld.models.policy.relevance import LOGIT_HEAD, KindThreshold, RelevanceModel
from recalld.models.policy.tree_head import LEAF, RegressionTree, TreeHead

KEYS = CalibrationKeys(model_key="model", embedder_key="embedder", pair_template="plain-1")
RECORD = CalibrationRecord(
    id="cal_1",
    date="2026-11-30",
    provenance="Six sources written for the project.",
    keys=KEYS,
    corpus_id="sources",
    corpus_sha256="0" * 64,
    n=10,
    positives=4,
    target_retention=0.95,
    retention=wilson(4, 4),
    silence=wilson(3, 6),
    held_out=(SourceReport(source="a", threshold=0.1, retention=wilson(1, 2), silence=wilson(1, 3)),),
    floors=FloorValues(record=0.4, cue=0.5, ask=0.6),
    heads=(LOGIT_HEAD,),
    threshold=0.05,
)


def changed(**fields: object) -> bytes:
    return json.dumps(json.loads(dump_calibration(RECORD)) | fields).encode()


def test_a_record_survives_being_written_and_read() -> None:
    data = dump_calibration(RECORD)
    assert load_calibration(data) == RECORD
    assert data.endswith(b"}\n")
    assert data.count(b"\n") > 20


def test_a_record_from_before_a_field_existed_still_loads() -> None:
    fields = json.loads(dump_calibration(RECORD))
    for later in ("margin", "kind_thresholds"):
        del fields[later]
    head = {"inputs": ["logit", "cue_cosine", "ask_cosine"], "weights": [0.3, 0.5, 1.4], "intercept": -4.3}
    fields["heads"] = [head | {"means": [-10.0, 0.5, 0.6], "scales": [3.2, 0.1, 0.1]}, *fields["heads"]]
    model = load_calibration(json.dumps(fields).encode()).relevance_model()
    assert (model.margin, model.kind_thresholds) == (None, ())
    assert [len(each.inputs) for each in model.heads] == [3, 1]


TREE = RegressionTree(
    feature=(0, LEAF, LEAF),
    threshold=(-3.0, 0.0, 0.0),
    left=(1, LEAF, LEAF),
    right=(2, LEAF, LEAF),
    value=(0, -0.5, 0.5),
)
WITH_TREES = msgspec.structs.replace(
    RECORD, heads=(TreeHead(inputs=(HeadInput.LOGIT,), start=LOGIT_HEAD, trees=(TREE,)), LOGIT_HEAD)
)


def test_a_record_holds_heads_of_both_kinds_and_says_which_is_which() -> None:
    data = dump_calibration(WITH_TREES)
    assert load_calibration(data) == WITH_TREES
    assert [head["type"] for head in json.loads(data)["heads"]] == ["trees", "logistic"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": [0, 0.5, -0.5]}, "must not fall along"),
        ({"left": [1, -1]}, "equally long"),
        ({"left": [0, -1, -1]}, "later nodes"),
        ({"feature": [7, -1, -1]}, "inputs below 1"),
        ({"feature": ["logit", -1, -1]}, "feature"),
    ],
)
def test_a_record_with_a_damaged_tree_is_refused_with_field_and_remedy(change: dict[str, object], message: str) -> None:
    fields = json.loads(dump_calibration(WITH_TREES))
    fields["heads"][0]["trees"][0] |= change
    with pytest.raises(CalibrationError, match=f"{message}.*write it anew"):
        load_calibration(json.dumps(fields).encode())


def test_a_record_keeps_the_thresholds_of_kinds() -> None:
    own = KindThreshold(kind=MemoryKind.PREFERENCE, threshold=0.02, positives=61)
    record = msgspec.structs.replace(RECORD, kind_thresholds=(own,))
    assert load_calibration(dump_calibration(record)) == record
    assert record.relevance_model().threshold_of(MemoryKind.PREFERENCE) == 0.02


def test_the_gate_gets_heads_threshold_and_id() -> None:
    assert RECORD.relevance_model() == RelevanceModel(heads=(LOGIT_HEAD,), threshold=0.05, calibration_id="cal_1")


def test_a_record_holds_for_its_own_keys_and_names_each_that_differs() -> None:
    assert RECORD.mismatches(KEYS) == ()
    for field in CalibrationKeys.__struct_fields__:
        (mismatch,) = RECORD.mismatches(msgspec.structs.replace(KEYS, **{field: "other"}))
        assert (mismatch.field, mismatch.running) == (field, "other")
        assert field in mismatch.sentence
        assert "calibrate again" in mismatch.sentence


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "calibration record"),
        (b"\xff", "calibration record"),
        (b"[]", "Expected `object`"),
        (changed(threshold=0), "threshold must be inside"),
        (changed(threshold=1.5), "threshold must be inside"),
        (changed(heads=[]), "logit alone"),
        (changed(id=""), "id must not be empty"),
        (changed(date="30.11.2026"), "isoformat"),
        (changed(positives=0), "positives"),
        (changed(positives=11), "positives"),
        (changed(target_retention=0), "target_retention"),
        (changed(floors={"record": 2.0, "cue": 0.5, "ask": 0.5}), "floors.record"),
        (changed(extra=1), "unknown field `extra`"),
        (changed(n="many"), "Expected `int`"),
    ],
)
def test_a_record_that_cannot_be_used_is_refused_with_its_fault(data: bytes, message: str) -> None:
    with pytest.raises(CalibrationError, match=message) as caught:
        load_calibration(data)
    assert "calibrate" in str(caught.value)


def test_a_record_without_a_field_is_refused() -> None:
    fields = json.loads(dump_calibration(RECORD))
    del fields["keys"]
    with pytest.raises(CalibrationError, match="keys"):
        load_calibration(json.dumps(fields).encode())
