"""Does a threshold survive a change of source? What a fit on the rest did on each group that was left out of it.

A threshold is a promise about turns that nobody has seen. It is broken measurably where, on a group left out, the whole
interval of the help that was kept lies below the target, or the whole interval of silence below that on the data of the
fit. What cannot be told from chance is not called broken.
"""

from __future__ import annotations

import enum

import msgspec

from recalld.models.calibration.intervals import Proportion
from recalld.models.calibration.record import CalibrationRecord


class Promise(enum.StrEnum):
    """What a threshold is fitted to do."""

    RETENTION = "retention"
    """Keep the target's share of help."""
    SILENCE = "silence"
    """Stay silent where nothing helps, as often as on the data of the fit."""


class Broken(msgspec.Struct, frozen=True, kw_only=True):
    """A promise that a fit on the rest did not keep on a group.

    Attributes:
        source: The group left out.
        promise: What was not kept.
        found: What there was instead.
    """

    source: str
    promise: Promise
    found: Proportion


class Transfer(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a threshold elsewhere.

    Attributes:
        groups: How many groups were left out, one at a time; 0: nothing is known.
        is_by_source: Whether these are sources; otherwise they are conversations of the same ones.
        broken: Promises that were measurably not kept; empty with groups: the threshold survives.
    """

    groups: int
    is_by_source: bool
    broken: tuple[Broken, ...]


def transfer_of(record: CalibrationRecord) -> Transfer:
    """What the report on groups left out says.

    Args:
        record: With what a fit on the rest did on each of them.
    """
    sources = record.corpus_id.split("+")
    broken: list[Broken] = []
    for each in record.held_out:
        if each.retention.n and each.retention.high < record.target_retention:
            broken.append(Broken(source=each.source, promise=Promise.RETENTION, found=each.retention))
        if each.silence.n and each.silence.high < record.silence.low:
            broken.append(Broken(source=each.source, promise=Promise.SILENCE, found=each.silence))
    return Transfer(
        groups=len(record.held_out),
        is_by_source=bool(record.held_out) and all(each.source in sources for each in record.held_out),
        broken=tuple(broken),
    )
