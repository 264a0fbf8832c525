"""Time recall over the real socket with the real models: gate and total, resident memory, time to READY.

Run it with `make bench`. These machines are shared, so read the spread, not one number.

An installed package has its byte code beside it. A source tree may not, or not that of its newest files, so byte code
is kept in a place of the benchmark's own, and a first start, which is not counted, makes it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recalld.actors.supervisor.latency import percentile
from recalld.daemon.demo.material import demo_memories, demo_turns
from recalld.daemon.demo.process import demo_daemon
from recalld.protocol.requests import Recall, Remember

USER = "bench"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model-dir", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=10, help="how often all turns are asked; each in other words")
    parser.add_argument("--starts", type=int, default=5, help="how often the daemon is started for the time to READY")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with byte_code():
        measure(options)


@contextmanager
def byte_code() -> Iterator[None]:
    """Have the daemons that are started keep their byte code, each for those that come after it."""
    with tempfile.TemporaryDirectory(prefix="recalld-bench-") as directory:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = directory
        yield


def measure(options: argparse.Namespace) -> None:
    """Measure, and print what was found."""
    with demo_daemon(options.model_dir):
        pass  # so that its byte code is there for the others
    ready_ms: list[float] = []
    models_ms: list[float] = []
    for _ in range(options.starts - 1):
        with demo_daemon(options.model_dir) as daemon:
            ready_ms.append(daemon.ready_ms)
            models_ms.append(daemon.models_ms)
    gate_ms: list[float] = []
    total_ms: list[float] = []
    modes: dict[str, int] = {}
    with demo_daemon(options.model_dir) as daemon:
        ready_ms.append(daemon.ready_ms)
        models_ms.append(daemon.models_ms)
        for memory in demo_memories():
            daemon.client.remember(
                Remember(user=USER, text=memory.text, kind=memory.kind, cues=memory.cues, asks=memory.asks)
            )
        for round_number in range(options.rounds):
            for turn in demo_turns():
                # The round's number makes each text new, so that no score comes from the cache.
                text = f"{turn.query} ({round_number})"
                recalled = daemon.client.recall(Recall(user=USER, session="", text=text))
                modes[recalled.mode] = modes.get(recalled.mode, 0) + 1
                total_ms.append(recalled.timings.total_ms)
                if recalled.gate.pairs_scored:
                    gate_ms.append(recalled.timings.gate_ms)
            if sys.stderr.isatty():
                print(f"\rround {round_number + 1}/{options.rounds}", end="", file=sys.stderr)
        rss_mib = daemon.client.health().rss_bytes / 2**20
    found = {
        "recalls": len(total_ms),
        "modes": modes,
        "gate_ms": spread(gate_ms),
        "total_ms": spread(total_ms),
        "ready_ms": spread(ready_ms),
        "models_loaded_ms": spread(models_ms),
        "rss_mib": round(rss_mib),
    }
    if options.json:
        print(json.dumps(found))
        return
    print(f"{found['recalls']} recalls over 40 memories: {modes}")
    for name in ("gate_ms", "total_ms", "ready_ms", "models_loaded_ms"):
        print(f"{name:<17} " + ", ".join(f"{key} {value}" for key, value in spread_of(found, name).items()))
    print(f"resident memory   {found['rss_mib']} MiB with both models loaded")


def spread(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {
        "min": round(ordered[0], 1),
        "p50": round(percentile(ordered, 0.5), 1),
        "p95": round(percentile(ordered, 0.95), 1),
        "max": round(ordered[-1], 1),
    }


def spread_of(found: dict[str, object], name: str) -> dict[str, float]:
    value = found[name]
    assert isinstance(value, dict)
    return value


if __name__ == "__main__":
    main()
