"""Bring the tables of docs/measuring.md up to date with reports of `recalld eval` and `recalld replay`.

    recalld eval --builtin --json > eval.json
    recalld replay --builtin --leave-one-out --json > replay.json
    python tests/calibration/measuring_page.py eval.json --replay replay.json

Only what stands between two marks is written anew; whether the sentences around it still hold is for a person to
see.
"""

from __future__ import annotations

import argparse
import contextlib
import io
from collections.abc import Sequence
from pathlib import Path

import msgspec

from recalld.daemon.cli.commands.eval_view import write_rates
from recalld.daemon.cli.commands.replay_view import write_set
from recalld.models.lab.arms import ArmName
from recalld.models.lab.replay_report import ReplayReport
from recalld.models.lab.report import EvalReport

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measuring.md"
EVAL, REPLAY = "tables", "replay"
"""What stands between which marks."""
ANSWERABLE = ("direct", "paraphrase", "terse", "procedure", "preference_applies", "compound", "still")
OTHERS = ("same_topic", "other_person", "other_task", "general", "smalltalk")


def printed(report: EvalReport) -> str:
    """The first table of each set, as the command prints it."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        for name, each in report.sets.items():
            write_rates(name, each)
            print()
    return shown.getvalue().strip()


def kinds_table(report: EvalReport, kinds: Sequence[str]) -> str:
    """The gate's counts by kind of turn, a line for each set."""
    lines = [f"| source | {' | '.join(f'`{kind}`' for kind in kinds)} |", "|---|" + "---|" * len(kinds)]
    for name, each in report.sets.items():
        shares = each.arms[ArmName.GATE.value].by_kind
        cells = [f"{shares[kind].k}/{shares[kind].n}" if kind in shares else "-" for kind in kinds]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def tables(report: EvalReport) -> str:
    return "\n\n".join(
        (
            f"```\n{printed(report)}\n```",
            "The gate by kind of turn: retention of the answerable kinds,",
            kinds_table(report, ANSWERABLE),
            "and silence of the others.",
            kinds_table(report, OTHERS),
        )
    )


def replay_tables(report: ReplayReport) -> str:
    """Every set of a replay, as the command prints it, and which judge ran."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        for name, each in report.sets.items():
            write_set(name, each)
            print()
    flags = "--builtin --leave-one-out" if report.judge.is_held_out else "--builtin"
    said = f"Printed by `recalld replay {flags}`, judge `{report.judge.id}`, record `{report.judge.sha256[:12]}`:"
    return f"{said}\n\n```\n{shown.getvalue().strip()}\n```"


def between_marks(page: str, mark: str, content: str) -> str:
    """The page with what stands between two marks written anew."""
    begin, end = f"<!-- {mark}: begin -->\n", f"<!-- {mark}: end -->"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{content}\n\n{end}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path, nargs="?", help="of `recalld eval --builtin --json`")
    parser.add_argument("--replay", type=Path, help="of `recalld replay --builtin --leave-one-out --json`")
    given = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    if given.report is not None:
        report = msgspec.json.decode(given.report.read_bytes(), type=EvalReport)
        page = between_marks(page, EVAL, tables(report))
        print(f"calibration {report.calibration.id}, threshold {report.calibration.threshold:.4f}")
    if given.replay is not None:
        replay = msgspec.json.decode(given.replay.read_bytes(), type=ReplayReport)
        page = between_marks(page, REPLAY, replay_tables(replay))
        print(f"judge {replay.judge.id}, {replay.identity.differences} differences in the control")
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
