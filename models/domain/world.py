"""What a stored record claims about the world outside, and what a look at the world said of it."""

from __future__ import annotations

import enum

import msgspec


class ClaimKind(enum.StrEnum):
    """What a claim is about."""

    FILE_EXISTS = "file_exists"
    DIRECTORY_EXISTS = "directory_exists"
    BRANCH_EXISTS = "branch_exists"
    BRANCH_MERGED = "branch_merged"
    DEPENDENCY_VERSION = "dependency_version"
    PULL_REQUEST_STATE = "pull_request_state"


REMOTE_CLAIMS = frozenset({ClaimKind.PULL_REQUEST_STATE})
"""Kinds that no look at the project's own files can settle: the runtime is asked for them."""


class PullRequestState(enum.StrEnum):
    """The states a pull request can be claimed, or found, to be in."""

    OPEN = "open"
    MERGED = "merged"
    CLOSED = "closed"


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a record says is so.

    Attributes:
        id: Names the claim within its decision, as in `c1`.
        candidate_id: The record that says it.
        kind: What it is about.
        subject: The path, branch, package or number.
        expected: The version or state claimed; for a merged branch the branch it was merged into, empty if the record
            does not say. Empty for kinds that have none.
        is_negated: The record says that it is not so.
        place: Which claim of its record it is, from 1, in text order.
        start: Where the subject starts in the record's text, in characters.
        end: Behind its last character.
    """

    id: str
    candidate_id: str
    kind: ClaimKind
    subject: str
    expected: str = ""
    is_negated: bool = False
    place: int = 1
    start: int = 0
    end: int = 0

    @property
    def is_remote(self) -> bool:
        """Whether only the runtime can find out."""
        return self.kind in REMOTE_CLAIMS


class FindingState(enum.StrEnum):
    """What a look at the project's files said."""

    YES = "yes"
    NO = "no"
    OUTSIDE_PROJECT = "outside_project"
    """The path leads out of the project, so it was not touched."""
    UNREADABLE = "unreadable"
    """There is something, but it does not say."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a look at the project's files said about one claim.

    Attributes:
        claim_id: Which claim.
        state: Whether it is so, ignoring `is_negated`.
    """

    claim_id: str
    state: FindingState


class ProbeAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime found about a remote claim, unread: it may be anything that anybody put on the net."""

    claim_id: str
    answer: str


class ProbeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A remote claim that the runtime is asked to look at."""

    claim_id: str
    candidate_id: str
    kind: ClaimKind
    subject: str


class ClaimOutcome(enum.StrEnum):
    """What became of a claim."""

    CONFIRMED = "confirmed"
    CONTRADICTED = "contradicted"
    SKIPPED = "skipped"


class ProbeReason(enum.StrEnum):
    """Why a claim ended as it did."""

    AS_CLAIMED = "as_claimed"
    NOT_AS_CLAIMED = "not_as_claimed"
    OUTSIDE_PROJECT = "outside_project"
    UNREADABLE = "unreadable"
    NO_ACCESS = "no_access"
    """This daemon may not look at the asker's files, or was not told where the project lies."""
    ASKED_RUNTIME = "asked_runtime"
    """Handed over as a probe request."""
    ANSWER_UNREADABLE = "answer_unreadable"
    """The runtime's answer is none of the states there are."""
    SKIPPED_BUDGET = "skipped_budget"
    """Over the number of targets, or out of time."""


class ProbeVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one claim. Holds nothing that a probe answered: outcome and reason are from closed lists.

    `subject` is the record's own text, at `start` to `end` in it; `place` counts the claims of the record from 1.
    """

    claim_id: str
    candidate_id: str
    kind: ClaimKind
    subject: str
    place: int
    start: int
    end: int
    outcome: ClaimOutcome
    reason: ProbeReason
