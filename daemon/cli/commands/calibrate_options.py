"""How `recalld calibrate` is told to fit: its options, as one value."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final

import click
import msgspec

from recalld.daemon.cli.errors import usage_error
from recalld.models.calibration.fit import HeadKind
from recalld.models.calibration.fit_own import OwnFitOptions, lower_bound_volume

_Command = Callable[..., None]
_OPTIONS: Final = (
    click.option(
        "--target", type=float, default=0.95, show_default=True, help="Share of help to keep, between 0 and 1."
    ),
    click.option(
        "--lower-bound", is_flag=True, help="The lower end of the interval must meet the target, however few turns."
    ),
    click.option(
        "--head",
        type=click.Choice([kind.value for kind in HeadKind]),
        default=HeadKind.LOGISTIC.value,
        show_default=True,
        help="What the heads are made of.",
    ),
    click.option("--candidates-max", type=int, help="Candidates to judge. Default: what the data says."),
    click.option(
        "--kinds", is_flag=True, help="Thresholds of their own for kinds of memory with enough relevant ones."
    ),
)


def fit_options(command: _Command) -> _Command:
    """Give a command the options of a fit; it gets them as one argument, `options`."""

    @functools.wraps(command)
    def with_options(
        *arguments: object,
        target: float,
        lower_bound: bool,
        head: str,
        candidates_max: int | None,
        kinds: bool,
        **others: object,
    ) -> None:
        try:
            options = OwnFitOptions(
                target_retention=target, candidates_max=candidates_max, head=HeadKind(head), has_kind_thresholds=kinds
            )
        except ValueError as error:
            raise usage_error(str(error)) from error
        if lower_bound:
            options = msgspec.structs.replace(
                options, volume_min=lower_bound_volume(target), lower_bound_positives_min=1
            )
        command(*arguments, options=options, **others)

    for option in reversed(_OPTIONS):
        with_options = option(with_options)
    return with_options
