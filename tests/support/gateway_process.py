"""A gateway in front of a fake service, in a process of its own: `gateway_process.py SOCKET NOFILE`."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import anyio
from gateway_harness import run_gateway


async def main(path: str, nofile: str) -> None:
    """Serve until killed; says `ready` when clients are answered."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (int(nofile), hard))
    async with run_gateway(Path(path)):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await anyio.sleep_forever()


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])
