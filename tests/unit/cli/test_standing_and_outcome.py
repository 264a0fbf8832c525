"""The standing block and outcomes from the command line."""

import json

import msgspec
import pytest
from stand_in_daemon import Run, StandIn

from recalld.protocol import items, replies, requests

ITEM = items.StandingItem(
    id="mem_1", text="Answer in German\x1b[2J", kind="preference", scope="work", age_s=90_000.0, is_pinned=True
)
RANK = items.StandingRank(
    id="mem_2",
    verdict="below_bar",
    usefulness=0.125,
    value=0.5,
    words=50,
    source="explicit",
    outcomes=items.OutcomeCounts(used=1, harmful=2),
    turns=3,
    cue="Letters",
)
BLOCK = replies.StandingBlock(
    decision_id="std_1",
    reason="given",
    items=(ITEM,),
    pointers=(items.StandingPointer(id="mem_2", kind="convention", cue="Letters"),),
    left_out=4,
    chars=91,
    chars_max=100,
    tokens=30,
    ranking=(RANK,),
)
REPORT = replies.OutcomeReport(
    counts=items.OutcomeCounts(used=1, harmful=2),
    outcomes=(items.ReportedOutcome(decision_id="rec_1", item_id="mem_1", result="used", at_ms=1_796_000_000_000),),
    choice="demoted",
)


def test_a_block_is_asked_for_as_the_options_say_and_shown_safely(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Standing, BLOCK)
    ended = run("standing", "--scope", "work", "--session", "s1", "--max-chars", "100", "--again")
    assert ended.code == 0
    (request,) = daemon.seen
    assert request == requests.Standing(
        id=request.id, user="ines", session="s1", scope="work", max_chars=100, again=True
    )
    assert "1 memory stands before anything is asked:" in ended.out
    assert "Answer in German\N{REPLACEMENT CHARACTER}[2J  [preference (work), 1 d, pinned, mem_1]" in ended.out
    assert "demoted: convention mem_2: Letters" in ended.out
    assert "91 of 100 characters, about 30 tokens. The block is nearly full" in ended.out
    assert "4 more without a place" in ended.out
    assert "usefulness" not in ended.out


def test_an_explained_block_shows_rank_value_evidence_outcomes_words_and_verdict(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Standing, BLOCK)
    ended = run("standing", "--explain")
    row = next(line for line in ended.out.splitlines() if "[mem_2]" in line)
    cells = [cell.strip() for cell in row.split("│")]
    assert cells == [
        *("1", "0.12", "0.50", "50", "explicit, said 3 times", "used 1, harmful 2", "demoted by its outcomes"),
        "Letters [mem_2]",
    ]
    assert daemon.seen[0].explain


@pytest.mark.parametrize(
    ("word", "words"),
    [("said", "the user said it"), ("nobody", "nobody's word"), ("", "explicit"), ("new_one", "new one")],
)
def test_an_explained_block_says_whose_word_it_is(daemon: StandIn, run: Run, word: str, words: str) -> None:
    rank = msgspec.structs.replace(RANK, word=word)
    daemon.plan(requests.Standing, msgspec.structs.replace(BLOCK, ranking=(rank,)))
    out = " ".join(run("standing", "--explain").out.split())
    assert words in out


@pytest.mark.parametrize(
    ("reason", "words"),
    [("already_given", "has its block already"), ("nothing_standing", "No preference"), ("new_one", "new one")],
)
def test_an_empty_block_says_why_also_in_words_of_a_newer_daemon(
    daemon: StandIn, run: Run, reason: str, words: str
) -> None:
    daemon.plan(requests.Standing, replies.StandingBlock(decision_id="std_1", reason=reason))
    ended = run("standing")
    assert (ended.code, words in ended.out) == (0, True)
    assert "characters" not in ended.out


def test_a_block_can_be_had_as_json(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Standing, BLOCK)
    document = json.loads(run("standing", "--json").out)
    assert msgspec.convert({**document, "id": 0}, replies.StandingBlock) == BLOCK


@pytest.mark.parametrize("action", ["pin", "unpin", "demote", "restore"])
def test_a_person_decides_about_one_memory(daemon: StandIn, run: Run, action: str) -> None:
    choice = {"pin": "pinned", "unpin": None, "demote": "demoted", "restore": "restored"}[action]
    daemon.plan(
        requests.SetStanding,
        replies.StandingSet(memory_id="mem_1", choice=choice, is_changed=action != "demote", decision_id="sts_1"),
    )
    ended = run("standing", action, "mem_1")
    assert ended.code == 0
    (request,) = daemon.seen
    assert (request.user, request.memory_id, request.action) == ("ines", "mem_1", action)
    assert ended.out.startswith("Nothing to change: mem_1" if action == "demote" else "Done: mem_1")
    assert (choice or "left to its kind and its outcomes") in ended.out
    assert json.loads(run("standing", action, "mem_1", "--json").out)["decision_id"] == "sts_1"


@pytest.mark.parametrize("action", ["unpin", "restore", "demote"])
def test_of_a_fact_that_nobody_pinned_it_is_said_that_it_does_not_stand(daemon: StandIn, run: Run, action: str) -> None:
    daemon.plan(
        requests.SetStanding,
        replies.StandingSet(memory_id="mem_1", is_changed=False, decision_id="sts_1", is_standing=False),
    )
    ended = run("standing", action, "mem_1")
    assert ended.out.splitlines()[0] == (
        "Nothing to change: mem_1 does not stand: only preferences, conventions and what is pinned do."
    )


def test_a_user_named_before_the_sub_command_is_not_forgotten(daemon: StandIn, run: Run) -> None:
    daemon.plan(
        requests.SetStanding,
        replies.StandingSet(memory_id="mem_1", choice="pinned", is_changed=True, decision_id="sts_1"),
    )
    assert run("standing", "--user", "omar", "--json", "pin", "mem_1").out.startswith("{")
    assert run("standing", "pin", "mem_1", "--user", "mei").code == 0
    assert [request.user for request in daemon.seen] == ["omar", "mei"]


def test_an_outcome_is_reported_with_its_item(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Outcome, replies.Ok())
    ended = run("outcome", "rec_1", "--result", "harmful", "--item", "mem_1")
    assert (ended.code, ended.out.splitlines()[0]) == (0, "Noted: it led the turn astray.")
    (request,) = daemon.seen
    assert request == requests.Outcome(
        id=request.id, user="ines", decision_id="rec_1", item_id="mem_1", result="harmful"
    )
    assert json.loads(run("outcome", "rec_1", "--result", "used", "--json").out)["id"] > 0


@pytest.mark.parametrize("arguments", [("rec_1",), ("rec_1", "--result", "great"), ("", "--result", "used")])
def test_an_outcome_without_a_known_result_is_refused(daemon: StandIn, run: Run, arguments: tuple[str, ...]) -> None:
    assert run("outcome", *arguments).code == 64
    assert daemon.seen == []


def test_a_refused_item_is_named_by_its_option(daemon: StandIn, run: Run) -> None:
    refusal = replies.Error(code="bad_request", message="item_id: 'mem_9' was not shown by 'rec_1'; leave item_id out")
    daemon.plan(requests.Outcome, refusal)
    ended = run("outcome", "rec_1", "--result", "used", "--item", "mem_9")
    assert ended.code == 64
    assert ended.err.startswith("recalld: --item: 'mem_9' was not shown")


def test_a_memory_is_shown_with_its_outcomes_and_what_was_decided(daemon: StandIn, run: Run) -> None:
    memory = items.MemoryItem(
        id="mem_1",
        user="ines",
        text="Answer in German",
        kind="preference",
        scope="",
        source="explicit",
        status="active",
        created_at_ms=1,
        updated_at_ms=1,
        revision=1,
    )
    daemon.plan(requests.Get, replies.Memory(memory=memory))
    plain = run("get", "mem_1")
    assert "outcomes" not in plain.out  # an older daemon does not know the request
    daemon.plan(requests.Outcomes, REPORT)
    ended = run("get", "mem_1")
    assert "  outcomes used 1, harmful 2" in ended.out
    assert "  standing demoted: out of the block, but for a pointer" in ended.out


def test_a_decision_is_explained_with_what_was_reported_on_it(daemon: StandIn, run: Run) -> None:
    explanation = replies.Explanation(
        decision_id="std_1", user="ines", session="s1", op="standing", at_ms=1, decision="inject", reason="given"
    )
    daemon.plan(requests.Explain, explanation)
    daemon.plan(requests.Outcomes, REPORT)
    ended = run("explain", "std_1")
    assert "outcomes: used 1, harmful 2" in ended.out
    assert "used: the answer rested on it (mem_1)" in ended.out
    assert "stands before anything is asked" in ended.out
