from __future__ import annotations

import sys
from pathlib import Path

import pytest
from lab_rows import judged, result

from recalld.daemon.evaluation.plot import PlotUnavailableError, check_plot, draw
from recalld.daemon.evaluation.run import Evaluated, Results
from recalld.models.lab.arms import ArmName
from recalld.models.lab.report import RowCounts, SetReport
from recalld.models.lab.tally import arm_report, breakdown, control, detectable


def evaluated(name: str) -> Evaluated:
    rows = [
        *(result(f"h{i}", judged("r", injected=i > 2, score=i / 10), relevant=("r",)) for i in range(10)),
        *(result(f"s{i}", judged("x", injected=i > 7, score=i / 12), is_answerable=False) for i in range(10)),
    ]
    results: Results = {ArmName.GATE: rows, ArmName.FLOOR_ONLY: rows}
    arms = {each.value: arm_report(rows) for each in results}
    report = SetReport(
        arms=arms,
        candidates=arms["gate"].candidates,
        rows=RowCounts(total=20, disputed=0, answerable=10, nothing_relevant=10),
        detectable=detectable(rows),
        control=control("gate", rows, rows),
        breakdown={each.value: breakdown(rows) for each in results},
    )
    return Evaluated(name=name, results=results, report=report)


@pytest.mark.parametrize(("name", "start"), [("a.svg", b"<?xml"), ("a.png", b"\x89PNG")])
def test_the_file_is_what_its_name_says_and_the_same_each_time(tmp_path: Path, name: str, start: bytes) -> None:
    path = tmp_path / name
    check_plot(path)
    draw([evaluated("notes"), evaluated("more")], path)
    first = path.read_bytes()
    assert first.startswith(start)
    draw([evaluated("notes"), evaluated("more")], path)
    assert path.read_bytes() == first


def test_another_ending_and_a_missing_library_are_said_before_anything_is_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match=r"neither \.svg nor \.png"):
        check_plot(tmp_path / "a.pdf")
    with pytest.raises(ValueError, match="is no directory"):
        check_plot(tmp_path / "missing" / "a.svg")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(PlotUnavailableError, match=r"pip install 'recalld\[plot\]'"):
        check_plot(tmp_path / "a.svg")
