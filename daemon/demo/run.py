"""`recalld demo`: real models, a real daemon in a process of its own, about 40 memories, about 20 turns, one fault."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from statistics import median

from rich.console import Console

from recalld.actors.supervisor.latency import percentile
from recalld.daemon.cli.commands.models_progress import progress_listener
from recalld.daemon.cli.output import write_json
from recalld.daemon.clock import SystemClock
from recalld.daemon.config import Settings, process_environment
from recalld.daemon.demo.listening import EventListener
from recalld.daemon.demo.material import DemoMemory, DemoTurn, demo_memories, demo_turns
from recalld.daemon.demo.outcome import Summary, SummaryDocument, TurnDocument, summarise, turn_document
from recalld.daemon.demo.patience import ask_patiently, until
from recalld.daemon.demo.process import TURN_MS_MAX, DemoDaemon, DemoError, demo_daemon
from recalld.daemon.demo.show import Screen
from recalld.daemon.exit_codes import ExitCode
from recalld.models.domain.events import EventName
from recalld.models.domain.reasons import DegradedReason
from recalld.models.inference.provision.ensure import ensure
from recalld.protocol.client import ClientError
from recalld.protocol.replies import HealthReport, Recalled
from recalld.protocol.requests import Recall, Remember

USER = "demo"
DEGRADED = EventName.MEMORY_RECALL_GATE_DEGRADED.value
RECOVERED = EventName.MEMORY_RECALL_GATE_RECOVERED.value
DRILL_REASON = DegradedReason.SCORE_FAILED.value
DRILL_TURNS = 2
"""Turns answered while the scorer is broken: the second shows that its event is held back by the cooldown."""
EVENT_S_MAX = 30.0
EMBEDDED_S_MAX = 120.0
"""Longest wait until every memory has its vectors: on a busy machine some are made after the save was answered."""
RECOVERY_S_MAX = 90.0
"""Longest wait for the recovery: longer than the daemon leaves a scorer alone that failed several times in a row."""


def run_demo(*, settings: Settings, as_json: bool, console: Console) -> int:
    """Run the demo.

    Args:
        settings: Where the models are; nothing else of it is used, and no other data is touched.
        as_json: One JSON object a turn and a last one with the summary, instead of the screen.
        console: Where the screen goes.

    Returns:
        An `ExitCode`.
    """
    if not _provision(settings, is_silent=as_json):
        return ExitCode.TEMPORARY
    # Only the screen is for the console; with --json, standard output is for machines alone.
    quiet = Console(file=sys.stderr) if as_json else console
    try:
        with demo_daemon(settings.models.dir) as daemon:
            return _Demo(daemon, console=quiet, as_json=as_json).run()
    except (DemoError, ClientError) as error:
        sys.stderr.write(f"recalld: {error}\n")
        return ExitCode.FAILURE


def _provision(settings: Settings, *, is_silent: bool) -> bool:
    with progress_listener(is_silent=is_silent) as listener:
        results = ensure(
            settings.models.dir,
            (settings.models.cross_encoder, settings.models.embedder),
            environment=process_environment().variables,
            clock=SystemClock(),
            stop=threading.Event(),
            listener=listener,
        )
    for result in results:
        if not result.is_ready:
            sys.stderr.write(f"recalld: {result.model_id}: {result.outcome.value}: {result.detail}; {result.remedy}\n")
    return all(result.is_ready for result in results)


class _Demo:
    """One run over a daemon that is ready."""

    def __init__(self, daemon: DemoDaemon, *, console: Console, as_json: bool) -> None:
        self._daemon = daemon
        self._as_json = as_json
        self._memories = demo_memories()
        self._ids: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._documents: list[TurnDocument] = []
        self._screen = Screen(console, self._texts)

    def run(self) -> int:
        daemon, turns = self._daemon, demo_turns()
        self._say(
            f"A daemon of its own is ready after {daemon.ready_ms:.0f} ms; both models are loaded after "
            f"{daemon.models_ms:.0f} ms. A turn may take {TURN_MS_MAX / 1000:.0f} s here: a busy machine changes "
            "the times and not the answers."
        )
        # Before the memories are stored, so that it is listening by the time that something can happen.
        listener = EventListener(daemon.socket_path, [DEGRADED, RECOVERED])
        listener.start()
        self._store()
        self._head("A working day: what a similarity floor alone would inject, and what recalld injects")
        # The drill needs turns that were not asked before: what was scored once is known, broken scorer or not.
        drill = [turn for turn in turns if not turn.nothing_relevant][-(DRILL_TURNS + 1) :]
        for turn in turns:
            if turn not in drill:
                self._ask(turn)
        is_recovered = self._drill(drill, listener)
        # A machine that is busy elsewhere may add time-outs of its own; only the drill's cause is counted.
        degraded = [event for event in listener.named(DEGRADED) if event.fields.get("reason") == DRILL_REASON]
        summary = summarise(self._documents, degraded_events=len(degraded))
        self._close(summary, daemon.client.health())
        return ExitCode.OK if is_recovered and summary.degraded_events == 1 else ExitCode.FAILURE

    def _store(self) -> None:
        for memory in self._memories:
            self._ids[memory.id] = self._remember(memory)
            self._texts[self._ids[memory.id]] = memory.text
        if not until(self._is_embedded, seconds_max=EMBEDDED_S_MAX):
            message = f"the demo's daemon did not embed its memories within {EMBEDDED_S_MAX:.0f} s"
            raise DemoError(message)
        with_asks = sum(1 for memory in self._memories if memory.asks)
        self._say(f"Stored {len(self._memories)} memories of a small team, {with_asks} with the questions they answer.")

    def _is_embedded(self) -> bool:
        return self._daemon.client.health().store.pending_embedding == 0

    def _remember(self, memory: DemoMemory) -> str:
        request = Remember(user=USER, text=memory.text, kind=memory.kind, cues=memory.cues, asks=memory.asks)
        return self._daemon.client.remember(request).memory.id

    def _ask(self, turn: DemoTurn) -> TurnDocument:
        number = len(self._documents) + 1

        def ask(tried: int) -> Recalled:
            # In a session of its own: within one nothing is injected twice, which would hide the comparison.
            session = f"demo-{number}-{tried}"
            return self._daemon.client.recall(
                Recall(user=USER, session=session, turn_id=turn.id, text=turn.query, budget_ms=TURN_MS_MAX)
            )

        document = turn_document(number, turn, ask_patiently(ask), self._ids)
        self._documents.append(document)
        if self._as_json:
            write_json(document)
        else:
            self._screen.turn(document, turn)
        return document

    def _drill(self, turns: Sequence[DemoTurn], listener: EventListener) -> bool:
        """Break the scorer, watch the fallback, repair it, watch the recovery. Whether all of it came."""
        self._head("Now the scorer fails: recall falls back to the similarity floor, and says so once")
        self._daemon.break_scorer()
        recovered_before = len(listener.named(RECOVERED))
        for turn in turns[:DRILL_TURNS]:
            self._ask(turn)
        event = listener.wait_for(DEGRADED, seconds_max=EVENT_S_MAX, reason=DRILL_REASON)
        self._say(f"event {event.name}: {event.fields}" if event else "no degraded event came")
        self._head("The scorer works again")
        self._daemon.repair_scorer()
        turn = turns[DRILL_TURNS]
        # Not shown: a scorer that failed several times in a row is left alone for a while.
        probe = Recall(user=USER, session="demo-recovery", text=turn.query, budget_ms=TURN_MS_MAX)
        until(lambda: self._daemon.client.recall(probe).mode == "gated", seconds_max=RECOVERY_S_MAX)
        document = self._ask(turn)
        recovered = listener.wait_for(RECOVERED, seconds_max=EVENT_S_MAX, after=recovered_before)
        self._say(f"event {recovered.name}: {recovered.fields}" if recovered else "no recovered event came")
        return event is not None and recovered is not None and document.mode == "gated"

    def _close(self, summary: Summary, health: HealthReport) -> None:
        gate = sorted(each.gate_ms for each in self._documents if each.mode == "gated" and each.gate_ms)
        total = sorted(each.total_ms for each in self._documents)
        self._screen.summary(
            summary,
            sum(1 for each in self._documents if not each.relevant and not each.floor_items),
            sum(1 for each in self._documents if set(each.relevant) & set(each.floor_items)),
        )
        self._say(
            f"gate {_percentiles(gate)}; in all {_percentiles(total)}; "
            f"resident memory {health.rss_bytes / 2**20:.0f} MiB"
        )
        if self._as_json:
            write_json(SummaryDocument(summary=summary))

    def _say(self, text: str) -> None:
        self._screen.note(text)

    def _head(self, text: str) -> None:
        self._screen.heading(text)


def _percentiles(times_ms: list[float]) -> str:
    """The middle and the slow end of sorted times; on a bad day there are none."""
    if not times_ms:
        return "not measured"
    return f"p50 {median(times_ms):.0f} ms, p95 {percentile(times_ms, 0.95):.0f} ms"
