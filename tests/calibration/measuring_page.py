"""Bring the tables of docs/measuring.md up to date with a report of `recalld eval --builtin --json`.

    recalld eval --builtin --json > report.json
    python tests/calibration/measuring_page.py report.json

Only what stands between the two marks is written anew; whether the sentences around it still hold is for a person to
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
from recalld.models.lab.arms import ArmName
from recalld.models.lab.report import EvalReport

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measuring.md"
BEGIN, END = "<!-- tables: begin -->\n", "<!-- tables: end -->"
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path)
    given = parser.parse_args()
    report = msgspec.json.decode(given.report.read_bytes(), type=EvalReport)
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{tables(report)}\n\n{END}{after}", encoding="utf-8")
    print(f"calibration {report.calibration.id}, threshold {report.calibration.threshold:.4f}")


if __name__ == "__main__":
    main()
