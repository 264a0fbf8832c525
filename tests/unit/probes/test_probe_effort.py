"""Hostile projects: no content of a file makes a look take long. Work is counted in steps, not measured in time."""

from __future__ import annotations

import hashlib
import zlib
from pathlib import Path

import pytest

from recalld.daemon.probes.effort import STEPS_MAX, Effort, EffortSpentError, lines_of
from recalld.daemon.probes.git_refs import COMMITS_MAX, PARENTS_MAX
from recalld.daemon.probes.local import look_at
from recalld.daemon.probes.project_files import FILE_BYTES_MAX
from recalld.models.domain.world import Claim, ClaimKind, FindingState

PINS = ("uv.lock", "poetry.lock", "Cargo.lock", "package-lock.json", "constraints.txt", "requirements.txt")
PIN = b"\nnumpy==2.2.1\n"


class CountingClock:
    """Stands still, and counts how often it is asked."""

    def __init__(self, *, step_s: float = 0.0) -> None:
        self.now_s = 0.0
        self.step_s = step_s

    def __call__(self) -> float:
        self.now_s += self.step_s
        return self.now_s


def version_of_numpy(root: Path, effort: Effort, expected: str = "2.2.1") -> FindingState:
    claim = Claim(id="c1", candidate_id="m", kind=ClaimKind.DEPENDENCY_VERSION, subject="numpy", expected=expected)
    return look_at(str(root), claim, effort)


HOSTILE = {
    "blank lines": b"\n" * 90_000,
    "blanks": b" " * 200_000,
    "blank lines with blanks": b" \t" * 100_000,
    "a long name": b"a" * 2_000_000,
    "an open bracket": b"a[" * 1_000_000,
    "names without pins": b"a\n" * 90_000,
    "a name and blanks": b"a" + b" " * 1_000_000,
    "equal signs": b"a==" * 600_000,
    "no text": b"\xff" * 500_000,
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_pin_is_found_behind_whatever_lies_before_it_in_one_step_a_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "requirements.txt").write_bytes(content + PIN)
    effort = Effort(CountingClock())
    assert version_of_numpy(tmp_path, effort) is FindingState.YES
    assert effort.steps <= content.count(b"\n") + 3


@pytest.mark.parametrize("name", [*PINS, "pyproject.toml"])
@pytest.mark.parametrize("unit", [b"\n", b" \n", b"a\n", b'name = "\n', b"[a]\n"])
def test_a_file_of_too_many_lines_leaves_the_version_open(tmp_path: Path, name: str, unit: bytes) -> None:
    (tmp_path / name).write_bytes(unit * 2_000 + PIN)
    effort = Effort(CountingClock(), steps_max=1_000)
    assert version_of_numpy(tmp_path, effort) is FindingState.UNREADABLE
    assert effort.steps <= 1_001


def test_a_look_ends_when_its_time_is_up(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_bytes(b"\n" * 10_000 + PIN)
    assert version_of_numpy(tmp_path, Effort(CountingClock(step_s=0.001))) is FindingState.YES
    slow = Effort(CountingClock(step_s=0.5))
    assert version_of_numpy(tmp_path, slow) is FindingState.UNREADABLE
    assert slow.steps < 1_000


@pytest.mark.parametrize(
    "content",
    [
        b"[project]\nx" + b".a" * 200_000 + b" = 1\n",
        b"[project]\n" + b"x = 1\n" * 50_000,
        b"[" + b"a." * 400_000 + b"a]\nx = 1\n",
        b"[project]\ndependencies = " + b"[" * 2_000 + b"\n",
        b"[tool.x]\n" + b"y = [\n" * 50_000,
    ],
)
def test_no_toml_that_takes_long_to_parse_is_parsed(
    tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []

    def loads(text: str) -> dict[str, str]:
        parsed.append(text)
        return {}

    monkeypatch.setattr("recalld.daemon.probes.packages.tomllib.loads", loads)
    (tmp_path / "pyproject.toml").write_bytes(content)
    assert version_of_numpy(tmp_path, Effort(CountingClock())) is FindingState.UNREADABLE
    assert sum(map(len, parsed)) <= 65_536
    assert all(len(line) <= 2_048 for text in parsed for line in text.splitlines())


def test_what_tools_write_into_a_pyproject_does_not_hide_its_dependencies(tmp_path: Path) -> None:
    tools = b"[tool.x]\n" + b"y = 'z'\n" * 20_000
    own = b'[project]\nname = "x"\ndependencies = [\n  "numpy==2.2.1",\n]\n'
    extra = b'[project.optional-dependencies]\nx = ["scipy==1.0"]\n'
    (tmp_path / "pyproject.toml").write_bytes(tools + own + tools.replace(b"tool.x", b"tool.y") + extra)
    assert version_of_numpy(tmp_path, Effort(CountingClock())) is FindingState.YES


@pytest.mark.parametrize(
    "content",
    [b'{"x": ' + b"[" * 500_000, b'{"packages": {"a": ' + b'{"a":' * 200_000, b'{"packages": {"\xff": {}}}'],
)
def test_a_lock_nested_without_end_says_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "package-lock.json").write_bytes(content)
    assert version_of_numpy(tmp_path, Effort(CountingClock())) is FindingState.UNREADABLE


def test_a_line_is_given_up_to_its_limit_and_without_its_end() -> None:
    lines = lines_of(b"abc\r\n\nabcdef\nx", Effort(CountingClock()), line_bytes_max=4)
    assert list(lines) == ["abc", "", "abcd", "x"]


def test_steps_over_the_allowance_end_the_look() -> None:
    effort = Effort(CountingClock(), steps_max=3)
    effort.spend(3)
    with pytest.raises(EffortSpentError):
        effort.spend()


# --- git objects ------------------------------------------------------------------------------------------------------


def commit(root: Path, fields: list[str]) -> str:
    body = "\n".join(["tree " + "0" * 40, *fields, "author a <a> 0 +0000", "", ""]).encode()
    content = b"commit %d\0" % len(body) + body
    digest = hashlib.sha1(content).hexdigest()  # noqa: S324 - git's own
    place = root / ".git" / "objects" / digest[:2] / digest[2:]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(zlib.compress(content))
    return digest


def branch(root: Path, name: str, digest: str) -> None:
    path = root / ".git" / "refs" / "heads" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{digest}\n")


def is_side_merged(root: Path) -> tuple[FindingState, int]:
    effort = Effort(CountingClock())
    claim = Claim(id="c1", candidate_id="m", kind=ClaimKind.BRANCH_MERGED, subject="side", expected="main")
    return look_at(str(root), claim, effort), effort.steps


def test_a_commit_of_more_parents_than_git_makes_is_not_walked_through(tmp_path: Path) -> None:
    many = [f"parent {number:040x}" for number in range(PARENTS_MAX + 1)]
    branch(tmp_path, "main", commit(tmp_path, many))
    branch(tmp_path, "side", commit(tmp_path, []))
    state, steps = is_side_merged(tmp_path)
    assert state is FindingState.UNREADABLE
    assert steps <= 2


def test_commits_that_fan_out_are_walked_for_a_bounded_number_of_steps(tmp_path: Path) -> None:
    layer = [commit(tmp_path, [f"parent {each:040x}" for each in range(PARENTS_MAX)])]
    for _ in range(COMMITS_MAX // PARENTS_MAX):
        layer = [commit(tmp_path, [f"parent {layer[0]}", *(f"parent {n:040x}" for n in range(PARENTS_MAX - 1))])]
    branch(tmp_path, "main", layer[0])
    branch(tmp_path, "side", commit(tmp_path, []))
    state, steps = is_side_merged(tmp_path)
    assert state is FindingState.UNREADABLE
    assert steps <= COMMITS_MAX * 4


@pytest.mark.parametrize("parent", ["../../../etc/passwd", "0" * 39, "0" * 41, "Z" * 40, ""])
def test_a_parent_that_is_no_commit_leaves_the_answer_open(tmp_path: Path, parent: str) -> None:
    branch(tmp_path, "main", commit(tmp_path, [f"parent {parent}"]))
    branch(tmp_path, "side", commit(tmp_path, []))
    assert is_side_merged(tmp_path)[0] is FindingState.UNREADABLE


def test_an_object_that_unpacks_to_gigabytes_or_is_large_itself_is_left_alone(tmp_path: Path) -> None:
    head = "a" * 40
    place = tmp_path / ".git" / "objects" / head[:2] / head[2:]
    place.parent.mkdir(parents=True)
    branch(tmp_path, "main", head)
    branch(tmp_path, "side", commit(tmp_path, []))
    for content in (zlib.compress(b"commit 9\0" + b"parent " * 4_000_000), b"x" * (FILE_BYTES_MAX // 2)):
        place.write_bytes(content)
        assert is_side_merged(tmp_path)[0] is FindingState.UNREADABLE


def test_packed_refs_without_end_leave_a_branch_open(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "packed-refs").write_bytes(b"\n" * (STEPS_MAX + 1))
    claim = Claim(id="c1", candidate_id="m", kind=ClaimKind.BRANCH_EXISTS, subject="gone")
    assert look_at(str(tmp_path), claim, Effort(CountingClock())) is FindingState.UNREADABLE
