"""Looks at a project: what is said of files, branches and versions, and that nothing outside is ever touched."""

from __future__ import annotations

import hashlib
import os
import socket
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.daemon.clock import SystemClock
from recalld.daemon.probes.effort import Effort
from recalld.daemon.probes.git_refs import COMMITS_MAX
from recalld.daemon.probes.local import LocalProbe, look_at
from recalld.daemon.probes.project_files import FILE_BYTES_MAX, EntryKind, ProjectFiles
from recalld.models.domain.world import Claim, ClaimKind, FindingState

YES, NO = FindingState.YES, FindingState.NO
OUTSIDE, UNREADABLE = FindingState.OUTSIDE_PROJECT, FindingState.UNREADABLE


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "app.py").write_text("pass")
    (tmp_path / "secret.txt").write_text("secret")
    return root


def look(root: Path, kind: ClaimKind, subject: str, expected: str = "") -> FindingState:
    claim = Claim(id="c1", candidate_id="m", kind=kind, subject=subject, expected=expected)
    return look_at(str(root), claim, effort())


def effort() -> Effort:
    """As much as any look may take, on a clock that stands still."""
    return Effort(lambda: 0.0)


def file(root: Path, path: str) -> FindingState:
    return look(root, ClaimKind.FILE_EXISTS, path)


def test_files_and_directories_are_told_apart(project: Path) -> None:
    assert file(project, "src/app.py") is YES
    assert file(project, str(project / "src" / "app.py")) is YES
    assert file(project, "src/gone.py") is NO
    assert file(project, "src/app.py/deeper") is NO
    assert file(project, "src") is NO
    assert look(project, ClaimKind.DIRECTORY_EXISTS, "src/") is YES
    assert look(project, ClaimKind.DIRECTORY_EXISTS, "src/app.py") is NO


@pytest.mark.parametrize("path", ["../secret.txt", "src/../../secret.txt", "src/../src/app.py", "/etc/passwd", "/"])
def test_a_path_that_leads_out_by_its_words_is_not_touched(project: Path, path: str) -> None:
    assert file(project, path) is OUTSIDE


def test_a_link_is_not_followed_wherever_it_leads(project: Path) -> None:
    (project / "out").symlink_to(project.parent)
    (project / "direct").symlink_to(project.parent / "secret.txt")
    (project / "inside").symlink_to(project / "src")
    (project / "loop").symlink_to("loop")
    for path in ("out/secret.txt", "out", "direct", "inside/app.py", "loop", "loop/x"):
        assert file(project, path) is OUTSIDE, path


def test_nothing_is_read_through_a_link(project: Path) -> None:
    (project / "requirements.txt").symlink_to(project.parent / "pins")
    (project.parent / "pins").write_text("numpy==1.0\n")
    assert look(project, ClaimKind.DEPENDENCY_VERSION, "numpy", "1.0") is UNREADABLE


def test_a_pipe_or_socket_is_neither_file_nor_a_place_to_hang(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(project / "pipe")
    os.mkfifo(project / "requirements.txt")
    monkeypatch.chdir(project)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    assert (file(project, "pipe"), file(project, "socket")) == (UNREADABLE, UNREADABLE)
    assert look(project, ClaimKind.DIRECTORY_EXISTS, "pipe") is NO
    files = ProjectFiles(str(project))
    assert (files.kind_of("pipe"), files.kind_of("socket")) == (EntryKind.OTHER, EntryKind.OTHER)
    assert files.read("pipe") is None
    assert look(project, ClaimKind.DEPENDENCY_VERSION, "numpy", "1.0") is UNREADABLE


def test_a_file_beyond_the_limit_is_not_read(project: Path) -> None:
    with (project / "big").open("wb") as big:
        big.truncate(FILE_BYTES_MAX + 1)
    assert ProjectFiles(str(project)).read("big") is None


def test_a_project_that_is_not_there_or_not_absolute_says_nothing(project: Path) -> None:
    assert file(project / "gone", "x") is UNREADABLE
    assert (
        look_at("project", Claim(id="c", candidate_id="m", kind=ClaimKind.FILE_EXISTS, subject="x"), effort())
        is UNREADABLE
    )


@given(st.text(max_size=80))
def test_no_path_makes_a_look_raise(path: str) -> None:
    assert look_at(
        "/nonexistent/project", Claim(id="c", candidate_id="m", kind=ClaimKind.FILE_EXISTS, subject=path), effort()
    )


# --- branches ---------------------------------------------------------------------------------------------------------


def commit(root: Path, *parents: str, note: str = "") -> str:
    """Write a loose commit object and return its id."""
    lines = ["tree " + "0" * 40, *(f"parent {parent}" for parent in parents), "author a <a> 0 +0000", "", note]
    body = "\n".join(lines).encode()
    content = b"commit %d\0" % len(body) + body
    digest = hashlib.sha1(content).hexdigest()  # noqa: S324 - git's own
    place = root / ".git" / "objects" / digest[:2] / digest[2:]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(zlib.compress(content))
    return digest


def branch(root: Path, name: str, digest: str, place: str = "refs/heads") -> None:
    path = root / ".git" / place / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{digest}\n")


def exists(root: Path, name: str) -> FindingState:
    return look(root, ClaimKind.BRANCH_EXISTS, name)


def merged(root: Path, name: str, into: str = "") -> FindingState:
    return look(root, ClaimKind.BRANCH_MERGED, name, into)


def test_a_branch_is_found_loose_packed_or_as_last_seen_at_origin(project: Path) -> None:
    head = commit(project)
    branch(project, "feature/x", head)
    branch(project, "far", head, "refs/remotes/origin")
    (project / ".git" / "packed-refs").write_text(f"# pack-refs\n{head} refs/heads/packed\n")
    assert [exists(project, name) for name in ("feature/x", "far", "packed", "gone", "feature")] == [
        YES,
        YES,
        YES,
        NO,
        NO,
    ]


def test_a_ref_that_may_be_there_is_not_said_to_be_gone(project: Path) -> None:
    head = commit(project)
    branch(project, "main", head)
    branch(project, "alias", "ref: refs/heads/main")
    (project / ".git" / "refs" / "heads" / "link").symlink_to("main")
    assert [exists(project, name) for name in ("alias", "link", "main")] == [UNREADABLE, UNREADABLE, YES]
    assert merged(project, "alias") is UNREADABLE
    with (project / ".git" / "packed-refs").open("wb") as packed:
        packed.truncate(FILE_BYTES_MAX + 1)
    assert exists(project, "gone") is UNREADABLE
    assert merged(project, "main", "gone") is UNREADABLE


@pytest.mark.parametrize("name", ["../../secret", "-x", "a..b", "x.lock", "a\nb", ""])
def test_a_name_that_no_branch_has_is_not_looked_for(project: Path, name: str) -> None:
    branch(project, "main", commit(project))
    assert exists(project, name) is UNREADABLE
    assert merged(project, name) is UNREADABLE


def test_without_a_repository_of_files_nothing_is_said(project: Path) -> None:
    assert exists(project, "main") is UNREADABLE
    (project / ".git").write_text("gitdir: ../elsewhere")
    assert exists(project, "main") is UNREADABLE
    (project / ".git").unlink()
    (project / ".git" / "reftable").mkdir(parents=True)
    assert exists(project, "main") is UNREADABLE


def test_a_branch_is_merged_when_its_last_commit_is_behind_the_other_one(project: Path) -> None:
    base = commit(project)
    side = commit(project, base, note="side")
    top = commit(project, base, side, note="merge")
    open_end = commit(project, base, note="open")
    branch(project, "main", top)
    branch(project, "side", side)
    branch(project, "same", top)
    branch(project, "open", open_end)
    assert [merged(project, name) for name in ("side", "same", "open")] == [YES, YES, NO]
    assert merged(project, "side", "open") is NO
    assert merged(project, "open", "open") is YES


def test_what_packs_hide_or_branches_that_are_gone_stay_open(project: Path) -> None:
    hidden = "1" * 40
    branch(project, "main", commit(project, hidden))
    branch(project, "side", commit(project, note="side"))
    assert merged(project, "side") is UNREADABLE
    assert merged(project, "gone") is UNREADABLE
    assert merged(project, "side", "gone") is UNREADABLE
    (project / ".git" / "objects" / "11").mkdir()
    (project / ".git" / "objects" / "11" / hidden[2:]).write_bytes(b"no zlib")
    assert merged(project, "side") is UNREADABLE


def test_a_very_long_history_is_left_open(project: Path) -> None:
    last = commit(project)
    branch(project, "old", last)
    for number in range(COMMITS_MAX + 1):
        last = commit(project, last, note=str(number))
    branch(project, "main", last)
    assert merged(project, "old") is UNREADABLE


# --- versions ---------------------------------------------------------------------------------------------------------

LOCKS = {
    "uv.lock": '[[package]]\nname = "numpy"\nversion = "2.2.1"\n',
    "poetry.lock": '[[package]]\nname = "Numpy"\nversion = "2.2.1"\n',
    "Cargo.lock": '[[package]]\nname = "numpy"\nversion = "2.2.1"\n',
    "package-lock.json": '{"packages": {"": {"version": "9"}, "node_modules/numpy": {"version": "2.2.1"}}}',
    "constraints.txt": "# pins\nnumpy==2.2.1\n",
    "requirements.txt": "numpy[extra] == 2.2.1 ; python_version > '3'\n",
    "pyproject.toml": '[project]\nname = "x"\ndependencies = ["numpy==2.2.1"]\n',
}


def version(root: Path, package: str, expected: str) -> FindingState:
    return look(root, ClaimKind.DEPENDENCY_VERSION, package, expected)


@pytest.mark.parametrize("name", LOCKS)
def test_a_version_is_read_from_every_kind_of_lock(project: Path, name: str) -> None:
    (project / name).write_text(LOCKS[name])
    assert version(project, "numpy", "2.2.1") is YES
    assert version(project, "NumPy", "2.2") is YES
    assert version(project, "numpy", "2.2.10") is NO
    assert version(project, "numpy", "2.20") is NO
    assert version(project, "scipy", "1.0") is UNREADABLE


def test_the_first_file_that_names_the_package_decides(project: Path) -> None:
    (project / "uv.lock").write_text(LOCKS["uv.lock"])
    (project / "requirements.txt").write_text("numpy==1.0\n")
    assert version(project, "numpy", "2.2.1") is YES
    assert version(project, "numpy", "1.0") is NO


@pytest.mark.parametrize(
    ("line", "expected", "state"),
    [
        ("numpy==2.2.*", "2.2.1", UNREADABLE),
        ("numpy>=2.2.1", "2.2.1", UNREADABLE),
        ("numpy==2.2.1+cpu", "2.2.1", YES),
        ("numpy==2.2.1rc1", "2.2.1", NO),
    ],
)
def test_only_a_pin_says_which_version_it_is(project: Path, line: str, expected: str, state: FindingState) -> None:
    (project / "requirements.txt").write_text(f"{line}\n")
    assert version(project, "numpy", expected) is state


def test_several_versions_of_one_package_say_nothing(project: Path) -> None:
    (project / "Cargo.lock").write_text(LOCKS["Cargo.lock"] + LOCKS["Cargo.lock"].replace("2.2.1", "1.0.0"))
    assert version(project, "numpy", "2.2.1") is UNREADABLE


@pytest.mark.parametrize("name", ["package-lock.json", "pyproject.toml"])
@pytest.mark.parametrize("content", [b"\xff\xfe", b"{", b"[project", b'{"packages": 5}', b"x = [" * 5_000])
def test_a_broken_lock_says_nothing(project: Path, name: str, content: bytes) -> None:
    (project / name).write_bytes(content)
    assert version(project, "numpy", "2.2.1") is UNREADABLE


@pytest.mark.anyio
async def test_the_adapter_looks_in_a_thread_and_says_the_same(project: Path) -> None:
    claim = Claim(id="c", candidate_id="m", kind=ClaimKind.FILE_EXISTS, subject="src/app.py")
    assert await LocalProbe(SystemClock()).look(str(project), claim) is YES
    remote = Claim(id="c", candidate_id="m", kind=ClaimKind.PULL_REQUEST_STATE, subject="1", expected="open")
    assert await LocalProbe(SystemClock()).look(str(project), remote) is UNREADABLE
