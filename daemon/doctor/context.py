"""What checks are given to look at."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from recalld.actors.ports import Clock
from recalld.daemon.config import Environment, Settings
from recalld.daemon.doctor.reading import DatabaseReading
from recalld.protocol.client.blocking import Client
from recalld.protocol.replies import HealthReport, StatsReport, Welcome


class Live(msgspec.Struct, frozen=True, kw_only=True):
    """What the running daemon said of itself before the checks began.

    Attributes:
        welcome: Its greeting; None when it cannot be reached.
        health: Its state; None when it cannot be reached or did not answer.
        problem: Why it did not answer; empty when it did.
        is_forbidden: Whether it runs but does not serve this account.
        stats: What it counted over the last days, of all users; None when it did not say.
        stats_problem: Why it did not; empty when it did.
    """

    welcome: Welcome | None = None
    health: HealthReport | None = None
    problem: str = ""
    is_forbidden: bool = False
    stats: StatsReport | None = None
    stats_problem: str = ""


class DoctorContext(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a check may look at. Checks only read, but for the round trip of a thorough examination.

    Attributes:
        settings: The settings in force.
        environment: Who asks.
        live: What the daemon said.
        connect: Makes a client for the daemon.
        clock: Time.
        pid: Of this process; names the reserved user of the round trip.
        pause: Waits so many seconds.
        database: The database as the files show it, read once.
    """

    settings: Settings
    environment: Environment
    live: Live
    connect: Callable[[], Client]
    clock: Clock
    pid: int
    pause: Callable[[float], None]
    database: DatabaseReading
