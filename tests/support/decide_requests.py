"""Requests to gates, with defaults for what a test does not care about."""

from __future__ import annotations

from typing import TypedDict, Unpack

from recalld.models.domain.decide import (
    Argument,
    CallShape,
    DecideCandidate,
    DecideRequest,
    DecideScope,
    ModelReport,
    ReadStage,
    SweepArguments,
)
from recalld.models.domain.decision import Decision, JudgedCandidate
from recalld.models.domain.turn_parts import MessagePart
from recalld.models.domain.world import ProbeAnswer
from recalld.models.policy.profiles.deciding import decide
from recalld.models.policy.profiles.knowledge import Knowledge
from recalld.models.policy.profiles.registry import shipped_profiles

KEY = b"0123456789abcdef"
KNOWLEDGE = Knowledge(cursor_key=KEY)
NOW_MS = 1_796_040_000_000
"""30 November 2026, 12:00 UTC, a Monday."""
DAY_MS = 86_400_000


class Fields(TypedDict, total=False):
    """Fields of a request that a test may set."""

    user: str
    session: str
    turn_id: str
    scope: DecideScope
    parts: tuple[MessagePart, ...]
    recent: tuple[str, ...] | None
    now_ms: int | None
    is_now_named: bool
    time_zone: str
    candidates: tuple[DecideCandidate, ...]
    sweep: SweepArguments
    stage: ReadStage | None
    call_shape: CallShape | None
    model: ModelReport | None
    probe_answers: tuple[ProbeAnswer, ...]
    declined: tuple[str, ...]
    wanted_files: tuple[str, ...]
    counters: dict[str, int]
    usage: dict[str, int]
    explicit: frozenset[Argument]
    may_probe_files: bool


def request(profile: str, text: str = "", **fields: Unpack[Fields]) -> DecideRequest:
    """A request to one profile about a message of the user's words alone."""
    given: Fields = {"user": "ines", "session": "s1", "parts": (MessagePart(text=text),), **fields}
    return DecideRequest(op=shipped_profiles()[profile].op, profile=profile, deadline_s=1e9, **given)


def ask(profile: str, text: str = "", *, knowledge: Knowledge = KNOWLEDGE, **fields: Unpack[Fields]) -> Decision:
    """Decide such a request by the shipped profile."""
    return decide(request(profile, text, **fields), shipped_profiles()[profile], knowledge)


def judged(decision: Decision) -> dict[str, JudgedCandidate]:
    """The judged candidates by id."""
    return {each.id: each for each in decision.evidence.candidates}
