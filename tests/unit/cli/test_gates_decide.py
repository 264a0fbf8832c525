"""`recalld gates` and `recalld decide`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from stand_in_daemon import Run, StandIn

from recalld.models.policy.profiles.registry import policy_version, shipped_profiles
from recalld.protocol import decide_items as d
from recalld.protocol import replies, requests

DECISION = replies.Decision(
    decision_id="dec_1",
    op="rewrite",
    profile="atomic_rewrite",
    policy_version="atomic_rewrite@1+00000000",
    decision="run",
    reason_code="leans_on_history",
    reason="The message leans on the turns before it.",
    params=d.DecideParams(
        query="and who?",
        query_fallback=True,
        intervals=(d.DecideInterval(start_ms=0, end_ms=None, confidence=0.5),),
        items=tuple(f"i{n}" for n in range(25)),
        targets=("t1",),
        probe_requests=(d.ProbeRequest(claim_id="c1", candidate_id="m1", kind="pull_request_state", subject="12"),),
        stage="index",
        limits=d.DecideLimits(time_ms=10_000),
        not_before_ms=0,
        cursor="abc",
    ),
    evidence=d.DecideEvidence(
        cues=("same: as before",),
        terms=("key",),
        thresholds={"single": 1.8},
        counts={"index_lag": 2},
        candidates=(d.JudgedCandidate(id="m\x1b1", reason="too_old", score=0.5, terms=("key",)),),
        probes=(
            d.ClaimVerdict(claim_id="c2", candidate_id="m2", kind="file_exists", outcome="skipped", reason="no_access"),
            d.ClaimVerdict(
                claim_id="c3",
                candidate_id="m2",
                kind="file_exists",
                outcome="confirmed",
                reason="as_claimed",
                subject="a\x1b.py",
                place=2,
            ),
        ),
    ),
    decided_by="reference",
    degraded=True,
    repeat=True,
    notice="Look here.",
    cost_ms=1.25,
)


def test_all_gates_are_listed_with_operation_version_and_what_they_guard(run: Run) -> None:
    ended = run("gates")
    assert ended.code == 0
    for profile in shipped_profiles().values():
        (line,) = [line for line in ended.out.splitlines() if line.split()[0] == profile.name]
        assert profile.op.value in line
        assert profile.guards.rstrip(".") in line
    assert run("gates", "list").out == ended.out


@pytest.mark.parametrize("name", shipped_profiles())
def test_a_gate_is_shown_with_every_knob_and_direction(run: Run, name: str) -> None:
    profile = shipped_profiles()[name]
    out = run("gates", "show", name).out
    assert policy_version(profile) in out
    for knob in (*profile.directions.__struct_fields__, *profile.__struct_fields__):
        assert f"{knob}:" in out or knob in {"name", "op", "version", "directions", "notice", "error_rates"}
    assert "error rates: not measured" in out


def test_a_threshold_that_is_not_known_is_said_to_be_so(run: Run) -> None:
    out = run("gates", "show", "waku_keep").out
    assert "threshold_single: 1.8" in out
    assert "threshold_batched: not calibrated" in out


@pytest.mark.parametrize(("name", "meant"), [("recall", "default_recall"), ("waku_skill", "waku_skills")])
def test_a_gate_that_may_have_been_meant_is_offered(run: Run, name: str, meant: str) -> None:
    ended = run("gates", "show", name)
    assert (ended.code, f"did you mean {meant}" in ended.err) == (64, True)


def test_gates_can_be_had_as_json(run: Run) -> None:
    listed = json.loads(run("gates", "--json").out)["gates"]
    assert {each["profile"]["name"] for each in listed} == set(shipped_profiles())
    assert sum(each["is_default"] for each in listed) == 10
    shown = json.loads(run("gates", "show", "waku_skills", "--json").out)
    assert shown["profile"]["words_min"] == 2


def test_an_unknown_gate_is_refused(run: Run) -> None:
    ended = run("gates", "show", "waku_spells")
    assert (ended.code, ended.out) == (64, "")
    assert "`recalld gates` lists them" in ended.err


def test_the_options_make_the_request(daemon: StandIn, run: Run, tmp_path: Path) -> None:
    daemon.plan(requests.Decide, DECISION)
    arguments = ("--profile", "atomic_rewrite", "--text", "and who?", "--turn", "a", "--turn", "b")
    places = ("--project", "p", "--project-root", str(tmp_path), "--session", "s")
    assert run("decide", "rewrite", *arguments, *places).code == 0
    (asked,) = daemon.seen
    assert (asked.op, asked.profile, asked.text, asked.user, asked.session) == (
        "rewrite",
        "atomic_rewrite",
        "and who?",
        "ines",
        "s",
    )
    assert [turn.text for turn in asked.turns] == ["a", "b"]
    assert (asked.scope.project, asked.scope.project_root) == ("p", str(tmp_path))
    assert asked.explicit == ("project",)
    assert asked.time_zone


def test_no_turns_differs_from_turns_that_are_not_known(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Decide, DECISION)
    run("decide", "rewrite", "--text", "x", "--no-turns")
    run("decide", "rewrite", "--text", "x")
    assert [asked.turns for asked in daemon.seen] == [(), None]
    ended = run("decide", "rewrite", "--no-turns", "--turn", "a")
    assert (ended.code, "--no-turns" in ended.err) == (64, True)


@pytest.mark.parametrize("from_stdin", [True, False])
def test_a_file_holds_what_the_options_do_not_cover_and_options_come_first(
    daemon: StandIn, run: Run, tmp_path: Path, *, from_stdin: bool
) -> None:
    daemon.plan(requests.Decide, DECISION)
    content = (
        b'{"op": "tune", "user": "otto", "profile": "x", "call_shape": "single",'
        b' "candidates": [{"id": "a", "score": 2}]}'
    )
    path = tmp_path / "request.json"
    path.write_bytes(content)
    place = "-" if from_stdin else str(path)
    run("decide", "inject", "--profile", "waku_keep", "--request", place, stdin=content if from_stdin else b"")
    (asked,) = daemon.seen
    assert (asked.op, asked.user, asked.profile) == ("inject", "ines", "waku_keep")
    assert (asked.call_shape, asked.candidates) == ("single", (d.DecideCandidate(id="a", score=2.0),))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "is no JSON"),
        (b"[]", "--request:"),
        (b'{"candidates": [{"text": "x"}]}', "candidates[0]"),
        (b'{"stage": "attic"}', "give one of cards, index, messages"),
        (b"\xff", "is not UTF-8"),
        (b'{"bogus": 1}', "--request: bogus: there is no such field"),
        (b'{"scope": {"projct": "x"}}', "scope.projct: there is no such field"),
        (b'{"candidates": [{"id": "a"}, {"id": "b", "txt": "x"}]}', "candidates[1].txt: there is no such field"),
    ],
)
def test_a_mistake_in_the_file_is_named(run: Run, tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "request.json"
    path.write_bytes(content)
    ended = run("decide", "recall", "--request", str(path))
    assert (ended.code, ended.out) == (64, "")
    assert words in ended.err


def test_a_project_that_is_no_directory_is_refused_before_anything_in_it_is_missed(run: Run, tmp_path: Path) -> None:
    ended = run("decide", "probe", "--project-root", str(tmp_path / "gone"))
    assert (ended.code, "--project-root: " in ended.err, "is no directory" in ended.err) == (64, True, True)


def test_a_project_relative_to_here_is_sent_as_an_absolute_path(
    daemon: StandIn, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon.plan(requests.Decide, DECISION)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    run("decide", "probe", "--project-root", "here")
    assert daemon.seen[0].scope.project_root == str(tmp_path / "here")


def test_a_file_that_is_not_there_is_named(run: Run, tmp_path: Path) -> None:
    ended = run("decide", "recall", "--request", str(tmp_path / "gone.json"))
    assert ended.code == 64
    assert "--request: " in ended.err
    assert "gone.json cannot be read (No such file or directory); give the path of a readable file" in ended.err


def test_a_decision_is_shown_with_reason_params_evidence_and_where_to_read_more(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Decide, DECISION)
    out = run("decide", "rewrite", "--text", "and who?").out
    for words in (
        "run (leans_on_history), by reference, degraded, as before in this turn",
        "The message leans on the turns before it.",
        "query: and who? (the message itself",
        "1970-01-01 00:00 UTC to … (confidence 0.50)",
        "and 5 more",
        "targets: t1",
        "please look at: pull_request_state 12 (c1)",
        "next stage: index",
        "limits: time_ms 10000",
        "not before: 1970-01-01",
        "cursor: abc",
        "history cues: same: as before",
        "threshold single: 1.8",
        "index lag: 2",
        "is old, and has too few words of the message itself [score 0.5] (key)",
        "m2, file_exists: skipped, the project's files could not be looked at",
        "m2, file_exists a\N{REPLACEMENT CHARACTER}.py: confirmed, it is as the record says",
        "Notice: Look here.",
        "`recalld explain dec_1`",
    ):
        assert words in out
    assert "\x1b" not in out


def test_a_decision_can_be_had_as_json(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Decide, DECISION)
    document = json.loads(run("decide", "rewrite", "--text", "x", "--json").out)
    assert (document["decision"], document["reason_code"]) == ("run", "leans_on_history")


def test_an_unknown_operation_names_those_there_are(run: Run) -> None:
    ended = run("decide", "forgive")
    assert ended.code == 64
    assert "load_skill" in ended.err


def test_a_row_of_a_gate_is_explained_in_the_words_of_gates(daemon: StandIn, run: Run) -> None:
    row = replies.Explanation(
        decision_id="dec_1", user="ines", session="s", op="decide", at_ms=0, decision="skip", reason="no_candidates"
    )
    daemon.plan(requests.Explain, row)
    daemon.plan(requests.Outcomes, replies.Error(code="not_found", message="none"))
    out = run("explain", "dec_1").out
    assert "There is nothing to choose from." in out
