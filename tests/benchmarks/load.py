"""Recall under more load than the machine can gate: how far it degrades, and how long clients wait.

    python tests/benchmarks/load.py --model-dir DIR --threads 16 --recalls 3
    python tests/benchmarks/load.py --model-dir DIR --pipelined 240

The clients run in a process of their own, so that their work is not mistaken for the daemon's. What to look for: no
answer later than the envelope by more than a few milliseconds, no client without an answer, and modes that go down the
ladder (`gated`, `floor_only`, `lexical_only`) before anything is answered `busy`.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import multiprocessing
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import anyio

from recalld.actors.supervisor.latency import percentile
from recalld.daemon.demo.material import demo_memories, demo_turns
from recalld.daemon.demo.process import demo_daemon
from recalld.protocol.client import AsyncClient, Client, ClientError
from recalld.protocol.replies import Recalled
from recalld.protocol.requests import Recall, Remember

USERS = ("one", "two", "three")
CLIENT_TIMEOUT_S = 5.0

Heard = tuple[str, float]
"""What a client was told (mode, reason, why degraded), and after how many milliseconds."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--model-dir", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=16, help="blocking clients at the same time")
    parser.add_argument("--recalls", type=int, default=3, help="recalls of each, one after another")
    parser.add_argument("--pipelined", type=int, default=0, help="instead: recalls at once through one AsyncClient")
    parser.add_argument("--users", type=int, default=len(USERS), choices=range(1, len(USERS) + 1))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with demo_daemon(options.model_dir) as daemon:
        for user in USERS[: options.users]:
            for memory in demo_memories():
                daemon.client.remember(
                    Remember(user=user, text=memory.text, kind=memory.kind, cues=memory.cues, asks=memory.asks)
                )
        daemon.client.recall(Recall(user=USERS[0], session="", text="Which editor do I use at work?"))
        with multiprocessing.get_context("spawn").Pool(1) as clients, pinging(daemon.socket_path) as ping_ms:
            if options.pipelined:
                work = clients.apply_async(recall_pipelined, (daemon.socket_path, options.pipelined, options.users))
            else:
                work = clients.apply_async(
                    recall_in_threads, (daemon.socket_path, options.threads, options.recalls, options.users)
                )
            heard: list[Heard] = work.get(120.0)
    report(heard, ping_ms, as_json=options.json)


def recall_in_threads(socket_path: Path, threads: int, recalls: int, users: int) -> list[Heard]:
    """Ask from many blocking clients at once."""
    heard: list[Heard] = []
    start = threading.Barrier(threads)

    def ask_some(number: int) -> None:
        with Client(socket_path, timeout_s=CLIENT_TIMEOUT_S, recall_timeout_s=CLIENT_TIMEOUT_S) as client:
            client.ping()
            start.wait()
            for place in range(recalls):
                began_s = time.perf_counter()
                recalled = client.recall(request(number * recalls + place, users))
                heard.append((told(recalled), (time.perf_counter() - began_s) * 1000.0))

    workers = [threading.Thread(target=ask_some, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return heard


def recall_pipelined(socket_path: Path, recalls: int, users: int) -> list[Heard]:
    """Ask everything at once through one asynchronous client."""
    return anyio.run(_recall_pipelined, socket_path, recalls, users)


async def _recall_pipelined(socket_path: Path, recalls: int, users: int) -> list[Heard]:
    heard: list[Heard] = []

    async def ask(client: AsyncClient, number: int) -> None:
        began_s = time.perf_counter()
        recalled = await client.recall(request(number, users))
        heard.append((told(recalled), (time.perf_counter() - began_s) * 1000.0))

    # The client's own limit stays at its default: whoever waits longer than that has been let down.
    async with AsyncClient(socket_path) as client, anyio.create_task_group() as tasks:
        await client.ping()
        for number in range(recalls):
            tasks.start_soon(ask, client, number)
    return heard


def request(number: int, users: int) -> Recall:
    """A recall of its own: the number makes each text new, so that nothing comes from a cache."""
    turns = [turn.query for turn in demo_turns()]
    return Recall(user=USERS[number % users], session="", text=f"{turns[number % len(turns)]} ({os.getpid()}/{number})")


def told(recalled: Recalled) -> str:
    if recalled.mode == "gated" or recalled.degraded_reason is None:
        return f"{recalled.mode}/{recalled.reason}"
    return f"{recalled.mode}/{recalled.reason}/{recalled.degraded_reason}"


@contextlib.contextmanager
def pinging(socket_path: Path) -> Iterator[list[float]]:
    """Ping again and again meanwhile: how long the event loop lets anybody wait."""
    ping_ms: list[float] = []
    is_over = threading.Event()

    def ping() -> None:
        with Client(socket_path, timeout_s=CLIENT_TIMEOUT_S) as client:
            while not is_over.wait(0.01):
                began_s = time.perf_counter()
                with contextlib.suppress(ClientError):
                    client.ping()
                ping_ms.append((time.perf_counter() - began_s) * 1000.0)

    pinger = threading.Thread(target=ping)
    pinger.start()
    try:
        yield ping_ms
    finally:
        is_over.set()
        pinger.join()


def report(heard: list[Heard], ping_ms: list[float], *, as_json: bool) -> None:
    tally = collections.Counter(what for what, _ in heard)
    waited, pings = sorted(ms for _, ms in heard), sorted(ping_ms)
    found = {
        "recalls": len(heard),
        "answers": dict(tally.most_common()),
        "p50_ms": round(percentile(waited, 0.5)),
        "p95_ms": round(percentile(waited, 0.95)),
        "max_ms": round(waited[-1]),
        "ping_p50_ms": round(percentile(pings, 0.5), 1),
        "ping_max_ms": round(pings[-1], 1),
    }
    if as_json:
        print(json.dumps(found))
        return
    for what, count in tally.most_common():
        print(f"{count:5}  {what}")
    print(
        f"{found['recalls']} recalls: p50 {found['p50_ms']} ms, p95 {found['p95_ms']} ms, max {found['max_ms']} ms; "
        f"ping p50 {found['ping_p50_ms']} ms, max {found['ping_max_ms']} ms"
    )


if __name__ == "__main__":
    main()
