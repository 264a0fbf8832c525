from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import msgspec
import pytest

from recalld.models.inference.provision.child import Child, ChildEnd, ChildLimits, ChildResult, _Watch, run_child
from recalld.models.inference.provision.fetching import FetchFailure, failure_of

LIMITS = ChildLimits(start_s=10.0, reach_s=4.0, stall_s=30.0, total_s=100.0, extra_bytes=10)


class Scene:
    """A child as the files it leaves show it, at times chosen by the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.has_started = False
        self.has_reached = False
        self.watch = _Watch(self.child(), LIMITS, 0.0)

    def child(self, *, module: str = "none") -> Child:
        return Child(
            module=module,
            arguments=(),
            environment={"PATH": os.environ["PATH"]},
            work_dir=self.folder,
            written_dir=self.folder / "files",
            bytes_expected=100,
            has_started=lambda: self.has_started,
            has_reached=lambda: self.has_reached,
        )

    def write(self, count: int) -> None:
        (self.folder / "files" / "part").write_bytes(bytes(count))


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    (tmp_path / "files").mkdir()
    return Scene(tmp_path)


def test_a_child_that_never_starts_is_given_the_time_a_busy_machine_needs(scene: Scene) -> None:
    assert scene.watch.look(10.0) is None
    assert scene.watch.look(10.1) is ChildEnd.UNREACHABLE


def test_the_time_to_reach_a_source_counts_from_the_start_of_the_program(scene: Scene) -> None:
    scene.has_started = True
    assert scene.watch.look(3.0) is None
    assert scene.watch.look(7.0) is None
    assert scene.watch.look(7.1) is ChildEnd.UNREACHABLE


def test_a_source_that_answered_may_take_its_time_before_the_first_byte(scene: Scene) -> None:
    scene.has_started = scene.has_reached = True
    assert scene.watch.look(1.0) is None
    assert scene.watch.look(31.0) is None
    assert scene.watch.look(31.1) is ChildEnd.STALLED


def test_every_byte_renews_the_patience_but_not_for_ever(scene: Scene) -> None:
    verdicts = []
    for step in range(1, 6):
        scene.write(step)
        verdicts.append(scene.watch.look(step * 25.0))
    assert verdicts == [None, None, None, None, ChildEnd.STALLED]
    assert scene.watch.written == 5


def test_more_bytes_than_the_file_has_are_refused(scene: Scene) -> None:
    scene.write(110)
    assert scene.watch.look(1.0) is None
    scene.write(111)
    assert scene.watch.look(2.0) is ChildEnd.TOO_LARGE


class Clock:
    def monotonic_s(self) -> float:
        return time.monotonic()


def run(scene: Scene, program: str, limits: ChildLimits = LIMITS) -> ChildResult:
    (scene.folder / "program.py").write_text(program)
    child = msgspec.structs.replace(
        scene.child(module="program"),
        environment={"PATH": os.environ["PATH"], "PYTHONPATH": str(scene.folder)},
    )
    return run_child(child, limits, Clock(), threading.Event(), lambda _bytes: None)


def test_a_child_that_writes_without_end_is_ended(scene: Scene) -> None:
    program = "import time\nfile = open('files/part', 'wb', 0)\nwhile file.write(bytes(50)):\n    time.sleep(0.001)\n"
    assert run(scene, program).end is ChildEnd.TOO_LARGE


def test_the_last_complaint_of_a_failed_child_is_kept_without_passwords(scene: Scene) -> None:
    program = (
        "import sys\nprint('Looking at things')\nprint('ERROR: no luck at https://me:secret@host/x')\nsys.exit(3)\n"
    )
    result = run(scene, program)
    assert result == ChildResult(end=ChildEnd.FAILED, has_reached=False, detail="ERROR: no luck at https://host/x")


def test_the_bytes_a_child_wrote_last_are_seen_after_it_has_ended(scene: Scene) -> None:
    result = run(scene, "open('files/part', 'wb').write(bytes(9))\n")
    assert (result.end, result.has_reached) == (ChildEnd.DONE, True)


@pytest.mark.parametrize(
    ("end", "has_reached", "failure"),
    [
        (ChildEnd.UNREACHABLE, False, FetchFailure.UNAVAILABLE),
        (ChildEnd.FAILED, False, FetchFailure.UNAVAILABLE),
        (ChildEnd.FAILED, True, FetchFailure.INTERRUPTED),
        (ChildEnd.DONE, True, FetchFailure.INTERRUPTED),
        (ChildEnd.STALLED, True, FetchFailure.INTERRUPTED),
        (ChildEnd.TOO_LARGE, True, FetchFailure.REFUSED),
        (ChildEnd.STOPPED, True, FetchFailure.STOPPED),
    ],
)
def test_how_a_child_ended_decides_whether_repeating_may_help(
    end: ChildEnd,
    has_reached: bool,  # noqa: FBT001 - parametrized
    failure: FetchFailure,
) -> None:
    assert failure_of(ChildResult(end=end, has_reached=has_reached)).failure is failure
