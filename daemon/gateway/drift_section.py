"""The section `drift` of a `stats` reply."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from recalld.models.domain.drift import DriftReport, GateDrift
from recalld.protocol import drift_items


def drift_section(reports: Sequence[DriftReport]) -> drift_items.DriftSection:
    """One entry for each user."""
    return drift_items.DriftSection(users=tuple(map(_user, reports)))


def _user(report: DriftReport) -> drift_items.UserDrift:
    return drift_items.UserDrift(
        user=report.user,
        gates=tuple(map(_gate, report.gates)),
        shadow=msgspec.convert(report.shadow, tuple[drift_items.ShadowCountItem, ...], from_attributes=True),
    )


def _gate(gate: GateDrift) -> drift_items.GateDriftItem:
    return drift_items.GateDriftItem(
        gate=gate.gate.value,
        n=gate.n,
        fired=gate.fired,
        earlier_n=gate.earlier_n,
        earlier_fired=gate.earlier_fired,
        too_few=gate.too_few,
        shifts=msgspec.convert(gate.shifts, tuple[drift_items.DriftShift, ...], from_attributes=True),
        alarms=msgspec.convert(gate.alarms, tuple[drift_items.DriftAlarmItem, ...], from_attributes=True),
    )
