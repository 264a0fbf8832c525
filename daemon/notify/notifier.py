"""The sd_notify protocol: small datagrams to the socket that systemd names in `NOTIFY_SOCKET`.

Nothing here ever fails the daemon: a service manager that cannot be told is no reason to stop serving.
Source of the protocol: sd_notify(3) and sd_watchdog_enabled(3).
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Final

VARIABLES: Final = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")
"""Meant for this process alone; take them out of the environment once the notifier is made."""

_ADDRESS_BYTES_MAX: Final = 107
_MICROSECONDS: Final = 1_000_000
_WATCHDOG_USEC_MAX: Final = 2**63 - 1


class Notifier:
    """Tells the service manager how the daemon is doing. Does nothing when there is none.

    Args:
        address: Path of the datagram socket, or `@name` for an abstract one; None when nobody listens.
        watchdog_interval_s: Seconds between two `watchdog()` calls; None when no watchdog waits for them.
    """

    def __init__(self, address: str | None, watchdog_interval_s: float | None = None) -> None:
        self._address = address
        self._watchdog_interval_s = watchdog_interval_s

    @classmethod
    def from_environment(cls, variables: Mapping[str, str], *, pid: int | None = None) -> Notifier:
        """Read `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.

        Args:
            variables: The environment, as it was when the process started.
            pid: The process the watchdog must be meant for; this one by default.
        """
        address = variables.get("NOTIFY_SOCKET", "")
        is_usable = address[:1] in {"/", "@"} and len(os.fsencode(address)) <= _ADDRESS_BYTES_MAX
        own_pid = os.getpid() if pid is None else pid
        return cls(address if is_usable else None, _watchdog_interval_s(variables, own_pid) if is_usable else None)

    @property
    def is_active(self) -> bool:
        """Whether a service manager named a socket that could be written to."""
        return self._address is not None

    @property
    def watchdog_interval_s(self) -> float | None:
        """Seconds between two pings: half of what the watchdog waits. None: no watchdog for this process."""
        return self._watchdog_interval_s

    def ready(self, status: str = "") -> bool:
        """Say that the socket accepts and the database is open."""
        return self._send("READY=1", *_status_lines(status))

    def status(self, status: str) -> bool:
        """Set the one-line status that `systemctl status` shows."""
        return self._send(*_status_lines(status))

    def stopping(self, status: str = "") -> bool:
        """Say that shutting down has begun."""
        return self._send("STOPPING=1", *_status_lines(status))

    def watchdog(self) -> bool:
        """Say that the daemon is alive. Call it only when it is."""
        return self._send("WATCHDOG=1")

    def _send(self, *lines: str) -> bool:
        """Send one datagram; False when it could not be delivered, which is never an error."""
        if self._address is None or not lines:
            return False
        name = os.fsencode(self._address)
        target = b"\0" + name[1:] if name.startswith(b"@") else name
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
                # A full queue must not hold up the event loop: the next ping comes soon enough.
                sender.setblocking(False)  # noqa: FBT003 - the parameter is positional-only
                sender.connect(target)
                sender.send("\n".join(lines).encode("utf-8", errors="replace"))
        except (OSError, ValueError):  # ValueError: a NUL inside the path
            return False
        return True


def _status_lines(status: str) -> tuple[str, ...]:
    """A status is one line: a line break in it would be read as another assignment."""
    return (f"STATUS={' '.join(status.split())}",) if status else ()


def _watchdog_interval_s(variables: Mapping[str, str], pid: int) -> float | None:
    """Half of `WATCHDOG_USEC`, in seconds; None when unset, garbage, or meant for another process."""
    usec = _positive(variables.get("WATCHDOG_USEC", ""))
    if usec is None:
        return None
    if "WATCHDOG_PID" in variables and _positive(variables["WATCHDOG_PID"]) != pid:
        return None
    return usec / _MICROSECONDS / 2


def _positive(text: str) -> int | None:
    """A decimal number in ASCII digits, from 1 to the largest 64-bit one; else None."""
    if not (text.isascii() and text.isdigit()) or len(text) > 19:
        return None
    value = int(text)
    return value if 0 < value <= _WATCHDOG_USEC_MAX else None
