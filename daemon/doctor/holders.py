"""Which processes have a file open: the likely reason for a write-ahead log that never shrinks."""

from __future__ import annotations

import os
from pathlib import Path

PROC = Path("/proc")


def processes_with_open(path: Path, proc: Path = PROC) -> dict[int, str]:
    """Processes that have the file open, by pid, with their names.

    Only processes whose descriptors this account may see are found: its own, or all of them for root.
    """
    target = os.path.realpath(path)
    return {
        int(entry.name): _name(entry)
        for entry in proc.iterdir()
        if entry.name.isdigit() and _has_open(entry / "fd", target)
    }


def _has_open(descriptors: Path, target: str) -> bool:
    try:
        return any(str(descriptor.readlink()) == target for descriptor in descriptors.iterdir())
    except OSError:  # it ended meanwhile, or belongs to somebody else
        return False


def _name(entry: Path) -> str:
    try:
        return (entry / "comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return "?"
