"""The one exception that commands raise about themselves."""

from __future__ import annotations

from recalld.daemon.exit_codes import ExitCode


class CommandError(Exception):
    """A command that cannot do what it was asked.

    Attributes:
        code: A short word for programs, the `code` of the JSON form.
        message: One line that says what is wrong and what to do.
        exit_code: How the process ends.
    """

    def __init__(self, code: str, message: str, exit_code: ExitCode) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.exit_code = exit_code


def usage_error(message: str) -> CommandError:
    """A command line, or what it names, that is wrong in itself."""
    return CommandError("usage", message, ExitCode.USAGE)
