"""The `recalld` command."""

from recalld.daemon.cli.entry import main

__all__ = ["main"]
