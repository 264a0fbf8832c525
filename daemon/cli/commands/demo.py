"""`recalld demo`: the whole product on one screen."""

from __future__ import annotations

import click
from rich.console import Console

from recalld.daemon.cli.common import Common, model_options
from recalld.daemon.demo.run import run_demo


@click.command("demo")
@model_options
@click.pass_obj
def command(common: Common) -> int:
    """Show what recall and silence look like, on made-up memories.

    It runs a daemon of its own in a temporary directory and touches no other data.
    """
    return run_demo(settings=common.settings, as_json=common.as_json, console=Console())
