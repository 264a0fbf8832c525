"""`recalld serve`: run the daemon."""

from __future__ import annotations

import os
import sys
import threading

import anyio
import click

from recalld.daemon.app import run_daemon
from recalld.daemon.cli.common import Common, settings_options
from recalld.daemon.cli.output import ErrorBody, ErrorDocument, write_json
from recalld.daemon.config import Settings

_PRIVATE_UMASK = 0o077
SWITCH_INTERVAL_S = 0.001
"""How long a thread may keep the interpreter from another that waits for it. Each recall goes to the database's threads
and back several times; with the interpreter's own 5 ms, under load, each way could take that long."""
LANE_PREFIXES = ("recalld-scorer-lane", "recalld-embedder-lane")


@click.command("serve")
@settings_options
@click.pass_obj
def command(common: Common) -> int:
    """Run the daemon in the foreground.

    It answers on the socket until SIGTERM or Ctrl-C, which let it finish what is in flight; a second one ends it at
    once. systemd starts it this way, too. With --json, a failure is also one JSON object on standard output.
    """
    settings = common.settings
    os.umask(_PRIVATE_UMASK)  # whatever the daemon or a library creates is for its owner alone
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    code = anyio.run(_serve, settings, common, backend_options={"use_uvloop": True})
    leave(code)
    return code


def leave(code: int) -> None:
    """End the process at once if an inference still holds its lane.

    The runtime aborts the process when the interpreter is taken down under a running inference. By now everything is
    durable and closed, so nothing is lost by not waiting for a model that is stuck.
    """
    if any(thread.name.startswith(LANE_PREFIXES) and thread.is_alive() for thread in threading.enumerate()):
        sys.stderr.flush()
        sys.stdout.flush()
        os._exit(code)


async def _serve(settings: Settings, common: Common) -> int:
    on_failure = _print_failure if common.as_json else _say_nothing
    return await run_daemon(settings, environ=common.environment.variables, on_failure=on_failure)


def _print_failure(code: str, message: str) -> None:
    write_json(ErrorDocument(error=ErrorBody(code=code, message=message)))


def _say_nothing(_code: str, _message: str) -> None:
    """The log on standard error says it already."""
