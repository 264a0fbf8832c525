"""A count on standard error that grows while somebody watches."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import click


class Watched(Protocol):
    """Told how far a command has come."""

    def __call__(self, text: str, /) -> None:
        """Show it, in place of what was shown before."""
        ...


@contextmanager
def watched(*, is_silent: bool) -> Iterator[Watched]:
    """Show progress while the block runs: on a terminal, and nowhere else."""
    if is_silent or not sys.stderr.isatty():
        yield _nothing
        return
    yield _rewrite
    click.echo(err=True)


def _nothing(text: str, /) -> None:
    """Nobody watches."""


def _rewrite(text: str, /) -> None:
    click.echo(f"\r{text} ", err=True, nl=False)
