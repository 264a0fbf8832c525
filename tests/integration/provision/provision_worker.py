"""A provisioner in a process of its own: `provision_worker.py MODEL_DIR MODEL_ID < {manifest, environment}`.

Prints `waiting` when another process holds the lock, then the outcome.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import msgspec

from recalld.models.inference.manifest import ModelSpec
from recalld.models.inference.provision.ensure import ensure
from recalld.models.inference.provision.progress import Progress, Stage


class Orders(msgspec.Struct, frozen=True, kw_only=True):
    """What comes through standard input."""

    manifest: dict[str, ModelSpec]
    environment: dict[str, str]


class Clock:
    """The real one."""

    def monotonic_s(self) -> float:
        return time.monotonic()


def main() -> None:
    orders = msgspec.json.decode(sys.stdin.buffer.read(), type=Orders)
    (result,) = ensure(
        Path(sys.argv[1]),
        [sys.argv[2]],
        environment=orders.environment,
        clock=Clock(),
        listener=tell_waiting,
        manifest=orders.manifest,
    )
    sys.stdout.write(f"{result.outcome}\n")


def tell_waiting(progress: Progress) -> None:
    if progress.stage is Stage.WAITING:
        sys.stdout.write("waiting\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
