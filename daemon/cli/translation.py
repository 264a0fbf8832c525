"""From errors to what a person meets: one line with a remedy, and an exit code that scripts can tell apart."""

from __future__ import annotations

import errno
import re
from types import MappingProxyType
from typing import Final, assert_never

import click

from recalld.daemon.cli.common import Common
from recalld.daemon.cli.connecting import start_remedy, why_unreachable
from recalld.daemon.cli.errors import CommandError, usage_error
from recalld.daemon.config import ConfigError
from recalld.daemon.exit_codes import ExitCode, code_for_os_error
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.protocol.client.errors import ClientError, ClientFault

_EXIT_CODES: Final = MappingProxyType(
    {
        ClientFault.CONNECT_FAILED.value: ExitCode.UNAVAILABLE,
        ClientFault.CONNECTION_LOST.value: ExitCode.UNAVAILABLE,
        ClientFault.TIMEOUT.value: ExitCode.TEMPORARY,
        ErrorCode.BUSY.value: ExitCode.TEMPORARY,
        ErrorCode.DRAINING.value: ExitCode.TEMPORARY,
        ErrorCode.STORAGE_FULL.value: ExitCode.TEMPORARY,
        ErrorCode.STORAGE_UNAVAILABLE.value: ExitCode.TEMPORARY,
        ErrorCode.FORBIDDEN.value: ExitCode.NO_PERMISSION,
        ErrorCode.BAD_REQUEST.value: ExitCode.USAGE,
        ErrorCode.FRAME_TOO_LARGE.value: ExitCode.USAGE,
    }
)
"""What is not listed ends with `FAILURE`."""

_REMEDIES: Final = MappingProxyType(
    {
        ClientFault.CONNECTION_LOST.value: "the daemon may have stopped; `recalld doctor` says more",
        ClientFault.TIMEOUT.value: "try again; `recalld doctor` says what holds it up",
        ClientFault.BAD_REPLY.value: "does another program listen there, or another version of recalld?",
        ErrorCode.UNSUPPORTED_VERSION.value: "bring daemon and command line to the same version",
        ErrorCode.BUSY.value: "try again in a moment",
        ErrorCode.DRAINING.value: "try again once the daemon has restarted",
        ErrorCode.INTERNAL.value: "the daemon's log says more",
        ErrorCode.FORBIDDEN.value: "use a user of your own, or ask for an [[access]] rule",
    }
)

_OS_REMEDIES: Final = MappingProxyType(
    {
        errno.ENOENT: "check the name, or make the directory first",
        errno.ENOTDIR: "check the name: what should be a directory is a file",
        errno.EISDIR: "name a file, not a directory",
        errno.EACCES: "name a place that this account may use, or change its permissions",
        errno.EPERM: "name a place that this account may use, or change its permissions",
        errno.EROFS: "name a place that can be written",
        errno.ENOSPC: "make room, or name a place with more of it",
        errno.ENAMETOOLONG: "give it a shorter name",
    }
)

_OPTIONS: Final = MappingProxyType(
    {
        "asks": "--ask",
        "budget_ms": "--budget-ms",
        "contains": "--contains",
        "cues": "--cue",
        "cursor": "--cursor",
        "decision_id": "ID",
        "expires_at": "--expires-at",
        "item_id": "--item",
        "kind": "--kind",
        "limit": "--limit",
        "max_chars": "--max-chars",
        "memory_id": "ID",
        "observation_id": "ID",
        "proposal_id": "ID",
        "edited_text": "TEXT",
        "speaker": "--speaker",
        "turn_id": "--turn",
        "query": "--query",
        "scope": "--scope",
        "session": "--session",
        "text": "TEXT",
        "time_zone": "--time-zone",
        "user": "--user",
    }
)
"""Fields of a request, as they are called on the command line."""
_FIELD: Final = re.compile(r"^`?(?:\$\.)?(?P<field>[a-z_]+)(?:\[\d+\])?`?(?=: | is | was )")


EXPECTED: Final = (click.UsageError, CommandError, ConfigError, ClientError, RecalldError, OSError)
"""What `translated` knows; anything else is a fault of this program."""


def translated(
    error: click.UsageError | CommandError | ConfigError | ClientError | RecalldError | OSError, common: Common
) -> CommandError:
    """What a person is told, whatever went wrong.

    Args:
        error: What ended the command.
        common: What the command line said.
    """
    match error:
        case CommandError():
            return error
        case click.UsageError():
            return from_usage(error)
        case ConfigError():
            return CommandError("config_error", error.message, ExitCode.CONFIG)
        case ClientError():
            return from_client(error, common)
        case RecalldError():
            return from_domain(error)
        case OSError():
            return from_os(error)
        case _:
            assert_never(error)


def from_usage(error: click.UsageError) -> CommandError:
    """Translate a command line that cannot be understood; a value at fault is named by its option."""
    what = error.format_message()
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter):
        what = f"{_name_of(error)}: {error.message}"
    where = error.ctx.command_path if error.ctx else "recalld"
    return usage_error(f"{what.rstrip('.')}. See `{where} --help`.")


def from_client(error: ClientError, common: Common) -> CommandError:
    """Translate what went wrong between this command and the daemon."""
    if error.code == ClientFault.CONNECT_FAILED:
        path = common.settings.server.socket_path
        start = start_remedy(common.settings, common.environment)
        message = f"cannot connect to {path}: {why_unreachable(path, error.__cause__, start=start)}"
        is_forbidden = isinstance(error.__cause__, PermissionError)
        return CommandError(error.code, message, ExitCode.NO_PERMISSION if is_forbidden else ExitCode.UNAVAILABLE)
    message = error.message
    if error.code in {ErrorCode.BAD_REQUEST, ErrorCode.NOT_FOUND}:
        message = _FIELD.sub(lambda found: _OPTIONS.get(found["field"], found[0]), message)
    if remedy := _REMEDIES.get(error.code):
        # The server's own sentence often holds the remedy already; a second one does no harm, a missing one does.
        message = f"{message}; {remedy}"
    return CommandError(error.code, message, _EXIT_CODES.get(error.code, ExitCode.FAILURE))


def from_domain(error: RecalldError) -> CommandError:
    """Translate an operating error raised in this very process."""
    code = _EXIT_CODES.get(error.code.value, ExitCode.FAILURE)
    if isinstance(error.__cause__, OSError):
        code = code_for_os_error(error.__cause__, otherwise=code)
    return CommandError(error.code.value, error.message, code)


def from_os(error: OSError) -> CommandError:
    """Translate a file or socket that the operating system refused."""
    place = f"{error.filename}: " if error.filename else ""
    message = f"{place}{error.strerror or error}"
    if remedy := _OS_REMEDIES.get(error.errno or 0):
        message = f"{message}; {remedy}"
    is_forbidden = code_for_os_error(error, otherwise=ExitCode.FAILURE) is ExitCode.NO_PERMISSION
    return CommandError("os_error", message, ExitCode.NO_PERMISSION if is_forbidden else ExitCode.FAILURE)


def _name_of(error: click.BadParameter) -> str:
    """The option or argument at fault, as it is written."""
    if isinstance(error.param_hint, str):
        return error.param_hint
    match error.param:
        case click.Option(opts=[*_, name]):
            return name
        case click.Argument() as argument:
            return argument.metavar.strip("[].") if argument.metavar else argument.human_readable_name
        case _:
            return "the command line"
