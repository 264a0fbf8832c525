"""Judging sampled decisions: which are asked about, what a key does, and marks from programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from stand_in_daemon import Run, StandIn
from stats_reports import stats_of

from recalld.daemon.cli.commands.audit_marks import Marked, mark_all
from recalld.daemon.cli.commands.review_loop import Said
from recalld.daemon.clock import SystemClock
from recalld.protocol import replies, requests
from recalld.protocol.audit_items import AuditSection, EstimateItem, SampleItem
from recalld.protocol.fields import SampleAnswerName

DAY_MS = 86_400_000
NOW_MS = 1_790_000_000_000


def sample(number: int, kind: str = "gate_drop", *, age_days: float = 1.0, answer: str | None = None) -> SampleItem:
    return SampleItem(
        id=f"smp_{number}",
        kind=kind,
        decision_id=f"rec_{number}",
        memory_id="" if kind.startswith("turn") else f"mem_{number}",
        memory_text="" if kind.startswith("turn") else f"Memory {number}",
        text=f"Turn {number}\x1b[2J",
        probability=0.01,
        relevance=0.25,
        reason="below_threshold",
        at_ms=NOW_MS - round(age_days * DAY_MS),
        answer=answer,
        marked_by="" if answer is None else "cyd",
    )


class ScriptedKeys:
    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = list(keys)

    def next_key(self) -> str:
        return self._keys.pop(0) if self._keys else ""


class NotingDesk:
    def __init__(self, *, failures: int = 0) -> None:
        self.marks: list[tuple[str, SampleAnswerName]] = []
        self._failures = failures

    def mark(self, sample: SampleItem, answer: SampleAnswerName) -> Said:
        if self._failures:
            self._failures -= 1
            return Said(text="Not noted", is_done=False)
        self.marks.append((sample.id, answer))
        return Said(text="Noted.")


class ListScreen:
    def __init__(self) -> None:
        self.shown: list[str] = []
        self.said: list[str] = []

    def show(self, sample: SampleItem, place: int, total: int) -> None:
        self.shown.append(f"{place}/{total} {sample.id}")

    def say(self, text: str) -> None:
        self.said.append(text)


SAMPLES = tuple(sample(number) for number in (1, 2, 3))


def test_each_key_marks_one_sample_and_a_skip_leaves_it_for_another_day() -> None:
    desk, screen = NotingDesk(), ListScreen()
    done = mark_all(SAMPLES, desk, ScriptedKeys("ysu"), screen)
    assert desk.marks == [("smp_1", "yes"), ("smp_3", "unsure")]
    assert (done.count("yes"), done.count("no"), done.count("unsure"), done.left) == (1, 0, 1, 1)
    assert screen.shown == ["1/3 smp_1", "2/3 smp_2", "3/3 smp_3"]


def test_whole_words_count_as_their_keys() -> None:
    desk = NotingDesk()
    mark_all(SAMPLES, desk, ScriptedKeys(["no", "back", "yes", "skip", "unsure"]), ListScreen())
    assert desk.marks == [("smp_1", "no"), ("smp_1", "yes"), ("smp_3", "unsure")]


def test_back_returns_to_the_sample_before_whose_new_mark_counts_once() -> None:
    desk, screen = NotingDesk(), ListScreen()
    done = mark_all(SAMPLES[:2], desk, ScriptedKeys("bybny"), screen)
    assert screen.shown == ["1/2 smp_1", "1/2 smp_1", "2/2 smp_2", "1/2 smp_1", "2/2 smp_2"]
    assert done == Marked(answers={"smp_1": "no", "smp_2": "yes"}, left=0)


@pytest.mark.parametrize("end", ["q", "quit", "", "\x03", "\x04", "\x1b"])
def test_who_quits_leaves_the_rest(end: str) -> None:
    done = mark_all(SAMPLES, NotingDesk(), ScriptedKeys(["y", end]), ListScreen())
    assert (len(done.answers), done.left) == (1, 2)


def test_what_was_not_noted_and_what_is_no_key_ask_again() -> None:
    desk, screen = NotingDesk(failures=1), ListScreen()
    mark_all(SAMPLES[:1], desk, ScriptedKeys("xyn"), screen)
    assert desk.marks == [("smp_1", "no")]
    assert len(screen.said) == 2


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SystemClock, "now_ms", lambda _: NOW_MS)


def listed(daemon: StandIn) -> list[requests.ListSamples]:
    return [request for request in daemon.seen if isinstance(request, requests.ListSamples)]


def marks(daemon: StandIn) -> list[tuple[str, str | None, str]]:
    return [(each.sample_id, each.answer, each.by) for each in daemon.seen if isinstance(each, requests.MarkSample)]


def plan(daemon: StandIn, *pages: replies.Samples) -> None:
    daemon.plan(requests.ListSamples, *pages)
    daemon.plan(requests.MarkSample, replies.Ok())


def test_a_session_takes_the_kinds_in_turn_and_no_sample_over_its_limit(daemon: StandIn, run: Run) -> None:
    pages = (
        replies.Samples(samples=(sample(1), sample(2))),
        replies.Samples(samples=(sample(3, "injection"),)),
        replies.Samples(samples=(sample(4, "turn_skip"),)),
        replies.Samples(samples=(sample(5, "turn_search"), sample(6, "turn_search", age_days=8))),
        replies.Samples(),
        replies.Samples(samples=(sample(7, "record"),), left=2),
    )
    plan(daemon, *pages)
    document = json.loads(run("audit", "--json", "--limit", "4").out)
    assert [each["id"] for each in document["samples"]] == ["smp_1", "smp_3", "smp_4", "smp_5"]
    assert document["left"] == 4
    assert [each.kinds for each in listed(daemon)] == [
        ("gate_drop",),
        ("injection",),
        ("turn_skip",),
        ("turn_search",),
        ("write_drop",),
        ("record",),
    ]


def test_samples_are_shown_with_their_question_and_marked_in_ones_name(daemon: StandIn, run: Run) -> None:
    plan(daemon, replies.Samples(samples=(sample(1), sample(2))))
    ended = run("audit", "--drops", "--by", "cyd", stdin=b"yes\nq\n")
    assert ended.code == 0
    assert "held back; should it have been recalled?" in ended.out
    assert "Turn 1\N{REPLACEMENT CHARACTER}[2J" in ended.out
    assert "Memory 1" in ended.out
    assert "1 yes, 0 no, 0 unsure; 1 not marked." in ended.out
    assert marks(daemon) == [("smp_1", "yes", "cyd")]


@pytest.mark.parametrize(
    ("flag", "kinds"),
    [
        ("--drops", [("gate_drop",)]),
        ("--skips", [("turn_skip",), ("turn_search",)]),
        ("--injections", [("injection",)]),
        ("--unstored", [("write_drop",)]),
    ],
)
def test_a_flag_asks_about_its_kinds_alone(daemon: StandIn, run: Run, flag: str, kinds: list[tuple[str, ...]]) -> None:
    plan(daemon, replies.Samples())
    assert "Nothing to judge" in run("audit", flag).out
    assert [each.kinds for each in listed(daemon)] == kinds
    assert not any(each.marked for each in listed(daemon))


def test_marked_samples_can_be_thought_over(daemon: StandIn, run: Run) -> None:
    plan(daemon, replies.Samples(samples=(sample(1, answer="no"),)))
    ended = run("audit", "--drops", "--marked", stdin=b"y\n")
    assert "marked no by cyd" in ended.out
    assert listed(daemon)[0].marked
    assert marks(daemon)[0][:2] == ("smp_1", "yes")


@pytest.mark.parametrize(("answer", "sent"), [("yes", "yes"), ("unsure", "unsure"), ("none", None)])
def test_one_mark_is_taken_from_the_command_line(daemon: StandIn, run: Run, answer: str, sent: str | None) -> None:
    plan(daemon)
    assert run("audit", "--mark", "smp_9", answer, "--by", "judge-1").code == 0
    assert marks(daemon) == [("smp_9", sent, "judge-1")]
    assert listed(daemon) == []


def test_a_mark_on_a_sample_that_is_gone_says_so(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.MarkSample, replies.Error(code="not_found", message="sample_id: there is no sample"))
    ended = run("audit", "--mark", "smp_9", "yes")
    assert ended.code != 0
    assert "there is no sample" in ended.err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [(("--mark", "smp_9", "maybe"), "yes, no, unsure, none"), (("--records", "--marked"), "one of them at a time")],
)
def test_a_command_that_cannot_be_meant_is_refused(run: Run, arguments: tuple[str, ...], named: str) -> None:
    ended = run("audit", *arguments)
    assert (ended.code, named in ended.err) == (64, True)


def test_what_the_marks_say_is_drawn(daemon: StandIn, run: Run, tmp_path: Path) -> None:
    plan(daemon, replies.Samples())
    misses = EstimateItem(rate=0.12, low=0.04, high=0.31, audited=25)
    report = msgspec.structs.replace(stats_of(rows={}), audit=AuditSection(recall_misses=misses))
    daemon.plan(requests.Stats, report)
    plot = tmp_path / "audit.svg"
    assert run("audit", "--drops", "--plot", str(plot)).code == 0
    drawn = plot.read_text()
    assert "relevant memories held back (25)" in drawn
    assert "recalled, not relevant (not audited)" in drawn


def test_a_plot_that_cannot_be_drawn_is_refused_before_anything_is_asked(daemon: StandIn, run: Run) -> None:
    ended = run("audit", "--plot", "audit.pdf")
    assert (ended.code, daemon.seen) == (64, [])
    assert "--plot" in ended.err
