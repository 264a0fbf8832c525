"""How many CPU cores this process may really use.

`os.cpu_count()` counts the machine. A container, `taskset` or systemd's `CPUQuota=` allows less, and an inference
runtime that sizes its own pool from the machine then starts dozens of threads on one core, or fails to pin them to
cores it was never given. So thread counts are always set explicitly, from this number.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from pathlib import Path

CGROUP_ROOT = Path("/sys/fs/cgroup")
SELF_CGROUP = Path("/proc/self/cgroup")


def _own_cores() -> AbstractSet[int]:
    return os.sched_getaffinity(0)


def usable_cores(
    *,
    affinity: Callable[[], AbstractSet[int]] = _own_cores,
    cgroup_root: Path = CGROUP_ROOT,
    self_cgroup: Path = SELF_CGROUP,
) -> int:
    """Cores this process may keep busy: its affinity mask, limited by every cgroup v2 CPU quota above it.

    A quota is rounded down: two threads on a quota of 1.5 cores are throttled together for a quarter of each period,
    which costs more latency than the half core gains.

    Args:
        affinity: Gives the cores the scheduler allows.
        cgroup_root: Where the cgroup v2 hierarchy is mounted.
        self_cgroup: The file that names this process's cgroup.

    Returns:
        At least 1. A missing or unreadable cgroup file means no quota.
    """
    cores = max(1, len(affinity()))
    quota = _quota_cores(cgroup_root, self_cgroup)
    return cores if quota is None else max(1, min(cores, int(quota)))


def _quota_cores(cgroup_root: Path, self_cgroup: Path) -> float | None:
    """The tightest quota from this process's cgroup up to the root, in cores."""
    relative = _own_group(self_cgroup)
    if relative is None:
        return None
    group = cgroup_root / relative
    groups = [group, *group.parents[: len(Path(relative).parts)]]
    quotas = [quota for quota in map(_read_quota, groups) if quota is not None]
    return min(quotas, default=None)


def _own_group(self_cgroup: Path) -> str | None:
    """This process's cgroup v2 path without its leading slash: the line that starts with `0::`."""
    try:
        lines = self_cgroup.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    paths = (line.removeprefix("0::") for line in lines if line.startswith("0::"))
    path = next(paths, None)
    # Outside of our cgroup namespace the kernel shows "/../…"; only what lies below the mount can be read.
    return None if path is None else "/".join(part for part in path.split("/") if part not in {"", ".", ".."})


def _read_quota(group: Path) -> float | None:
    """`cpu.max` holds "quota period" in microseconds, or "max period" for no limit."""
    try:
        quota_us, period_us = (group / "cpu.max").read_text(encoding="ascii").split()
        return None if quota_us == "max" else int(quota_us) / int(period_us)
    except (OSError, ValueError, ZeroDivisionError):
        return None
