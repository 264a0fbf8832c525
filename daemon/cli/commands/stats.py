"""`recalld stats`: what was decided over the last days, why, how long it took, and what it saved."""

from __future__ import annotations

from pathlib import Path

import click

from recalld.daemon.cli.commands.plotting import checked_plot
from recalld.daemon.cli.commands.stats_view import write_stats
from recalld.daemon.cli.common import Common, client_options
from recalld.daemon.cli.output import write_json
from recalld.daemon.cli.parameters import USER, path, text_of
from recalld.daemon.evaluation.stats_plot import draw_stats
from recalld.protocol import requests
from recalld.protocol.fields import DAYS_MAX


@click.command("stats")
@click.option("--user", type=text_of(USER), help="Count only what was decided for this user. Default: for all users.")
@click.option(
    "--days",
    type=click.IntRange(1, DAYS_MAX),
    default=7,
    show_default=True,
    help="How far back to count; the ledger goes back as far as storage.ledger_days.",
)
@click.option("--plot", "plot_path", type=path, help="Draw shares and times into FILE.svg or FILE.png.")
@client_options
@click.pass_obj
def command(common: Common, *, user: str | None, days: int, plot_path: Path | None) -> None:
    """Count decisions, candidates and facts over the last days, with times and costs of every gate.

    Shares come with 95 % intervals. docs/measuring.md says what each figure is.
    """
    if plot_path is not None:
        checked_plot(plot_path)
    with common.client() as client:
        report = client.stats(requests.Stats(user=user, days=days))
    if plot_path is not None and report.ledger is not None:
        draw_stats(report.ledger, plot_path)
    if common.as_json:
        write_json(report)
    else:
        write_stats(report)
