"""`recalld replay`: what the write path makes of labelled conversations, beside its parts and simpler rules."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click

from recalld.daemon.admission_judge import JudgeInForce, judge_in_force
from recalld.daemon.cli.commands.eval import rows_bar
from recalld.daemon.cli.commands.plotting import checked_plot
from recalld.daemon.cli.commands.replay_view import write_replay
from recalld.daemon.cli.common import Common, settings_options
from recalld.daemon.cli.errors import usage_error
from recalld.daemon.cli.output import write_json
from recalld.daemon.cli.parameters import path, whole
from recalld.daemon.config import Settings
from recalld.daemon.evaluation.meter import Meter
from recalld.daemon.evaluation.replay_gates import GateSettings
from recalld.daemon.evaluation.replay_held_out import held_out_judges
from recalld.daemon.evaluation.replay_plot import draw_replay
from recalld.daemon.evaluation.replay_run import Progress, replay
from recalld.daemon.evaluation.replay_sources import DRAWN_PER_STYLE, ReplaySource, builtin_sources, read_sources
from recalld.daemon.own_calibration.labelling import PairModels
from recalld.models.calibration.admission_data import shipped_rows, undisputed
from recalld.models.calibration.admission_record import dump_admission_record
from recalld.models.domain.errors import InvariantError
from recalld.models.domain.position import Position
from recalld.models.inference.loading import load_bi_encoder
from recalld.models.lab.replay_report import JudgeUsed
from recalld.models.lab.replay_rows import ReplayRowError
from recalld.models.lab.replay_summary import summarise
from recalld.models.policy.judge.model import Judge

WRONG_SHOWN: Final = 20


def position_name(value: str) -> Position:
    """Convert the name of a position."""
    try:
        return Position(value)
    except ValueError as error:
        message = f"{value!r} is no position; give one of {', '.join(Position)}"
        raise click.BadParameter(message) from error


@click.command("replay")
@click.argument("files", metavar="[FILE]...", nargs=-1, type=path)
@click.option("--builtin", is_flag=True, help="Also replay the conversations of the package, and some of its turns.")
@click.option(
    "--leave-one-out",
    is_flag=True,
    help="All turns of the package, each judged by a fit without its style. Takes long.",
)
@click.option("--position", type=position_name, help="Where `stack` stands. Default: as configured.")
@click.option("--wrong", "wrong_shown", type=whole(0), default=WRONG_SHOWN, help="Wrong records to show. Default: 20.")
@click.option("--all-wrong", is_flag=True, help="Show every wrong record.")
@click.option("--plot", "plot_path", type=path, help="Draw precision against recall into FILE.svg or FILE.png.")
@settings_options
@click.pass_obj
def command(
    common: Common,
    *,
    files: tuple[Path, ...],
    builtin: bool,
    leave_one_out: bool,
    position: Position | None,
    wrong_shown: int,
    all_wrong: bool,
    plot_path: Path | None,
) -> None:
    """Replay labelled conversations through the write path, in FILEs of one JSON object a line.

    What is written, how much of it is right, what is missed, and which rule let each wrong record in: of the stack that
    would run now, of its parts, and at each position. Needs the embedder and no daemon, and writes nothing.
    docs/measuring.md says what a conversation and each figure is.
    """
    if not files and not builtin:
        message = "name at least one FILE of labelled conversations, or give --builtin"
        raise usage_error(message)
    if leave_one_out and not builtin:
        message = "--leave-one-out is about the turns of the package; give --builtin with it"
        raise usage_error(message)
    if plot_path is not None:
        checked_plot(plot_path)
    sources = _read(files, is_builtin=builtin, has_all_turns=leave_one_out)
    settings = common.settings
    judging = judge_in_force(settings)
    meter = Meter(_embedder_alone(settings))
    with rows_bar(is_silent=common.as_json) as on_progress:
        held_out = _held_out(judging, meter, on_progress) if leave_one_out else {}
        stands_at = position or settings.admission.position
        given = GateSettings(settings=settings, judging=judging, position=stands_at, held_out=held_out)
        results = replay(given, sources, meter, on_progress)
    report = summarise(results, position=stands_at.value, judge=_judge_used(judging, is_held_out=bool(held_out)))
    if plot_path is not None:
        draw_replay(report, plot_path)
    if common.as_json:
        write_json(report)
    else:
        write_replay(report, wrong_max=None if all_wrong else wrong_shown)


def _read(files: tuple[Path, ...], *, is_builtin: bool, has_all_turns: bool) -> list[ReplaySource]:
    try:
        sources = read_sources(files)
    except ReplayRowError as error:
        raise usage_error(str(error)) from error
    if not is_builtin:
        return sources
    names = {each.name for each in sources}
    return [*sources, *builtin_sources(names, drawn_max=None if has_all_turns else DRAWN_PER_STYLE)]


def _embedder_alone(settings: Settings) -> PairModels:
    """The embedder; nothing on the write path scores pairs, so that model need not be there."""
    embedder = load_bi_encoder(settings.models.dir, settings.models.embedder)
    return PairModels(
        lambda text: embedder.embed(text, is_query=False),
        lambda text: embedder.embed(text, is_query=True),
        _no_scores,
    )


def _no_scores(_query: str, _text: str) -> float:
    message = "the write path scores no pairs"
    raise InvariantError(message)


def _held_out(judging: JudgeInForce, meter: Meter, on_progress: Progress) -> Mapping[str, Judge]:
    if judging.record is None:
        return {}
    return held_out_judges(judging.record.model, undisputed(shipped_rows()), meter, on_progress)


def _judge_used(judging: JudgeInForce, *, is_held_out: bool) -> JudgeUsed:
    record = judging.record
    if record is None:
        return JudgeUsed(mismatch=judging.mismatch or "the judge is switched off")
    return JudgeUsed(
        id=record.id,
        date=record.date,
        sha256=hashlib.sha256(dump_admission_record(record)).hexdigest(),
        corpus_sha256=record.corpus_sha256,
        is_held_out=is_held_out,
    )
