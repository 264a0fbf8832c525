"""Whether a looser position of the write path is earned: the life of a wrong record must be bounded first.

Guards: what gets in through the weaker generators. Cost: none; asked at start and by the doctor. Fails: towards the
stricter position, that is, `open` does not start.

A wrong record does harm for as long as it stands. How long that is depends on whether somebody can see it, take it out,
looks now and then, and whether a newer statement closes it. Until all of that holds, letting more records in only makes
more wrong ones.
"""

from __future__ import annotations

from typing import Final

import msgspec

from recalld.models.domain.position import Position

AUDIT_DAYS_MAX: Final = 7
"""How old the last audit may be, in days."""
_DAY_MS: Final = 86_400_000


class Safeguards(msgspec.Struct, frozen=True, kw_only=True):
    """What bounds the life of a wrong record in this deployment.

    Attributes:
        is_visible: Records can be read and listed.
        can_forget: Records can be taken out.
        audited_at_ms: When somebody last went through them, Unix epoch milliseconds; None: never.
        detects_conflicts: A newer value of a slot closes the record that held the older one.
    """

    is_visible: bool
    can_forget: bool
    audited_at_ms: int | None
    detects_conflicts: bool


class MissingSafeguard(msgspec.Struct, frozen=True, kw_only=True):
    """What a position lacks, and what to do about it."""

    what: str
    remedy: str


def missing_safeguards(position: Position, have: Safeguards, *, now_ms: int) -> tuple[MissingSafeguard, ...]:
    """What has to be there before this position is earned; none for the strict one, which needs nothing.

    Args:
        position: The configured one.
        have: What bounds the life of a wrong record.
        now_ms: Present time, Unix epoch milliseconds. An audit from the future is no audit.
    """
    if position is Position.STRICT:
        return ()
    found = (
        None if have.is_visible else MissingSafeguard(what="records cannot be read", remedy="see `recalld doctor`"),
        None
        if have.can_forget
        else MissingSafeguard(what="records cannot be forgotten", remedy="see `recalld doctor`"),
        _missing_audit(have.audited_at_ms, now_ms),
        None
        if have.detects_conflicts
        else MissingSafeguard(
            what="newer statements do not close older ones", remedy="set admission.enabled and admission.rules to true"
        ),
    )
    return tuple(each for each in found if each is not None)


def _missing_audit(audited_at_ms: int | None, now_ms: int) -> MissingSafeguard | None:
    remedy = "go through the newest records with `recalld audit --records`"
    if audited_at_ms is None:
        return MissingSafeguard(what="nobody has audited the records yet", remedy=remedy)
    age_ms = now_ms - audited_at_ms
    if 0 <= age_ms <= AUDIT_DAYS_MAX * _DAY_MS:
        return None
    if age_ms < 0:
        return MissingSafeguard(what="the last audit lies in the future", remedy=f"check the clock, then {remedy}")
    days = age_ms // _DAY_MS
    return MissingSafeguard(what=f"the last audit was {days} days ago, more than {AUDIT_DAYS_MAX}", remedy=remedy)


def why_not_open(missing: tuple[MissingSafeguard, ...]) -> str:
    """One sentence that says why `open` does not start, and the remedies; `missing` is not empty."""
    reasons = "; ".join(f"{each.what} ({each.remedy})" for each in missing)
    return f'admission.position: "open" is not earned: {reasons}; until then set it to "balanced" or "strict"'
