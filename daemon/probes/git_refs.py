"""Branches of a project, read from the files below `.git`.

Git itself is never run: a repository can make it run programs of its own.
"""

from __future__ import annotations

import collections
import re
import zlib
from typing import Final

from recalld.daemon.probes.effort import Effort, lines_of
from recalld.daemon.probes.project_files import EntryKind, ProjectFiles
from recalld.models.domain.world import FindingState

COMMITS_MAX: Final = 2_000
"""Commits walked before it is left open whether a branch is merged."""
PARENTS_MAX: Final = 64
"""A commit that names more parents is not walked through: its file was not made by merging branches."""
_COMMIT_BYTES_MAX: Final = 65_536
"""Of a commit's file as it is kept, and of its content."""
_REF_BYTES_MAX: Final = 4_096
"""Of a file that holds one ref, and of a line of packed refs."""
_NAME: Final = re.compile(r"[\w][\w./+@#-]{0,199}")
_COMMIT_ID: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MAIN_BRANCHES: Final = ("main", "master")
_PLACES: Final = ("refs/heads/", "refs/remotes/origin/")


def branch_exists(files: ProjectFiles, name: str, effort: Effort) -> FindingState:
    """Whether there is such a branch, here or as last seen at `origin`.

    Raises:
        EffortSpentError: There is more to read than the look may take.
    """
    if not _is_readable(files) or not _is_name(name):
        return FindingState.UNREADABLE
    try:
        return FindingState.YES if _commit_of(files, name, effort) is not None else FindingState.NO
    except _UnclearRefError:
        return FindingState.UNREADABLE


def branch_merged(files: ProjectFiles, name: str, into: str, effort: Effort) -> FindingState:
    """Whether all commits of a branch are in another one.

    Left open where the branch is gone, which says nothing, and where the commits to walk lie in packs.

    Args:
        files: The project.
        name: The branch.
        into: The other one; empty: the main branch.
        effort: What reading may take.

    Raises:
        EffortSpentError: There is more to read than that.
    """
    if not _is_readable(files) or not _is_name(name) or (into and not _is_name(into)):
        return FindingState.UNREADABLE
    targets = (into,) if into else _MAIN_BRANCHES
    try:
        branch = _commit_of(files, name, effort)
        found = [commit for each in targets if (commit := _commit_of(files, each, effort)) is not None]
    except _UnclearRefError:
        return FindingState.UNREADABLE
    if branch is None or not found:
        return FindingState.UNREADABLE
    return _is_ancestor(files, branch, found[0], effort)


class _UnclearRefError(Exception):
    """A ref is there, and what it says is no commit."""


def _is_readable(files: ProjectFiles) -> bool:
    """Whether refs are kept as files: not in a linked work tree, not in a reftable."""
    return files.kind_of(".git") is EntryKind.DIRECTORY and files.kind_of(".git/reftable") is EntryKind.ABSENT


def _is_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and ".." not in name and not name.endswith((".lock", "/"))


def _commit_of(files: ProjectFiles, name: str, effort: Effort) -> str | None:
    """The commit of a branch; None when there is no such branch.

    Raises:
        _UnclearRefError: It may be there: a file is too large, or refers to something else.
    """
    packed = _packed_refs(files, effort)
    for place in _PLACES:
        path = f".git/{place}{name}"
        kind = files.kind_of(path)
        if kind is EntryKind.FILE:
            loose = (files.read(path, bytes_max=_REF_BYTES_MAX) or b"").decode("ascii", "replace").strip()
            if _COMMIT_ID.fullmatch(loose) is None:
                raise _UnclearRefError
            return loose
        if kind not in {EntryKind.ABSENT, EntryKind.DIRECTORY}:  # a branch a/b makes a directory a
            raise _UnclearRefError
        if (commit := packed.get(f"{place}{name}")) is not None:
            return commit
    return None


def _packed_refs(files: ProjectFiles, effort: Effort) -> dict[str, str]:
    if files.kind_of(".git/packed-refs") is EntryKind.ABSENT:
        return {}
    content = files.read(".git/packed-refs")
    if content is None:
        raise _UnclearRefError
    lines = (line.partition(" ") for line in lines_of(content, effort, line_bytes_max=_REF_BYTES_MAX))
    return {ref: commit for commit, _, ref in lines if _COMMIT_ID.fullmatch(commit) is not None}


def _is_ancestor(files: ProjectFiles, branch: str, target: str, effort: Effort) -> FindingState:
    """Walk back from the target, newest first as far as parents tell."""
    seen = {target}
    ahead = collections.deque((target,))
    is_complete = True
    for _ in range(COMMITS_MAX):
        if branch in seen:
            return FindingState.YES
        if not ahead:
            return FindingState.NO if is_complete else FindingState.UNREADABLE
        effort.spend()
        parents = _parents_of(files, ahead.popleft())
        if parents is None:
            is_complete = False
            continue
        effort.spend(len(parents))
        fresh = [parent for parent in dict.fromkeys(parents) if parent not in seen]
        seen.update(fresh)
        ahead.extend(fresh)
    return FindingState.UNREADABLE


def _parents_of(files: ProjectFiles, commit: str) -> tuple[str, ...] | None:
    """The parents of a commit that is kept as a file of its own; None when it is not, or is none that git makes."""
    packed = files.read(f".git/objects/{commit[:2]}/{commit[2:]}", bytes_max=_COMMIT_BYTES_MAX)
    if packed is None:
        return None
    try:
        content = zlib.decompressobj().decompress(packed, _COMMIT_BYTES_MAX)
    except zlib.error:
        return None
    head, _, body = content.partition(b"\0")
    if not head.startswith(b"commit "):
        return None
    fields = body.partition(b"\n\n")[0].decode("ascii", "replace").splitlines()
    parents = tuple(line.removeprefix("parent ") for line in fields if line.startswith("parent "))
    is_plausible = len(parents) <= PARENTS_MAX and all(map(_COMMIT_ID.fullmatch, parents))
    return parents if is_plausible else None
