"""Consoles for tables. A module of its own: importing rich would slow down every command that prints none."""

from __future__ import annotations

from typing import Final

from rich.console import Console

_WIDTH_WITHOUT_TERMINAL: Final = 200


def table_console() -> Console:
    """A console on standard output: as wide as the terminal, or wide enough to cut little where there is none."""
    out = Console(highlight=False, soft_wrap=True)
    return out if out.is_terminal else Console(highlight=False, soft_wrap=True, width=_WIDTH_WITHOUT_TERMINAL)
