"""Opening a person's editor on a small text."""

from __future__ import annotations

from typing import Final

import click

from recalld.daemon.cli.errors import CommandError
from recalld.daemon.config import Environment
from recalld.daemon.exit_codes import ExitCode

EDITOR_FAILED: Final = "editor_failed"
"""The `code` of the JSON form of that error."""


def edited(text: str, environment: Environment) -> str | None:
    """The text as it was saved; None when the editor was left without saving.

    Raises:
        CommandError: There is no such editor, or it failed.
    """
    editor = environment.get("VISUAL") or environment.get("EDITOR")
    try:
        return click.edit(text, editor=editor, extension=".txt")
    except click.ClickException as error:
        message = f"{error.message}; name an editor in EDITOR, or use `recalld cues add` and `recalld cues set`"
        raise CommandError(EDITOR_FAILED, message, ExitCode.FAILURE) from error
