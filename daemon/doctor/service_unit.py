"""Whether a unit is installed. Running without systemd is fine, so this never fails."""

from __future__ import annotations

from pathlib import Path

from recalld.daemon.doctor.context import DoctorContext
from recalld.daemon.doctor.result import Finding, noted

UNIT_NAMES = ("recalld.socket", "recalld.service")
SYSTEM_DIRS = (Path("/etc/systemd/system"), Path("/usr/local/lib/systemd/system"), Path("/usr/lib/systemd/system"))
USER_DIRS = (Path("/etc/systemd/user"), Path("/usr/lib/systemd/user"))


def check_units(context: DoctorContext) -> Finding:
    """Where the units are."""
    config_home = context.environment.get("XDG_CONFIG_HOME")
    own_dir = (Path(config_home) if config_home else context.environment.home / ".config") / "systemd" / "user"
    return find_units((own_dir, *USER_DIRS, *SYSTEM_DIRS))


def find_units(folders: tuple[Path, ...]) -> Finding:
    """Look for the units in these folders."""
    found = [folder / name for folder in folders for name in UNIT_NAMES if _is_file(folder / name)]
    if found:
        return noted(f"installed: {', '.join(map(str, found))}")
    return noted(
        "no unit is installed", "systemd/README.md of the source says how, if you want the daemon to start by itself"
    )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False
