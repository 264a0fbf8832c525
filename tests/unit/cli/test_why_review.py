"""Why a memory is there, and going through what waits to be one."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

import msgspec
import pytest
from rich.console import Console
from stand_in_daemon import Run, StandIn

from recalld.daemon.cli.commands.review_items import DAY_MS, Waiting, waiting_in
from recalld.daemon.cli.commands.review_loop import LineKeys, Reviewed, Said, review
from recalld.daemon.cli.commands.review_view import ConsoleScreen, waiting_lines
from recalld.daemon.cli.commands.why_view import why_lines
from recalld.daemon.clock import SystemClock
from recalld.protocol import items, replies, requests
from recalld.protocol import portable_items as p

NOW_MS = 1_796_000_000_000
MEMORY = items.MemoryItem(
    id="mem_2",
    user="ines",
    text="Works at Hooli.\x1b[2J",
    kind="fact",
    scope="",
    source="confirmed",
    status="superseded",
    created_at_ms=5_000_000,
    updated_at_ms=9_000_000,
    revision=1,
)
OLDER = msgspec.structs.replace(MEMORY, id="mem_1", text="Works at Initech.", updated_at_ms=5_000_000)
NEWER = msgspec.structs.replace(MEMORY, id="mem_3", text="Works at Pied Piper.", status="active")
LINEAGE = replies.Lineage(
    memory=MEMORY,
    evidence=(
        items.EvidenceItem(
            session="s1",
            turn_id="t9",
            at_ms=2_000_000,
            generator="model",
            rule="netclaw",
            reason="needs_confirmation",
            quote="I'm at Hooli now",
            decision_id="adm_1",
        ),
        items.EvidenceItem(
            at_ms=5_000_000, generator="confirmed", rule="confirm", reason="confirmed", decision_id="cfm_1"
        ),
    ),
    proposal=items.ProposalItem(
        id="obs_1",
        session="s1",
        text="Works at Hooli!",
        kind="fact",
        scope="",
        reason="needs_confirmation",
        state="accepted",
        created_at_ms=3_000_000,
        expires_at_ms=4_000_000,
        proposer="netclaw",
        accepted_text="Works at Hooli.",
    ),
    observation=items.ObservationItem(
        id="obs_0", text="Works at Hooli", kind="fact", scope="", turns=3, sessions=2, first_at_ms=1, last_at_ms=2
    ),
    supersedes=(OLDER,),
    superseded_by=NEWER,
    slot="employer",
    subject="Dana",
)


# --- why -------------------------------------------------------------------------------------------------------------


def test_a_timeline_tells_everything_behind_a_memory_oldest_first() -> None:
    lines = list(why_lines(LINEAGE))
    told = "\n".join(lines)
    places = [
        told.index(words)
        for words in (
            "first noted, as “Works at Hooli” (obs_0)",
            "became a memory; 3 turns in 2 sessions speak for it",
            "said in session s1, turn t9 “I'm at Hooli now”",
            "found by a model (netclaw)",
            "proposed by netclaw, as “Works at Hooli!” (obs_1)",
            "accepted, as “Works at Hooli.”",
            "confirmed by the user",
            "stored: the user said yes to it",
            "took the place of mem_1 “Works at Initech.”",
            "replaced by mem_3 “Works at Pied Piper.”",
        )
    ]
    assert places == sorted(places)
    assert "employer of Dana" in lines[1]
    assert "\x1b" not in told


def test_a_memory_that_was_ended_says_that_nothing_took_its_place() -> None:
    lines = list(why_lines(msgspec.structs.replace(LINEAGE, superseded_by=None)))
    assert lines[-1].endswith("ended, and nothing took its place")


def test_why_prints_the_timeline_or_json(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.GetLineage, LINEAGE)
    assert "stored: the user said yes to it" in run("why", "mem_2").out
    assert json.loads(run("why", "mem_2", "--json").out)["slot"] == "employer"


@pytest.mark.parametrize(("trace", "words"), [(0, "ines has no memory mem_9"), (1, "mem_9 was forgotten")])
def test_a_memory_that_is_not_there_or_was_forgotten_is_told_apart(
    daemon: StandIn, run: Run, trace: int, words: str
) -> None:
    daemon.plan(requests.GetLineage, replies.Error(code="not_found", message="memory_id: there is none"))
    daemon.plan(requests.Forget, replies.Forgotten(count=trace, is_dry_run=True))
    ended = run("why", "mem_9")
    assert (ended.code, words in ended.err) == (1, True)
    (look,) = (request for request in daemon.seen if isinstance(request, requests.Forget))
    assert (look.hard, look.dry_run) == (True, True)


def test_a_dry_forgetting_tells_what_hangs_on_each_memory(daemon: StandIn, run: Run) -> None:
    shown = items.ForgottenItem(id="mem_2", preview="Works at", kind="fact", scope="work")
    daemon.plan(requests.Forget, replies.Forgotten(count=1, ids=("mem_2",), items=(shown,), is_dry_run=True))
    daemon.plan(requests.GetLineage, LINEAGE)
    out = run("forget", "mem_2", "--dry-run").out
    assert "mem_2  fact (work)  Works at Hooli." in out
    assert "with it: the employer of Dana and quotes of 2 turns" in out
    assert "what it replaced stays as history: mem_1" in out
    assert "it was replaced by mem_3, which stays" in out
    document = json.loads(run("forget", "mem_2", "--dry-run", "--json").out)
    assert (document["count"], document["items"][0]["evidence"], document["items"][0]["supersedes"]) == (
        1,
        2,
        ["mem_1"],
    )


# --- what waits ------------------------------------------------------------------------------------------------------


def said(turn: int, *, session: str = "s", at_ms: int = NOW_MS, reason: str = "weak_evidence") -> p.PortableEvidence:
    return p.PortableEvidence(
        session=session,
        turn_id=f"t{turn}",
        at_ms=at_ms,
        generator="judge",
        rule="j",
        reason=reason,
        quote=f"rum {turn}",
    )


def noted(number: int, *evidence: p.PortableEvidence, promoted_to: str = "", last_at_ms: int = NOW_MS) -> p.Portable:
    return p.PortableObservation(
        observation_id=f"obs_{number}",
        fact=p.PortableFact(text=f"Likes rum {number}", slot=p.PortableSlot(slot="likes")),
        first_at_ms=NOW_MS - DAY_MS,
        last_at_ms=last_at_ms,
        promoted_to=promoted_to,
        evidence=evidence,
    )


def asked(number: int, *, state: str = "pending", expires_at_ms: int = NOW_MS + DAY_MS) -> p.Portable:
    return msgspec.convert(
        {
            "proposal_id": f"obs_{number}",
            "fact": {"text": f"Call me {number}"},
            "reason": "needs_confirmation",
            "state": state,
            "created_at_ms": NOW_MS - 2 * DAY_MS,
            "expires_at_ms": expires_at_ms,
            "proposer": "netclaw",
        },
        p.PortableProposal,
    )


def waiting(*records: p.Portable, turns_min: int = 1) -> tuple[Waiting, ...]:
    return waiting_in(records, now_ms=NOW_MS, window_ms=90 * DAY_MS, turns_min=turns_min)


def test_proposals_come_before_observations_and_what_ends_first_or_is_nearest_comes_first() -> None:
    found = waiting(
        noted(1, said(1)),
        noted(2, said(1), said(2, session="b")),
        asked(3),
        asked(4, expires_at_ms=NOW_MS + 1),
    )
    assert [each.id for each in found] == ["obs_4", "obs_3", "obs_2", "obs_1"]
    assert (found[2].turns, found[2].sessions) == (2, 2)


def test_what_waits_no_more_is_not_shown() -> None:
    over = (
        asked(1, state="accepted"),
        asked(2, state="rejected"),
        asked(3, expires_at_ms=NOW_MS),
        noted(4, promoted_to="mem_1"),
        noted(5, said(1), last_at_ms=NOW_MS - 91 * DAY_MS),
    )
    assert waiting(*over) == ()


def test_an_observation_that_is_far_from_a_memory_is_left_out() -> None:
    far, near = noted(1, said(1)), noted(2, said(1), said(2))
    assert [each.id for each in waiting(far, near, turns_min=2)] == ["obs_2"]


def test_it_is_told_why_it_waits_until_when_and_who_speaks_for_it() -> None:
    (item,) = waiting(noted(1, *(said(turn) for turn in range(7)), said(9, reason="guess")))
    told = "\n".join(waiting_lines(item, now_ms=NOW_MS))
    for words in (
        "the user is not sure of it",
        "for 1 d, until 2027-",
        "8 turns in 1 session:",
        "“rum 6”",
        "3 earlier",
    ):
        assert words in told
    assert "“rum 1”" not in told


# --- keys ------------------------------------------------------------------------------------------------------------


class ScriptedDesk:
    """Notes what it is told, and edits as planned."""

    def __init__(self, *edits: str | None, fails: bool = False) -> None:
        self.done: list[tuple[str, str, str]] = []
        self._edits = list(edits)
        self._fails = fails

    def accept(self, item: Waiting, text: str = "") -> Said:
        self.done.append(("accept", item.id, text))
        return Said(text="Accepted", is_done=not self._fails)

    def reject(self, item: Waiting) -> Said:
        self.done.append(("reject", item.id, ""))
        return Said(text="Turned down")

    def edit(self, item: Waiting) -> str | None:
        return self._edits.pop(0) if item.text else None


class ScriptedKeys:
    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = list(keys)

    def next_key(self) -> str:
        return self._keys.pop(0) if self._keys else ""


def gone_through(desk: ScriptedDesk, keys: Sequence[str], count: int = 3) -> tuple[Reviewed, str]:
    found = waiting(*(asked(number) for number in range(count)))
    out = io.StringIO()
    screen = ConsoleScreen(Console(file=out, width=100), now_ms=NOW_MS)
    return review(found, desk, ScriptedKeys(keys), screen), out.getvalue()


def test_each_key_decides_about_one_item() -> None:
    desk = ScriptedDesk()
    done, shown = gone_through(desk, ["a", "r", "s"])
    assert desk.done == [("accept", "obs_0", ""), ("reject", "obs_1", "")]
    assert done == Reviewed(accepted=1, rejected=1, skipped=1, left=0)
    assert "1 of 3: proposal obs_0" in shown
    assert "a accept, r reject, e edit, s skip, q quit" in shown


def test_an_unknown_key_shows_the_keys_and_asks_again() -> None:
    desk = ScriptedDesk()
    done, shown = gone_through(desk, ["x", "?", "a"], count=1)
    assert (done.accepted, shown.count("a accept")) == (1, 3)


@pytest.mark.parametrize("key", ["q", "", "\x03", "\x04", "\x1b"])
def test_quitting_leaves_the_others_as_they_are(key: str) -> None:
    desk = ScriptedDesk()
    done, _ = gone_through(desk, ["a", key])
    assert (done.accepted, done.left) == (1, 2)


def test_an_edit_is_accepted_in_its_words_and_one_that_is_not_saved_asks_again() -> None:
    desk = ScriptedDesk(None, "Call me Zed")
    done, shown = gone_through(desk, ["e", "e"], count=1)
    assert desk.done == [("accept", "obs_0", "Call me Zed")]
    assert (done.accepted, "Not saved" in shown) == (1, True)


def test_a_decision_that_was_not_carried_out_is_not_counted() -> None:
    done, _ = gone_through(ScriptedDesk(fails=True), ["a"], count=1)
    assert (done.accepted, done.skipped) == (0, 1)


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SystemClock, "now_ms", lambda _: NOW_MS)


CONFIRMED = replies.Confirmed(
    proposal=items.ProposalItem(
        id="obs_1",
        session="s",
        text="Call me 1",
        kind="fact",
        scope="",
        reason="needs_confirmation",
        state="accepted",
        created_at_ms=1,
        expires_at_ms=2,
    ),
    verdict=items.Verdict(reason="confirmed", memory=NEWER, outcome="created", superseded=("mem_1",)),
    decision_id="cfm_1",
)
SETTLED = replies.Settled(
    observation=items.ObservationItem(id="obs_2", text="Likes rum", kind="fact", scope="", first_at_ms=1, last_at_ms=2)
)
NOT_FOUND = replies.Error(code="not_found", message="proposal_id: there is none")


def test_nothing_to_review_is_no_failure(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Export, replies.Exported())
    ended = run("review")
    assert (ended.code, ended.out) == (0, "Nothing waits for your word.\n")
    (request,) = daemon.seen
    assert isinstance(request, requests.Export)
    assert request.waiting_only


@pytest.mark.usefixtures("now")
def test_without_a_terminal_the_first_letter_of_each_line_decides(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Export, replies.Exported(records=(asked(1), noted(2, said(1), said(2)), noted(3, said(1)))))
    daemon.plan(requests.Confirm, CONFIRMED)
    daemon.plan(requests.Settle, SETTLED)
    daemon.plan(requests.Get, replies.Memory(memory=OLDER))
    ended = run("review", stdin=b"accept\nR\n")
    assert ended.code == 0
    assert "Accepted, kept: mem_3 Works at Pied Piper., in place of mem_1 “Works at Initech.”" in ended.out
    assert "1 accepted, 1 turned down, 0 skipped." in ended.out
    _, confirm, _, settle = daemon.seen
    assert isinstance(confirm, requests.Confirm)
    assert isinstance(settle, requests.Settle)
    assert (confirm.proposal_id, confirm.accept, settle.observation_id, settle.accept) == (
        "obs_1",
        True,
        "obs_2",
        False,
    )


@pytest.mark.usefixtures("now")
def test_json_lists_what_waits_and_decides_nothing(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Export, replies.Exported(records=(asked(1), noted(2, said(1)))))
    document = json.loads(run("review", "--json", "--all").out)
    assert [(each["id"], each["sort"], each["turns"]) for each in document["waiting"]] == [
        ("obs_1", "proposal", 0),
        ("obs_2", "observation", 1),
    ]


def test_scripts_answer_by_id_whatever_it_is_of(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Confirm, NOT_FOUND)
    daemon.plan(requests.Settle, SETTLED)
    assert run("review", "--reject", "obs_2").out == "Turned down.\n"
    daemon.plan(requests.Confirm, CONFIRMED)
    assert "Accepted, kept" in run("review", "--edit", "obs_1", "Call me Zed").out
    (last,) = (request for request in daemon.seen[-2:] if isinstance(request, requests.Confirm))
    assert (last.edited_text, last.accept) == ("Call me Zed", True)


def test_an_id_of_nothing_that_waits_is_told(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Confirm, NOT_FOUND)
    daemon.plan(requests.Settle, NOT_FOUND)
    ended = run("review", "--accept", "obs_9")
    assert (ended.code, "nothing of ines waits under obs_9" in ended.err) == (1, True)


def test_a_proposal_that_has_expired_and_a_memory_that_does_not_fit_end_with_1(daemon: StandIn, run: Run) -> None:
    expired = msgspec.structs.replace(CONFIRMED.proposal, state="expired")
    daemon.plan(requests.Confirm, msgspec.structs.replace(CONFIRMED, proposal=expired, verdict=None))
    ended = run("review", "--accept", "obs_1")
    assert (ended.code, "has expired" in ended.err) == (1, True)
    usage = items.UsageItem(records=9, chars=90, records_max=9)
    refusal = items.Verdict(reason="over_capacity", outcome="refused", usage=usage)
    daemon.plan(requests.Confirm, msgspec.structs.replace(CONFIRMED, verdict=refusal))
    ended = run("review", "--accept", "obs_1")
    assert (ended.code, "forget something first" in ended.err) == (1, True)


def test_an_ending_that_is_accepted_says_what_it_ended_in_words(daemon: StandIn, run: Run) -> None:
    ended_it = items.Verdict(reason="confirmed", outcome="closed", superseded=("mem_1",))
    daemon.plan(requests.Confirm, msgspec.structs.replace(CONFIRMED, verdict=ended_it))
    daemon.plan(requests.Get, replies.Memory(memory=OLDER))
    out = run("review", "--accept", "obs_1").out
    assert "Accepted, ended what was stored: mem_1 “Works at Initech.”" in out
    assert "`recalld explain cfm_1` shows the decision." in out


def test_two_answers_at_a_time_are_refused(run: Run) -> None:
    assert run("review", "--accept", "a", "--reject", "b").code == 64


@pytest.mark.parametrize(
    ("line", "key"),
    [("a\n", "a"), (" Reject \n", "r"), ("ab\n", "ab"), ("anything\n", "anything"), ("\n", "s"), ("", "")],
)
def test_only_a_whole_answer_on_a_line_decides(line: str, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(line))
    assert LineKeys().next_key() == key
