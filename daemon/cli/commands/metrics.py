"""`recalld metrics`: the daemon's figures for Prometheus, on standard output or in a file for its node exporter."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import click

from recalld.daemon.cli.common import Common, client_options
from recalld.daemon.cli.errors import usage_error
from recalld.daemon.cli.parameters import path
from recalld.daemon.cli.whole_file import whole_file
from recalld.daemon.metrics.families import metric_families
from recalld.daemon.metrics.text import exposition
from recalld.protocol import requests

TEXTFILE_MODE: Final = 0o644
"""The exporter runs as an account of its own, and there is nothing of any user in the file."""
RECENT_DAYS: Final = 7
"""How far back to look where there is no counter, as for alarms."""
_SUFFIX: Final = ".prom"


@click.command("metrics")
@click.option(
    "--textfile", type=path, help="Write into this file, whose name ends in .prom, instead of standard output."
)
@client_options
@click.pass_obj
def command(common: Common, *, textfile: Path | None) -> None:
    """Print counters, gauges and histograms in the text format of Prometheus.

    Everything is in that format, also with --json, which only changes how errors are printed. Needs a peer that may
    act for all users.
    """
    if textfile is not None:
        _check(textfile)
    with common.client() as client:
        health, stats = client.health(), client.stats(requests.Stats(ever=True))
        recent = client.stats(requests.Stats(days=RECENT_DAYS))
    text = exposition(metric_families(health, stats, recent))
    if textfile is None:
        sys.stdout.write(text.decode("utf-8"))
        sys.stdout.flush()
        return
    with whole_file(textfile, mode=TEXTFILE_MODE) as file:
        file.write(text)


def _check(textfile: Path) -> None:
    """Say before the daemon is asked what would fail, or go unread, afterwards."""
    if textfile.is_dir():
        message = f"--textfile: {textfile} is a directory; name a file in it, such as {textfile / 'recalld.prom'}"
        raise usage_error(message)
    if textfile.suffix != _SUFFIX:
        message = f"--textfile: {textfile} does not end in {_SUFFIX}, and the node exporter reads no other files"
        raise usage_error(message)
