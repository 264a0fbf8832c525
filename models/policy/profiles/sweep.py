"""Sweeps over past sessions: is this one limited, and what is its next part?

Guards: every session of a user against a tool that looks through all of them. Cost: sorting the targets given.
Fails: closed; a sweep that is not limited is refused, and the refusal says what would limit it.

A part covers the targets behind the cursor in the order (group, time made, name), up to the last one that there was
when the sweep began. So each of those is covered exactly once, whatever is added meanwhile; what is added is at most
covered once, and otherwise belongs to the next sweep.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from recalld.models.domain.decide import Argument, DecideCandidate, DecideRequest
from recalld.models.domain.decision import (
    DecideEvidence,
    DecideLimits,
    DecideParams,
    DecideReason,
    Decision,
    GateDecision,
)
from recalld.models.policy.profiles.answers import answer, lacking
from recalld.models.policy.profiles.cursor import (
    DIGEST_BYTES,
    Holder,
    SweepKey,
    SweepState,
    decode_cursor,
    encode_cursor,
    list_digest,
    short_digest,
)
from recalld.models.policy.profiles.knowledge import Knowledge
from recalld.models.policy.profiles.spec import SweepProfile

RULE = "sweep_scope"


class SweepPart(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a sweep.

    Attributes:
        covered: The targets of this part, in order.
        left: How many of the targets there were at the start remain behind it.
        later: How many came after the start and are left to the next sweep.
    """

    covered: tuple[SweepKey, ...]
    left: int
    later: int


def decide_sweep(request: DecideRequest, profile: SweepProfile, knowledge: Knowledge) -> Decision:
    """Let a limited sweep run, with its next targets and the cursor behind them."""
    state = _resumed(request, profile, knowledge)
    if isinstance(state, DecideReason):
        return answer(profile, GateDecision.REFUSE, state, decided_by=RULE)
    keys = _places(request, state)
    if keys is None:
        return lacking(profile, "candidates")
    state = state or _start(request, keys)
    if state is None:
        return answer(profile, GateDecision.SKIP, _nothing_reason(request), decided_by=RULE)
    if request.sweep.targets_max is not None:
        state = msgspec.structs.replace(state, targets_max=request.sweep.targets_max)
    targets_max = min(profile.targets_max, state.targets_max or profile.targets_max)
    part = next_part(keys, state, targets_max=targets_max)
    cursor = None
    if part.left:
        behind = msgspec.structs.replace(state, after=part.covered[-1])
        cursor = encode_cursor(behind, holder_of(request, profile.name), key=knowledge.cursor_key)
    return answer(
        profile,
        GateDecision.RUN if part.covered else GateDecision.SKIP,
        DecideReason.SWEEP_SCOPED if part.covered else DecideReason.SWEEP_FINISHED,
        decided_by=RULE,
        params=DecideParams(
            targets=tuple(key.id for key in part.covered), cursor=cursor, limits=DecideLimits(items_max=targets_max)
        ),
        evidence=DecideEvidence(counts={"targets_left": part.left, "targets_later": part.later}),
    )


def _resumed(request: DecideRequest, profile: SweepProfile, knowledge: Knowledge) -> SweepState | DecideReason | None:
    """Where an earlier part ended; None for a sweep that starts now; the reason for a refusal."""
    if not request.sweep.cursor:
        return None if is_limited(request) else DecideReason.UNSCOPED_SWEEP
    state = decode_cursor(request.sweep.cursor, holder_of(request, profile.name), key=knowledge.cursor_key)
    if state is None:
        return DecideReason.BAD_CURSOR
    return DecideReason.CURSOR_MISMATCH if _contradicts(request, state) else state


def holder_of(request: DecideRequest, profile: str) -> Holder:
    """Whom a cursor of this request is for."""
    return Holder(user=request.user, profile=profile, agent=request.scope.agent, namespace=request.scope.namespace)


def is_limited(request: DecideRequest) -> bool:
    """Whether the caller itself limited a sweep that has no cursor; what a default filled in does not count."""
    given, sweep = request.explicit, request.sweep
    return (
        (Argument.SESSIONS in given and bool(sweep.sessions))
        or (Argument.TARGET in given and bool(sweep.target))
        or ({Argument.SINCE, Argument.PROJECT} <= given and sweep.since_ms is not None and bool(request.scope.project))
    )


def next_part(keys: Sequence[SweepKey], state: SweepState, *, targets_max: int) -> SweepPart:
    """The next targets behind the state, in order.

    Args:
        keys: Places of all targets there are now, in any order.
        state: Where the sweep stands.
        targets_max: Targets at most.
    """
    ahead = sorted(key for key in keys if (state.after is None or key > state.after) and key <= state.until)
    covered = tuple(ahead[:targets_max])
    return SweepPart(covered=covered, left=len(ahead) - len(covered), later=sum(1 for key in keys if key > state.until))


def _contradicts(request: DecideRequest, state: SweepState) -> bool:
    """Whether an argument that came with a cursor is another than the sweep was started with.

    A project counts although some default filled it in: it says where the asker stands now.
    """
    sweep, project = request.sweep, request.scope.project
    return (
        (bool(sweep.sessions) and list_digest(sweep.sessions) != state.sessions)
        or (bool(sweep.target) and sweep.target != state.target)
        or (sweep.since_ms is not None and sweep.since_ms != state.since_ms)
        or (bool(project) and short_digest(project) != state.project)
    )


def _places(request: DecideRequest, state: SweepState | None) -> tuple[SweepKey, ...] | None:
    """Places of the targets that the arguments allow; None when there are no targets to look at."""
    sweep = request.sweep
    target = state.target if state is not None else _given(request, Argument.TARGET, sweep.target)
    listed = state.sessions if state is not None else list_digest(_listed(request))
    since_ms = sweep.since_ms if state is None else state.since_ms
    named = (target,) if target else sweep.sessions if listed else ()
    candidates = request.candidates or tuple(DecideCandidate(id=name) for name in named)
    if not candidates:
        return None
    allowed = {listed[start : start + DIGEST_BYTES] for start in range(0, len(listed), DIGEST_BYTES)}
    earliest: dict[str, SweepKey] = {}
    for each in candidates:
        is_allowed = (
            (not target or each.id == target)
            and (not allowed or short_digest(each.id) in allowed)
            and (since_ms is None or each.at_ms is None or each.at_ms >= since_ms)
        )
        key = SweepKey("", each.at_ms or 0, each.id)
        if is_allowed and (each.id not in earliest or key < earliest[each.id]):
            earliest[each.id] = key
    return tuple(earliest.values())


def _nothing_reason(request: DecideRequest) -> DecideReason:
    """Why a sweep that starts has nothing to cover: what it names is not there, or there is nothing new enough."""
    is_named = bool(_given(request, Argument.TARGET, request.sweep.target) or _listed(request))
    return DecideReason.NO_SUCH_TARGET if is_named else DecideReason.SWEEP_FINISHED


def _start(request: DecideRequest, keys: Sequence[SweepKey]) -> SweepState | None:
    if not keys:
        return None
    return SweepState(
        after=None,
        until=max(keys),
        since_ms=request.sweep.since_ms,
        target=_given(request, Argument.TARGET, request.sweep.target),
        project=short_digest(request.scope.project) if request.scope.project else b"",
        sessions=list_digest(_listed(request)),
    )


def _given(request: DecideRequest, argument: Argument, value: str) -> str:
    return value if argument in request.explicit else ""


def _listed(request: DecideRequest) -> tuple[str, ...]:
    return request.sweep.sessions if Argument.SESSIONS in request.explicit else ()
