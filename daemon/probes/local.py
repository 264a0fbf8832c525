"""The local half of the world check: one claim, one look at the project's files, in a thread."""

from __future__ import annotations

from functools import partial
from pathlib import PurePosixPath
from typing import Final, assert_never

import anyio
from anyio import to_thread

from recalld.actors.ports import Clock
from recalld.daemon.probes.effort import Effort, EffortSpentError
from recalld.daemon.probes.git_refs import branch_exists, branch_merged
from recalld.daemon.probes.packages import has_version
from recalld.daemon.probes.project_files import EntryKind, ProjectFiles
from recalld.models.domain.world import Claim, ClaimKind, FindingState

_THREADS_MAX: Final = 2
"""Looks at the same time; a file system that hangs can keep no more threads than these."""


class LocalProbe:
    """Implements `WorldProbe` over the file system.

    Args:
        clock: Ends looks that take too long.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._threads = anyio.CapacityLimiter(_THREADS_MAX)

    async def look(self, root: str, claim: Claim) -> FindingState:
        """Look once. A caller that gives up leaves the look to end by itself."""
        return await to_thread.run_sync(partial(self._look, root, claim), abandon_on_cancel=True, limiter=self._threads)

    def _look(self, root: str, claim: Claim) -> FindingState:
        return look_at(root, claim, Effort(self._clock.monotonic_s))


def look_at(root: str, claim: Claim, effort: Effort) -> FindingState:
    """What the project's files say of a claim. Blocks for a few reads; never raises.

    Args:
        root: Absolute path of the project.
        claim: A local one.
        effort: What the look may take; when it is used up, the claim stays open.
    """
    if not PurePosixPath(root).is_absolute():
        return FindingState.UNREADABLE
    try:
        return _looked_at(ProjectFiles(root), claim, effort)
    except EffortSpentError:
        return FindingState.UNREADABLE


def _looked_at(files: ProjectFiles, claim: Claim, effort: Effort) -> FindingState:
    match claim.kind:
        case ClaimKind.FILE_EXISTS:
            return _existence(files.kind_of(claim.subject), EntryKind.FILE)
        case ClaimKind.DIRECTORY_EXISTS:
            return _existence(files.kind_of(claim.subject), EntryKind.DIRECTORY)
        case ClaimKind.BRANCH_EXISTS:
            return branch_exists(files, claim.subject, effort)
        case ClaimKind.BRANCH_MERGED:
            return branch_merged(files, claim.subject, claim.expected, effort)
        case ClaimKind.DEPENDENCY_VERSION:
            return has_version(files, claim.subject, claim.expected, effort)
        case ClaimKind.PULL_REQUEST_STATE:
            return FindingState.UNREADABLE
        case _:
            assert_never(claim.kind)


def _existence(found: EntryKind, wanted: EntryKind) -> FindingState:
    if found is wanted:
        return FindingState.YES
    match found:
        case EntryKind.OUTSIDE:
            return FindingState.OUTSIDE_PROJECT
        case EntryKind.UNREADABLE:
            return FindingState.UNREADABLE
        case EntryKind.OTHER if wanted is EntryKind.FILE:
            return FindingState.UNREADABLE  # whoever wrote "file" may well have meant a pipe or a socket
        case _:
            return FindingState.NO
