"""`recalld stats` and `recalld metrics`: what was counted, for people, for programs and for Prometheus."""

import json
import stat
from pathlib import Path

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families
from stand_in_daemon import Run, StandIn
from stats_reports import ROWS, TALLIES, stats_of
from wire_examples import REPLIES

from recalld.protocol import replies, requests
from recalld.protocol.audit_items import AuditSection, EstimateItem, SampleCount

HEALTH = REPLIES["health_report"]


def test_stats_show_counts_shares_times_costs_and_sums(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Stats, stats_of(*TALLIES, rows=ROWS))
    ended = run("stats")
    assert ended.code == 0
    lines = [" ".join(line.split()) for line in ended.out.splitlines()]
    assert "silent gated 5/10 = 0.500 [0.24, 0.76]" in lines
    assert "relevance below_threshold 14/20 = 0.700 [0.48, 0.85]" in lines
    assert "rule created stated 2/2 = 1.000 [0.34, 1.00]" in lines
    assert any(line.startswith("relevance 9 20.48 48.71 48.71 205") for line in lines)
    assert "all of them together: candidates 6/20 = 0.300 [0.15, 0.52], recalls 4/10 = 0.400 [0.17, 0.69]" in lines
    assert any("8 memories not injected, about 100 tokens" in line for line in lines)
    assert "recalls: 10 = 5 silent:gated + 4 injected + 1 skip:acknowledgement" in lines
    assert "MISMATCH" not in ended.out
    assert daemon.seen == [requests.Stats(id=daemon.seen[0].id, days=7)]


def test_sums_that_do_not_agree_are_shown(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Stats, stats_of(*TALLIES, rows={"recall": 12, "observe": 2}))
    assert "recalls: MISMATCH, 12 but the parts are 10 = " in run("stats").out


def test_the_model_that_reads_turns_is_charged_its_tokens(daemon: StandIn, run: Run) -> None:
    counters = {"extraction_calls": 2, "extraction_chars": 4_001, "extraction_facts": 1}
    daemon.plan(requests.Stats, msgspec.structs.replace(stats_of(*TALLIES, rows=ROWS), counters=counters))
    assert "model gate, since start: 2 calls, about 1001 tokens, 1 fact found" in run("stats").out


def test_stats_show_each_audited_rate_and_say_which_are_not_audited(daemon: StandIn, run: Run) -> None:
    audit = AuditSection(
        turn_misses=EstimateItem(rate=0.25, low=0.125, high=0.5, audited=1),
        counts=(SampleCount(kind="turn_skip", probability=0.01, sampled=1, yes=1),),
    )
    daemon.plan(requests.Stats, msgspec.structs.replace(stats_of(), audit=audit))
    out = run("stats").out
    assert "turns that needed memory and were not searched for: 0.250 [0.12, 0.50] from 1 mark\n" in out
    assert "recalled memories that were not relevant: not audited" in out
    assert "1 sample, 1 marked; `recalld audit` asks" in out


def test_a_window_without_a_decision_says_so(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Stats, stats_of(rows={}))
    assert "none in this time" in run("stats").out


def test_stats_of_a_user_over_days_as_json(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Stats, stats_of(*TALLIES, rows=ROWS))
    document = json.loads(run("stats", "--user", "bo", "--days", "30", "--json").out)
    assert document["ledger"]["compound"]["recalls"]["k"] == 4
    assert all(each["holds"] for each in document["ledger"]["reconciliations"])
    assert daemon.seen == [requests.Stats(id=daemon.seen[0].id, user="bo", days=30)]


@pytest.mark.parametrize("days", ["0", "4000", "week"])
def test_days_that_no_ledger_has_are_refused(daemon: StandIn, run: Run, days: str) -> None:
    ended = run("stats", "--days", days)
    assert ended.code == 64
    assert "--days" in ended.err
    assert daemon.seen == []


def test_stats_are_drawn_alike_each_time(daemon: StandIn, run: Run, tmp_path: Path) -> None:
    daemon.plan(requests.Stats, stats_of(*TALLIES, rows=ROWS))
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    assert run("stats", "--plot", str(first)).code == 0
    assert run("stats", "--plot", str(second)).code == 0
    assert first.read_bytes() == second.read_bytes()
    assert "silent: gated" in first.read_text()


def test_a_plot_of_another_format_is_refused_before_the_daemon_is_asked(daemon: StandIn, run: Run) -> None:
    ended = run("stats", "--plot", "a.pdf")
    assert ended.code == 64
    assert "--plot" in ended.err
    assert daemon.seen == []


def test_metrics_are_what_prometheus_reads(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Health, HEALTH)
    daemon.plan(requests.Stats, stats_of(*TALLIES))
    ended = run("metrics")
    assert ended.code == 0
    families = {family.name: family for family in text_string_to_metric_families(ended.out)}
    recalls = {sample.labels["reason"]: sample.value for sample in families["recalld_recalls"].samples}
    assert recalls == {"relevant": 4, "gated": 5, "acknowledgement": 1}
    assert families["recalld_recalls"].type == "counter"
    assert [each.value for each in families["recalld_gateway_events"].samples] == [3]
    _, ever, recent = daemon.seen
    assert ever == requests.Stats(id=ever.id, ever=True)
    assert recent == requests.Stats(id=recent.id, days=7)


def test_a_textfile_is_replaced_as_a_whole_and_readable_by_the_exporter(
    daemon: StandIn, run: Run, tmp_path: Path
) -> None:
    daemon.plan(requests.Health, HEALTH)
    daemon.plan(requests.Stats, stats_of(*TALLIES))
    textfile = tmp_path / "recalld.prom"
    textfile.write_text("old")
    ended = run("metrics", "--textfile", str(textfile))
    assert (ended.code, ended.out) == (0, "")
    assert "recalld_recalls_total" in textfile.read_text()
    assert stat.S_IMODE(textfile.stat().st_mode) == 0o644
    assert [each.name for each in tmp_path.iterdir() if "prom" in each.name] == ["recalld.prom"]


def test_a_textfile_stays_as_it_was_where_the_daemon_does_not_answer(daemon: StandIn, run: Run, tmp_path: Path) -> None:
    daemon.plan(requests.Health, replies.Error(code="busy", message="too much at once", retryable=True))
    textfile = tmp_path / "recalld.prom"
    textfile.write_text("old")
    assert run("metrics", "--textfile", str(textfile)).code != 0
    assert textfile.read_text() == "old"


@pytest.mark.parametrize(("name", "hint"), [("", "is a directory"), ("recalld.txt", "does not end in .prom")])
def test_a_textfile_that_nobody_would_read_is_refused(
    daemon: StandIn, run: Run, tmp_path: Path, name: str, hint: str
) -> None:
    ended = run("metrics", "--textfile", str(tmp_path / name))
    assert ended.code == 64
    assert hint in ended.err
    assert daemon.seen == []


def test_a_daemon_of_an_earlier_version_has_no_sections_and_still_metrics(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Health, HEALTH)
    daemon.plan(requests.Stats, msgspec.structs.replace(stats_of(), ledger=None))
    assert "recalld_memories " in run("metrics").out
