"""A hub and a package index on loopback, and a real clock: these tests start real downloaders."""

from __future__ import annotations

import hashlib
import os
import socket
import threading
import time
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec
import pytest

from recalld.models.inference.manifest import (
    Artefact,
    HubFile,
    ModelRole,
    ModelSpec,
    Provenanced,
    Wheel,
    WheelMember,
)

MODEL = bytes(range(256)) * 2_000
TOKENIZER = b'{"a": "tokenizer"} ' * 64
HUB_MODEL = bytes(reversed(range(256))) * 3_000
REVISION = "c0ffee" + "0" * 34


class RealClock:
    def monotonic_s(self) -> float:
        return time.monotonic()


def pin(name: str, content: bytes, *sources: HubFile | WheelMember) -> Artefact:
    return Artefact(
        file_name=name, size_bytes=len(content), sha256=hashlib.sha256(content).hexdigest(), sources=sources
    )


class Carrier(msgspec.Struct, frozen=True, kw_only=True):
    """Fake models, the wheel they come in and the folder that serves as its index."""

    manifest: dict[str, ModelSpec]
    wheel: Wheel
    index_dir: Path


@pytest.fixture(scope="session")
def carrier(tmp_path_factory: pytest.TempPathFactory) -> Carrier:
    index_dir = tmp_path_factory.mktemp("index")
    path = index_dir / "carrier-1.0-py3-none-any.whl"
    metadata = "Metadata-Version: 2.1\nName: carrier\nVersion: 1.0\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("carrier/__init__.py", "raise SystemExit('a carrier is never imported')\n")
        archive.writestr("carrier/model.onnx", MODEL)
        archive.writestr("carrier/tokenizer.json", TOKENIZER)
        archive.writestr("carrier-1.0.dist-info/METADATA", metadata)
        archive.writestr(
            "carrier-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("carrier-1.0.dist-info/RECORD", "")
    content = path.read_bytes()
    wheel = Wheel(
        project="carrier",
        version="1.0",
        filename=path.name,
        size_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )
    hub = HubFile(repo_id="someone/some-model", revision=REVISION, filename="onnx/model_quantized.onnx")
    tokenizer = pin("tokenizer.json", TOKENIZER, WheelMember(wheel=wheel, path="carrier/tokenizer.json"))
    graphs = {
        "wheel-model": pin("model.onnx", MODEL, WheelMember(wheel=wheel, path="carrier/model.onnx")),
        "hub-model": pin("model.onnx", HUB_MODEL, hub),
    }
    manifest = {
        model_id: ModelSpec(
            id=model_id,
            role=ModelRole.CROSS_ENCODER,
            model=graph,
            tokenizer=tokenizer,
            dims=0,
            tokens_max=16,
            default_cut=Provenanced(value=0.5, provenance="made up for tests"),
            licence="Apache-2.0",
        )
        for model_id, graph in graphs.items()
    }
    return Carrier(manifest=manifest, wheel=wheel, index_dir=index_dir)


class StandIn(ThreadingHTTPServer):
    """A server whose answers are scripted by path."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str]] = []
        self.sent_bytes_max: int | None = None
        """Cut every body short after so many bytes."""
        self.hold = threading.Event()
        """Not set: a body stops half-way until it is."""
        self.hold.set()
        self.held = threading.Event()
        """Set once a body has stopped half-way."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: StandIn
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer(has_body=False)

    def do_GET(self) -> None:
        self._answer(has_body=True)

    def _answer(self, *, has_body: bool) -> None:
        self.server.requests.append((self.command, self.path))
        content = self.server.files.get(self.path)
        self.send_response(404 if content is None else 200)
        body = content or b"nothing here"
        self.send_header("Content-Length", str(len(body)))
        kind = "text/html" if self.path.endswith("/") else "application/octet-stream"
        self.send_header("Content-Type", kind)
        if content is not None:
            self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
            self.send_header("X-Repo-Commit", REVISION)
        self.end_headers()
        if has_body:
            self._send(body)

    def _send(self, body: bytes) -> None:
        try:
            if self.server.sent_bytes_max is not None and len(body) > self.server.sent_bytes_max:
                self.wfile.write(body[: self.server.sent_bytes_max])
                self.close_connection = True
                return
            half = len(body) // 2
            self.wfile.write(body[:half])
            if not self.server.hold.is_set() and not self.path.endswith("/"):
                self.wfile.flush()
                self.server.held.set()
                self.server.hold.wait(60)
            self.wfile.write(body[half:])
        except OSError:  # the downloader was ended on purpose
            self.close_connection = True

    def log_message(self, *_args: object) -> None:
        """Be quiet."""


@pytest.fixture
def server() -> Iterator[StandIn]:
    stand_in = StandIn()
    thread = threading.Thread(target=stand_in.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield stand_in
    stand_in.hold.set()
    stand_in.shutdown()
    stand_in.server_close()
    thread.join(10)


@pytest.fixture
def hub(server: StandIn) -> StandIn:
    server.files[f"/someone/some-model/resolve/{REVISION}/onnx/model_quantized.onnx"] = HUB_MODEL
    return server


@pytest.fixture
def index(server: StandIn, carrier: Carrier) -> StandIn:
    """A package index over HTTP."""
    name = carrier.wheel.filename
    server.files["/simple/carrier/"] = (
        f'<!DOCTYPE html><html><body><a href="/files/{name}">{name}</a></body></html>'.encode()
    )
    server.files[f"/files/{name}"] = (carrier.index_dir / name).read_bytes()
    return server


@pytest.fixture
def tarpit() -> Iterator[str]:
    """An address that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def isolated(**settings: str) -> dict[str, str]:
    """An environment in which a downloader knows nothing but what the test tells it."""
    kept = {name: os.environ[name] for name in ("PATH", "VIRTUAL_ENV", "LANG") if name in os.environ}
    return {**kept, "HOME": "/nonexistent", "PIP_CONFIG_FILE": os.devnull, "NO_PROXY": "*", "no_proxy": "*", **settings}


@pytest.fixture
def clock() -> RealClock:
    return RealClock()


@pytest.fixture
def local_index(carrier: Carrier) -> dict[str, str]:
    """The environment of a machine whose only index is a folder, and whose hub is nowhere."""
    return isolated(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(carrier.index_dir), HF_ENDPOINT="http://127.0.0.1:9")


@pytest.fixture
def http_index(index: StandIn) -> dict[str, str]:
    return isolated(PIP_INDEX_URL=f"{index.url}/simple", HF_ENDPOINT="http://127.0.0.1:9")


@pytest.fixture
def hub_environment(hub: StandIn, carrier: Carrier) -> dict[str, str]:
    return isolated(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(carrier.index_dir), HF_ENDPOINT=hub.url)


@pytest.fixture
def no_network() -> dict[str, str]:
    """Every source refuses connections."""
    return isolated(PIP_INDEX_URL="http://127.0.0.1:9/simple", HF_ENDPOINT="http://127.0.0.1:9")


@pytest.fixture
def silent_network(tarpit: str) -> dict[str, str]:
    """Every source accepts connections and never answers."""
    return isolated(PIP_INDEX_URL=f"{tarpit}/simple", HF_ENDPOINT=tarpit)
