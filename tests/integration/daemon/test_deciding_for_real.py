"""Gates of a real daemon: decisions that can be explained, cursors that outlive a restart, files that are looked at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from daemon_process import DaemonProcess

from recalld.protocol import decide_items, requests

pytestmark = pytest.mark.integration

SESSIONS = tuple(decide_items.DecideCandidate(id=f"s{n}", at_ms=n + 1) for n in range(5))


def sweep(cursor: str = "") -> requests.Decide:
    return requests.Decide(
        op="sweep",
        user="ines",
        scope=decide_items.DecideScope(project="p"),
        candidates=SESSIONS,
        sweep=decide_items.SweepArguments(cursor=cursor, since_ms=None if cursor else 0, targets_max=2),
        explicit=() if cursor else ("since", "project"),
    )


def test_a_sweep_goes_on_exactly_behind_a_restart(make_daemon, tmp_path: Path) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
    daemon: DaemonProcess = make_daemon().start().ready()
    with daemon.client() as client:
        first = client.decide(sweep())
    assert first.params.targets == ("s0", "s1")
    assert first.params.cursor is not None
    daemon.stop()
    daemon.start().ready()
    with daemon.client() as client:
        second = client.decide(sweep(first.params.cursor))
        stranger = client.decide(requests.Decide(op="sweep", user="otto", sweep=sweep(first.params.cursor).sweep))
    assert second.params.targets == ("s2", "s3")
    assert (stranger.decision, stranger.reason_code) == ("refuse", "bad_cursor")


def test_a_decision_is_explained_later_without_a_word_of_the_message(make_daemon) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
    daemon: DaemonProcess = make_daemon().start().ready()
    with daemon.client() as client:
        made = client.decide(requests.Decide(op="recall", user="ines", session="s", text="Where is the quartz vault?"))
        row = client.explain(requests.Explain(user="ines", decision_id=made.decision_id))
    assert made.evidence.terms == ("quartz", "vault")
    assert (row.op, row.decision, row.reason) == ("decide", made.decision, made.reason_code)
    assert json.loads(row.body)["terms"] == 2
    assert "quartz" not in row.body
    assert "quartz" not in daemon.log_path.read_text()


def test_the_world_is_looked_at_inside_the_project_alone(make_daemon, tmp_path: Path) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
    project = tmp_path / "project"
    project.mkdir()
    (project / "here.py").write_text("pass")
    (tmp_path / "out.py").write_text("pass")
    (project / "link.py").symlink_to(tmp_path / "out.py")
    texts = (
        "The file here.py exists.",
        "The file gone.py exists.",
        "The file ../out.py exists.",
        "The file link.py exists.",
    )
    daemon: DaemonProcess = make_daemon().start().ready()
    with daemon.client() as client:
        made = client.decide(
            requests.Decide(
                op="probe",
                profile="daimon_world_check",
                user="ines",
                scope=decide_items.DecideScope(project_root=str(project)),
                candidates=tuple(
                    decide_items.DecideCandidate(id=text, text=text) for text in (*texts, "PR 7 is open.")
                ),
            )
        )
    assert [(each.outcome, each.reason) for each in made.evidence.probes] == [
        ("confirmed", "as_claimed"),
        ("contradicted", "not_as_claimed"),
        ("skipped", "outside_project"),
        ("skipped", "outside_project"),
        ("skipped", "asked_runtime"),
    ]
    assert [each.subject for each in made.params.probe_requests] == ["7"]
