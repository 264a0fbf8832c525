"""The one place that reads the process environment; everybody else is handed an `Environment`."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """What a process knows of who runs it and where.

    Attributes:
        variables: Environment variables, as they were when the process started.
        uid: Real user id.
        login: Login name of `uid`, or the number in digits when the user database does not know it.
        home: Home directory, absolute.
    """

    variables: Mapping[str, str]
    uid: int
    login: str
    home: Path

    def get(self, name: str) -> str | None:
        """The value of a variable; None when it is unset or empty, which mean the same everywhere in recalld."""
        return self.variables.get(name) or None


def process_environment() -> Environment:
    """A snapshot of this process's environment."""
    variables = dict(os.environ)  # noqa: TID251 - this module is the one reader
    uid = os.getuid()
    try:
        entry = pwd.getpwuid(uid)
        login, home = entry.pw_name, entry.pw_dir
    except KeyError:  # a container may run under a uid that has no entry
        login, home = str(uid), "/"
    named_home = variables.get("HOME", "")
    return Environment(
        variables=variables,
        uid=uid,
        login=login,
        home=Path(named_home if named_home.startswith("/") else home),
    )


def forbid_runtime_telemetry() -> None:
    """Tell the model runtime, and every child process, to report nothing to its makers.

    Builds of onnxruntime since 1.32 keep a database of usage events below the home directory and send them out over the
    network unless `ORT_DISABLE_TELEMETRY` is set before the library is loaded; its own `disable_telemetry_events()`
    comes too late for the first ones. A memory daemon has nothing to report to anybody, so no setting turns this back
    on.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # noqa: TID251 - this module is the one writer, too


def use_one_numeric_thread() -> None:
    """Keep numpy's linear algebra on the calling thread, unless somebody has chosen otherwise.

    The daemon's cores belong to the scorer's lanes: a search of the vector index would wait for a second thread of
    OpenBLAS while they are busy.
    """
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # noqa: TID251 - this module is the one writer, too


def remove_variables(names: Iterable[str]) -> None:
    """Take variables out of the process environment, so that child processes do not inherit them.

    Used for `LISTEN_FDS`, `LISTEN_PID`, `LISTEN_FDNAMES` and `NOTIFY_SOCKET`, which are meant for one process only.
    """
    for name in names:
        os.environ.pop(name, None)  # noqa: TID251 - this module is the one writer, too
