"""Drift, put together: what it is measured against, who reports on it and who raises alarms."""

from __future__ import annotations

from collections import Counter

from recalld.actors.drift.actor import DriftActor, DriftLimits, LookAtDrift
from recalld.actors.drift.desk import DriftDesk
from recalld.actors.events import EventBus
from recalld.actors.inference_thread.spec import model_actor_spec
from recalld.actors.kernel import ActorSpec
from recalld.actors.kernel.bounds import DRIFT_MAILBOX_MAX
from recalld.actors.ports import Clock, MemoryReader
from recalld.actors.text_work import TextWork
from recalld.daemon.calibrating import record_in_force, running_keys
from recalld.daemon.config import Settings
from recalld.models.policy.drift.watch import DriftContext, DriftRules


def drift_rules(settings: Settings) -> DriftRules:
    """How much is looked at, as configured."""
    drift = settings.drift
    return DriftRules(window=drift.window, decisions_min=drift.decisions_min, silent_after=drift.silent_after)


def drift_limits(settings: Settings) -> DriftLimits:
    """How often it is looked at, as configured."""
    return DriftLimits(check_every_s=settings.drift.check_every_s, alarm_every_s=settings.drift.alarm_every_s)


def drift_context(settings: Settings) -> DriftContext:
    """The calibration in force: whether it holds for the configured models, and how its scores are distributed.

    Raises:
        RecalldError: `BAD_REQUEST` for a configured record that cannot be read.
    """
    if settings.recall.gate == "off":
        return DriftContext()
    record = record_in_force(settings)
    return DriftContext(
        mismatches=tuple(each.sentence for each in record.mismatches(running_keys(settings))),
        scores=record.scores,
        calibration_id=record.id,
        is_own=record.is_own,
    )


def drift_desk(
    settings: Settings, context: DriftContext, *, reader: MemoryReader, clock: Clock, text_work: TextWork
) -> DriftDesk:
    """Whoever reports on drift.

    Args:
        settings: In force.
        context: From `drift_context`.
        reader: The ledger.
        clock: Time.
        text_work: Takes long work off the event loop.
    """
    return DriftDesk(reader=reader, clock=clock, text_work=text_work, rules=drift_rules(settings), context=context)


def drift_spec(
    settings: Settings, desk: DriftDesk, *, events: EventBus, counters: Counter[str]
) -> ActorSpec[LookAtDrift]:
    """The actor that looks at it now and then.

    Args:
        settings: In force.
        desk: Makes the reports.
        events: Where alarms go.
        counters: The daemon's counters.
    """
    # Supervised like a model: what users do not see must never end the daemon, however often it fails.
    return model_actor_spec(
        name="drift",
        build=lambda: DriftActor(desk, events=events, counters=counters, limits=drift_limits(settings)),
        mailbox_max=DRIFT_MAILBOX_MAX,
    )
