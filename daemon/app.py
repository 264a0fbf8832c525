"""The daemon from start to stop: listener, store, actors, gateway, readiness, drain."""

from __future__ import annotations

import os
import random
import sqlite3
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from types import MappingProxyType
from typing import Final

import anyio
import anyio.abc
import structlog

from recalld.actors.embedder import EmbedderModelsChanged
from recalld.actors.events import EventBus, EventLevel
from recalld.actors.kernel import ActorEscalated, Address, Supervisor, Trouble
from recalld.actors.ports import Clock
from recalld.actors.recall import GateCalibration
from recalld.actors.scorer import ScorerModelsChanged
from recalld.actors.supervisor import ActorFailed, SupervisorMessage
from recalld.daemon.admission_judge import judge_in_force
from recalld.daemon.calibrating import calibration_in_force, embedder_key_of
from recalld.daemon.clock import RandomIds, SystemClock
from recalld.daemon.composition import DRAIN_ORDER, Parts, Running, real_models, start_actors
from recalld.daemon.config import ServerMode, Settings, remove_variables
from recalld.daemon.drift import drift_context
from recalld.daemon.exit_codes import ExitCode, code_for_os_error
from recalld.daemon.gateway.activation import adopt_listener
from recalld.daemon.gateway.counters import GatewayCounters
from recalld.daemon.gateway.lending import LentModels
from recalld.daemon.gateway.limits import GatewayLimits
from recalld.daemon.gateway.listener import BoundListener, ListenError, ListenFault, bind_listener
from recalld.daemon.gateway.peer import AccessPolicy
from recalld.daemon.gateway.server import Gateway
from recalld.daemon.logs import log_event, logging_to_stderr
from recalld.daemon.notify import Notifier, ignore_signals, watch_stop_signals
from recalld.daemon.notify.notifier import VARIABLES as NOTIFY_VARIABLES
from recalld.daemon.positions import require_earned
from recalld.daemon.provisioning import keep_provisioning
from recalld.daemon.settled_memory import settle_memory
from recalld.daemon.storage.errors import AlreadyRunningError, DatabaseRefusedError
from recalld.daemon.storage.store import SqliteStore, open_store
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.events import Event, EventName, FieldValue
from recalld.models.domain.position import Position
from recalld.models.domain.store import vector_bytes_of
from recalld.models.inference.manifest import MODELS

DRAIN_S = 8.0
"""Seconds for what is in flight after SIGTERM; well inside systemd's own TimeoutStopSec of the units."""
_SQLITE_CODES: Final = MappingProxyType(
    {
        sqlite3.SQLITE_NOTADB: ExitCode.CONFIG,
        sqlite3.SQLITE_CORRUPT: ExitCode.CONFIG,
        sqlite3.SQLITE_CANTOPEN: ExitCode.NO_PERMISSION,
        sqlite3.SQLITE_PERM: ExitCode.NO_PERMISSION,
        sqlite3.SQLITE_READONLY: ExitCode.NO_PERMISSION,
    }
)
"""SQLite's primary result codes that starting again does not change; see https://sqlite.org/rescode.html."""
TIDY_EVERY_S = 15.0
"""Seconds between two looks for users who can be put to rest."""


FailureListener = Callable[[str, str], None]
"""Told how the daemon failed: a code for programs, and a sentence."""


def _say_nothing(_code: str, _message: str) -> None:
    """The log says it, and for a service that is enough."""


async def run_daemon(
    settings: Settings, *, environ: Mapping[str, str], on_failure: FailureListener = _say_nothing
) -> int:
    """Serve until asked to stop.

    Args:
        settings: Validated configuration.
        environ: The process environment: systemd's sockets and watchdog, and the package index for provisioning.
        on_failure: Told when the daemon could not start or go on, beside the log.

    Returns:
        An `ExitCode`: 0 after an orderly stop.
    """
    ignore_signals()
    with logging_to_stderr(settings.log):
        return await _run_logged(settings, environ, on_failure)


async def _run_logged(settings: Settings, environ: Mapping[str, str], on_failure: FailureListener) -> int:
    log = structlog.get_logger("recalld")
    try:
        calibration = calibration_in_force(settings)
        with _listener(settings, environ) as listener:
            return await _serve(settings, environ, listener, calibration)
    except RecalldError as error:
        log.error("daemon_failed", code=error.code.value, message=error.message)  # noqa: TRY400 - expected, and told
        on_failure(error.code.value, error.message)
        return exit_code_of(error)
    except ActorEscalated as error:
        # Where, but not the failure's own words: they may quote what was being stored.
        log.error("daemon_failed", actor=error.actor, error_type=error.error_type, where=_origin(error.__cause__))  # noqa: TRY400
        on_failure(
            ErrorCode.INTERNAL.value,
            f"the actor {error.actor} failed ({error.error_type}); the daemon's log says where",
        )
        return ExitCode.FAILURE


def _origin(error: BaseException | None) -> str:
    """File and line in which an error was raised; empty when that is not known."""
    frames = traceback.extract_tb(None if error is None else error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


@contextmanager
def _listener(settings: Settings, environ: Mapping[str, str]) -> Iterator[BoundListener]:
    """The listening socket: systemd's if it passed one, else one of our own."""
    listener = adopt_listener(
        environ,
        pid=os.getpid(),
        clear=lambda: remove_variables(("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES")),
    )
    if listener is None:
        is_system = settings.server.mode is ServerMode.SYSTEM
        listener = bind_listener(settings.server.socket_path, is_system=is_system)
    try:
        yield listener
    finally:
        listener.close()


async def _serve(
    settings: Settings, environ: Mapping[str, str], listener: BoundListener, calibration: GateCalibration
) -> int:
    clock, rng = SystemClock(), random.SystemRandom()
    notifier = Notifier.from_environment(environ)
    # Child processes, such as the model downloader, must not report for us.
    remove_variables(NOTIFY_VARIABLES)
    events = EventBus(sink=log_event)
    storage = settings.storage
    counters, policy = GatewayCounters(), _access_policy(settings)
    lent_models = LentModels(policy=policy, clock=clock, counters=counters)
    async with open_store(
        storage.data_dir,
        clock=clock,
        journal_bytes_max=storage.journal_bytes_max,
        vector_bytes=vector_bytes_of(MODELS[settings.models.embedder].dims),
        on_trouble=_StoreAnnouncer(events, clock),
    ) as store:
        if settings.admission.position is Position.OPEN:
            health = await store.reader.health(embedder_key_of(settings.models.embedder), now_ms=clock.now_ms())
            require_earned(settings, health, now_ms=clock.now_ms())
        parts = Parts(
            settings=settings,
            reader=store.reader,
            writer=store.writer,
            models=real_models(settings, clock),
            clock=clock,
            ids=RandomIds(clock, rng),
            rng=rng,
            events=events,
            calibration=calibration,
            drift=drift_context(settings),
            embedder_key=embedder_key_of(settings.models.embedder),
            version=version("recalld"),
            runtime_model=lent_models,
            judging=judge_in_force(settings),
            cursor_key=store.cursor_key,
            when_prepared=settle_memory,
        )
        front = _Front(listener=listener, policy=policy, counters=counters, lent_models=lent_models)
        daemon = _Daemon(parts, environ, front, notifier, store)
        return await daemon.run()


def _access_policy(settings: Settings) -> AccessPolicy:
    return AccessPolicy(
        own_uid=os.getuid(),
        is_system=settings.server.mode is ServerMode.SYSTEM,
        granted_users={rule.uid: frozenset(rule.users) for rule in settings.access},
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Front:
    """What the gateway is made of beside the service; actors ask the models that its connections lend."""

    listener: BoundListener
    policy: AccessPolicy
    counters: GatewayCounters
    lent_models: LentModels


class _Daemon:
    """One run of the daemon over an open store."""

    def __init__(
        self,
        parts: Parts,
        environ: Mapping[str, str],
        front: _Front,
        notifier: Notifier,
        store: SqliteStore,
    ) -> None:
        self._parts = parts
        self._environ = environ
        self._front = front
        self._notifier = notifier
        self._store = store
        self._stop = anyio.Event()
        self._failures = FailureRelay()

    async def run(self) -> int:
        """Serve until a stop signal, then drain."""
        supervisor = Supervisor(
            clock=self._parts.clock,
            rng=self._parts.rng,
            on_restart=self._failures.restarted,
            on_trouble=self._failures.trouble,
        )
        # The supervisor stands outside, so that an actor's escalation ends everything and leaves as itself.
        async with supervisor, anyio.create_task_group() as tasks:
            await tasks.start(self._watch_signals)
            running = start_actors(self._parts, supervisor, tasks)
            self._failures.attach(running.root)
            gateway = self._gateway(running)
            await tasks.start(gateway.serve)
            tasks.start_soon(self._provision, running)
            tasks.start_soon(self._tidy, running)
            tasks.start_soon(self._feed_watchdog, running)
            self._announce_ready()
            await self._stop.wait()
            await self._drain(running, gateway, supervisor)
            tasks.cancel_scope.cancel()
        return ExitCode.OK

    def _gateway(self, running: Running) -> Gateway:
        settings, front = self._parts.settings, self._front
        return Gateway(
            listener=front.listener,
            service=running.service,
            policy=front.policy,
            clock=self._parts.clock,
            counters=front.counters,
            lent_models=front.lent_models,
            version=self._parts.version,
            limits=GatewayLimits(
                envelope_s=settings.recall.envelope_ms / 1000.0,
                connections_max=settings.server.connections_max,
                connections_per_uid_max=settings.server.connections_per_uid_max,
                connections_kept=settings.server.connections_kept,
                in_flight_per_connection_max=settings.server.in_flight_per_connection_max,
                in_flight_per_uid_max=settings.server.in_flight_per_uid_max,
                idle_timeout_s=settings.server.idle_timeout_s,
                drain_timeout_s=DRAIN_S,
            ),
        )

    def _announce_ready(self) -> None:
        """The socket accepts and the database is open: only now is the daemon ready, whatever the models do."""
        self._notifier.ready("serving; models load in the background")
        self._parts.events.publish(
            Event(
                name=EventName.DAEMON_READY,
                at_ms=self._parts.clock.now_ms(),
                fields={
                    "version": self._parts.version,
                    "socket": str(self._front.listener.path),
                    "data_dir": str(self._parts.settings.storage.data_dir),
                    "calibration_id": self._parts.calibration.model.calibration_id,
                    "is_new_store": self._store.report.is_new,
                },
            )
        )

    async def _drain(self, running: Running, gateway: Gateway, supervisor: Supervisor) -> None:
        """Stop accepting, answer what is in flight, let every actor finish, close."""
        self._notifier.stopping("answering what is in flight")
        running.service.is_draining = True
        self._parts.events.publish(Event(name=EventName.DAEMON_STOPPING, at_ms=self._parts.clock.now_ms()))
        await gateway.drain(DRAIN_S)
        await supervisor.drain_all(DRAIN_ORDER, self._parts.clock.monotonic_s() + DRAIN_S)
        self._parts.events.close()

    async def _watch_signals(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        await watch_stop_signals(
            on_drain=lambda _signal: self._stop.set(),
            # What holds up the orderly stop would hold up an exception as well.
            on_abort=lambda number: os._exit(128 + number),
            on_ignored=lambda number: structlog.get_logger("recalld").info("signal_ignored", signal=number.name),
            task_status=task_status,
        )

    async def _provision(self, running: Running) -> None:
        def arrived() -> None:
            running.scorer.post(ScorerModelsChanged())
            running.embedder.post(EmbedderModelsChanged())

        await keep_provisioning(
            self._parts.settings, environ=self._environ, clock=self._parts.clock, on_arrived=arrived
        )

    async def _tidy(self, running: Running) -> None:
        while True:
            await anyio.sleep(TIDY_EVERY_S)
            running.directory.tidy()

    async def _feed_watchdog(self, running: Running) -> None:
        """Ping only when the loop turns and the store actor answers: a daemon that cannot write is not alive."""
        interval_s = self._notifier.watchdog_interval_s
        if interval_s is None:
            return
        while True:
            await anyio.sleep(interval_s)
            if await running.ledger.settle(deadline_s=self._parts.clock.monotonic_s() + interval_s):
                self._notifier.watchdog()


class _StoreAnnouncer:
    """Turns news of a store that cannot be written into events. Called on the event loop."""

    def __init__(self, events: EventBus, clock: Clock) -> None:
        self._events = events
        self._clock = clock

    def __call__(self, error: RecalldError | None) -> None:
        now_ms = self._clock.now_ms()
        if error is None:
            self._events.publish(Event(name=EventName.STORE_WRITE_RECOVERED, at_ms=now_ms))
            return
        fields: dict[str, FieldValue] = {"code": error.code.value, "message": error.message}
        event = Event(name=EventName.STORE_WRITE_FAILED, at_ms=now_ms, fields=fields)
        self._events.publish(event, EventLevel.ERROR)


class FailureRelay:
    """Hands the supervisor's news of failed actors to the supervisor actor, once there is one."""

    def __init__(self) -> None:
        self._root: Address[SupervisorMessage] | None = None

    def attach(self, root: Address[SupervisorMessage]) -> None:
        """Say whom to tell."""
        self._root = root

    def restarted(self, actor: str, error_type: str) -> None:
        """An actor failed and is restarted."""
        if self._root is not None:
            self._root.post(ActorFailed(actor=actor, error_type=error_type))

    def trouble(self, trouble: Trouble) -> None:
        """An actor is gone, or something around its end went wrong."""
        if self._root is not None:
            self._root.post(ActorFailed(actor=trouble.actor, error_type=trouble.error_type or trouble.kind.value))


def exit_code_of(error: RecalldError) -> ExitCode:
    """How the process ends for an error at start: those that starting again cannot mend are told apart."""
    fault = error.fault if isinstance(error, ListenError) else None
    if isinstance(error, AlreadyRunningError) or fault is ListenFault.ALREADY_RUNNING:
        return ExitCode.UNAVAILABLE
    if isinstance(error, DatabaseRefusedError):
        return ExitCode.CONFIG
    is_passing = error.retryable or fault is ListenFault.OS_ERROR
    otherwise = ExitCode.TEMPORARY if is_passing else ExitCode.CONFIG
    match error.__cause__:
        case OSError() as cause:
            return code_for_os_error(cause, otherwise=otherwise)
        case sqlite3.Error() as cause if error.code is not ErrorCode.STORAGE_FULL:
            return _SQLITE_CODES.get(getattr(cause, "sqlite_errorcode", 0) & 0xFF, otherwise)
        case _:
            return otherwise
