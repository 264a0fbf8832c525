"""The `--plot` option of measuring commands."""

from __future__ import annotations

from pathlib import Path

from recalld.daemon.cli.errors import CommandError, usage_error
from recalld.daemon.evaluation.plot import PlotUnavailableError, check_plot
from recalld.daemon.exit_codes import ExitCode

_PLOT_UNAVAILABLE = "plot_unavailable"


def checked_plot(plot_path: Path) -> None:
    """Refuse at once what could not be drawn at the end.

    Raises:
        CommandError: The file could not be written under that name, or matplotlib is not installed.
    """
    try:
        check_plot(plot_path)
    except ValueError as error:
        message = f"--plot: {error}"
        raise usage_error(message) from error
    except PlotUnavailableError as error:
        raise CommandError(_PLOT_UNAVAILABLE, str(error), ExitCode.FAILURE) from error
