from __future__ import annotations

import re

import pytest

from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.inference.manifest import (
    DEFAULT_MODEL_IDS,
    MODELS,
    HubFile,
    ModelRole,
    ModelSpec,
    WheelMember,
    model_spec,
)

EVERY_MODEL = pytest.mark.parametrize("spec", MODELS.values(), ids=MODELS.keys())


def test_an_unknown_model_is_refused_with_the_names_that_are_known() -> None:
    with pytest.raises(RecalldError) as caught:
        model_spec("gpt-17")
    assert caught.value.code is ErrorCode.BAD_REQUEST
    assert "'gpt-17'" in caught.value.message
    assert all(model_id in caught.value.message for model_id in MODELS)


def test_the_defaults_are_one_gate_and_one_embedder_out_of_one_wheel() -> None:
    specs = [model_spec(model_id) for model_id in DEFAULT_MODEL_IDS]
    assert {spec.role for spec in specs} == {ModelRole.CROSS_ENCODER, ModelRole.EMBEDDER}
    sources = [source for spec in specs for artefact in spec.artefacts for source in artefact.sources]
    assert len({source.wheel for source in sources if isinstance(source, WheelMember)}) == 1
    assert all(isinstance(source, WheelMember) for source in sources)


@EVERY_MODEL
def test_every_file_is_pinned_and_has_a_source(spec: ModelSpec) -> None:
    for artefact in spec.artefacts:
        assert re.fullmatch("[0-9a-f]{64}", artefact.sha256)
        assert artefact.size_bytes > 0
        assert artefact.sources


@EVERY_MODEL
def test_hub_sources_are_pinned_to_a_commit(spec: ModelSpec) -> None:
    for artefact in spec.artefacts:
        for source in artefact.sources:
            if isinstance(source, HubFile):
                assert re.fullmatch("[0-9a-f]{40}", source.revision)


@EVERY_MODEL
def test_every_default_cut_says_where_it_comes_from(spec: ModelSpec) -> None:
    assert 0.0 < spec.default_cut.value < 1.0
    assert len(spec.default_cut.provenance) > 20


@EVERY_MODEL
def test_a_model_has_what_its_role_needs(spec: ModelSpec) -> None:
    assert (spec.dims > 0) == (spec.role is ModelRole.EMBEDDER)
    assert bool(spec.pair_template) == (spec.role is ModelRole.CROSS_ENCODER)


def test_no_two_files_of_different_models_share_a_model_graph() -> None:
    assert len({spec.model.sha256 for spec in MODELS.values()}) == len(MODELS)
