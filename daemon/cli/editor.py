"""Opening a person's editor on a small text."""

from __future__ import annotations

from typing import Final

import click

from recalld.daemon.cli.errors import CommandError
from recalld.daemon.config import Environment
from recalld.daemon.exit_codes import ExitCode

_OTHERWISE: Final = "use `recalld cues add` and `recalld cues set`"
EDITOR_FAILED: Final = "editor_failed"
"""The `code` of the JSON form of that error."""


def edited(text: str, environment: Environment, *, otherwise: str = _OTHERWISE) -> str | None:
    """The text as it was saved; None when the editor was left without saving.

    Args:
        text: What to begin with.
        environment: Names the editor.
        otherwise: What to do where there is none, for the error.

    Raises:
        CommandError: There is no such editor, or it failed.
    """
    editor = environment.get("VISUAL") or environment.get("EDITOR")
    try:
        return click.edit(text, editor=editor, extension=".txt")
    except click.ClickException as error:
        message = f"{error.message}; name an editor in EDITOR, or {otherwise}"
        raise CommandError(EDITOR_FAILED, message, ExitCode.FAILURE) from error
