"""Faults that people met in comparable systems, end to end: a real daemon, and real models where it has any."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from daemon_process import BOUND_S, DaemonProcess

from recalld.protocol import requests
from recalld.protocol.client import Client
from recalld.protocol.replies import Recalled

pytestmark = [pytest.mark.integration, pytest.mark.model]

MakeDaemon = Callable[..., DaemonProcess]

# Time enough for a busy machine: these cases are about what is answered, not when.
CONFIG = """
[recall]
envelope_ms = 20000
gate_ms = 10000
max_items = 20
candidates_max = 20
"""
PNPM = "项目用pnpm管理，部署在东京"  # noqa: RUF001 - the comma of that script
ODD_QUERIES = (
    "GB/s",
    "O'Brien's repo?",
    "grammar::fa",
    "C++ or C#",
    'say "hello',
    "a ^ b",
    "blah=",
    "col:value",
    "( ( (",
    "*",
    '""',
)
NOTHING_TO_LOOK_FOR = ("( ( (", "*", '""')


@pytest.fixture(scope="module")
def client(make_daemon: MakeDaemon, models: Path) -> Iterator[Client]:
    """A daemon with its models."""
    with make_daemon(model_dir=models, config=CONFIG).start().ready().with_models().client() as client:
        yield client


@pytest.fixture(scope="module")
def by_words(make_daemon: MakeDaemon) -> Iterator[Client]:
    """A daemon whose models were deleted."""
    with make_daemon(config=CONFIG).start().ready().client() as client:
        yield client


def store(client: Client, user: str, *texts: str) -> None:
    for text in texts:
        client.remember(requests.Remember(user=user, text=text))


def ask(client: Client, user: str, text: str, **fields: object) -> Recalled:
    request = requests.Recall(user=user, session="", text=text, explain=True, **fields)  # type: ignore[arg-type]
    return client.recall(request)


def texts(recalled: Recalled) -> list[str]:
    return [item.text for item in recalled.items]


def hits(recalled: Recalled) -> list[tuple[str, float | None]]:
    """What the words found, whether or not it was handed over."""
    return [(each.id, each.lexical) for each in (*recalled.items, *recalled.dropped) if each.lexical is not None]


@pytest.mark.parametrize("query", ["pre-edit", "BENCH-100821", "-100821"])
def test_r06_a_hyphen_is_part_of_a_word_and_neither_a_minus_nor_a_column(client: Client, query: str) -> None:
    store(client, "r06", "Run the pre-edit check before pushing; ticket BENCH-100821")
    recalled = ask(client, "r06", query)
    assert texts(recalled) == ["Run the pre-edit check before pushing; ticket BENCH-100821"]
    assert recalled.items[0].lexical is not None


def test_r06_a_hyphenated_phrase_that_nobody_stored_is_silence_with_a_reason(client: Client) -> None:
    store(client, "r06", "Run the pre-edit check before pushing; ticket BENCH-100821")
    recalled = ask(client, "r06", "state-of-the-art")
    assert (recalled.decision, recalled.items) == ("silent", ())
    assert recalled.reason in ("gated", "below_floor")
    assert recalled.coverage.searched == 1


@pytest.mark.parametrize("query", ODD_QUERIES)
@pytest.mark.parametrize("mode", ["auto", "search"])
def test_r07_no_query_is_syntax_with_models(client: Client, query: str, mode: str) -> None:
    check_odd_query(client, query, mode)


@pytest.mark.parametrize("query", ODD_QUERIES)
@pytest.mark.parametrize("mode", ["auto", "search"])
def test_r07_no_query_is_syntax_by_words_alone(by_words: Client, query: str, mode: str) -> None:
    check_odd_query(by_words, query, mode)


def check_odd_query(client: Client, query: str, mode: str) -> None:
    """Answered, with the literal words found or with what kept them from being looked for; and no error is hidden."""
    store(client, "r07", "The link does 3 GB/s, says O'Brien about grammar::fa in C++ and C#", "C stands for carbon")
    recalled = ask(client, "r07", query, mode=mode)
    assert recalled.reason not in ("store_unreadable", "recall_failed", "envelope_exceeded")
    if query in NOTHING_TO_LOOK_FOR:
        assert (recalled.decision, recalled.reason) == ("skip", "no_searchable_terms")
        return
    assert recalled.coverage.searched == 2
    if query in ("GB/s", "O'Brien's repo?", "grammar::fa", "C++ or C#"):
        # One of the two has the words. "C++" is a name, and not every text with a letter C in it.
        (found,) = hits(recalled)
        named = {memory.id: memory.text for memory in client.list_memories(requests.ListMemories(user="r07")).memories}
        assert named[found[0]].startswith("The link")


def test_r08_upper_case_words_are_words(client: Client, by_words: Client) -> None:
    wanted = "Never search the whole disk from root, avoid find /"
    for asked in (client, by_words):
        store(asked, "r08", wanted, "Tea is at five")
        upper, lower = ask(asked, "r08", "DO NOT USE FIND /"), ask(asked, "r08", "do not use find /")
        assert hits(upper) == hits(lower)
        assert [score is not None for _, score in hits(upper)] == [True]
    assert texts(ask(client, "r08", "DO NOT USE FIND /")) == [wanted]
    assert texts(ask(by_words, "r08", "AVOID FIND /")) == texts(ask(by_words, "r08", "avoid find /")) == [wanted]


@pytest.mark.parametrize("query", ["AND", "NEAR me", "cats OR", "NOT", "a AND NOT b"])
def test_r08_operators_alone_are_answered_like_their_small_letters(client: Client, query: str) -> None:
    store(client, "r08", "Never search the whole disk from root, avoid find /")
    upper, lower = ask(client, "r08", query), ask(client, "r08", query.lower())
    assert (upper.reason, texts(upper)) == (lower.reason, texts(lower))
    assert upper.decision in ("silent", "inject", "skip")


def test_r09_a_word_that_the_store_lacks_does_not_hide_what_has_the_others(client: Client, by_words: Client) -> None:
    for asked in (client, by_words):
        store(asked, "r09", "The user's name is Ines")
        assert texts(ask(asked, "r09", "user identity name")) == ["The user's name is Ines"]


@pytest.mark.parametrize(
    "query", ["What is the name of the river in Paris?", "Which user manual explains dishwashers?"]
)
def test_r09_one_shared_common_word_does_not_pass_the_gate(client: Client, query: str) -> None:
    store(client, "r09", "The user's name is Ines", "The name of the printer in the hall is Otto")
    recalled = ask(client, "r09", query)
    assert recalled.items == ()
    assert any(each.lexical is not None for each in recalled.dropped)


@pytest.mark.parametrize("query", ["pnpm", "管理", "东京"])
def test_r10_words_glued_to_unspaced_scripts_are_found_by_words_alone(by_words: Client, query: str) -> None:
    store(by_words, "r10", PNPM, "The project is deployed from Lisbon")
    recalled = ask(by_words, "r10", query)
    assert (recalled.mode, texts(recalled)) == ("lexical_only", [PNPM])


def test_r10_a_hit_by_words_does_not_keep_meaning_from_finding_more(client: Client) -> None:
    store(client, "r10", "The pnpm lock file is committed", "Packages are installed with the package manager of Node")
    recalled = ask(client, "r10", "Which package manager do we use, pnpm?")
    seen = [*recalled.items, *recalled.dropped]
    assert any(each.lexical is not None for each in seen)
    assert len(seen) == 2
    assert all(each.cosine is not None for each in seen)


def test_r11_more_rare_words_are_a_higher_score_and_no_two_scores_are_one_constant(by_words: Client) -> None:
    rare = "zephyr quokka obelisk marmalade trombone"
    store(by_words, "r11", f"Notes about {rare}", *(f"{word} at item {n}" for n, word in enumerate(["project"] * 10)))
    recalled = ask(by_words, "r11", f"project {rare}", mode="search")
    scored = [each.lexical for each in (*recalled.items, *recalled.dropped) if each.lexical is not None]
    assert texts(recalled)[0] == f"Notes about {rare}"
    assert scored[0] == max(scored)
    assert len(set(scored)) > 1
    assert all(score >= 0 for score in scored)


def test_r14_a_memory_is_worth_the_same_alone_and_in_company(client: Client) -> None:
    relevant, query = "Deploys to production happen on Tuesdays after the stand-up", "When do we deploy to production?"
    store(client, "r14", relevant)
    alone = ask(client, "r14", query)
    store(client, "r14", "Ines is allergic to hazelnuts", "The invoices are archived in the quartz bucket")
    company = ask(client, "r14", query)
    assert texts(alone) == texts(company) == [relevant]
    assert alone.items[0].relevance == pytest.approx(company.items[0].relevance, abs=0.01)
    assert alone.items[0].logit == pytest.approx(company.items[0].logit)


def test_r15_a_relevant_and_an_irrelevant_pair_stand_far_apart(client: Client) -> None:
    probe = client.health(deep=True).probe
    assert probe is not None
    assert probe.relevant is not None
    assert probe.irrelevant is not None
    assert probe.relevant - probe.irrelevant > 0.9
    assert probe.irrelevant < 0.02 < probe.relevant


@pytest.mark.parametrize("threshold", ["0", "1", "1.5", "-0.02"])
def test_r15_a_threshold_outside_zero_and_one_stops_the_start(make_daemon: MakeDaemon, threshold: str) -> None:
    daemon = make_daemon(config=f"[recall]\nthreshold = {threshold}\n").start()
    assert daemon.process.wait(BOUND_S) == 78
    assert "recall.threshold" in daemon.log()


@pytest.mark.parametrize("dims", ["the same", "other"])
def test_r18_vectors_of_another_embedder_are_never_compared_and_are_made_anew(
    make_daemon: MakeDaemon, models: Path, dims: str
) -> None:
    daemon = make_daemon(model_dir=models, config=CONFIG).start().ready().with_models()
    facts = ("The staging database runs on port 5433", "Ines is allergic to hazelnuts", "Deploys happen on Tuesdays")
    with daemon.client() as asked:
        store(asked, "r18", *facts)
    assert daemon.stop() == 0
    pretend_another_embedder(daemon.data_dir / "recalld.db", halves=dims == "other")

    report = doctor(daemon)
    assert "3 rows need re-embedding" in json.dumps(report)

    without = DaemonProcess(daemon.home, config=CONFIG)
    try:
        with without.start().ready().client() as asked:
            found = ask(asked, "r18", "staging database port")
            assert (found.mode, texts(found)) == ("lexical_only", [facts[0]])
        assert without.stop() == 0
    finally:
        without.close()

    with daemon.start().ready().with_models().client() as asked:
        daemon.until(lambda: asked.health().store.pending_embedding == 0)
        again = ask(asked, "r18", "What is Ines allergic to?")
        assert (again.mode, texts(again)) == ("gated", [facts[1]])
        assert again.items[0].cosine is not None


def pretend_another_embedder(database: Path, *, halves: bool) -> None:
    """Let the stored vectors be those of another embedder, of the same length or of half of it."""
    with closing(sqlite3.connect(database)) as db, db:
        data = "substr(data, 1, length(data) / 2)" if halves else "data"
        db.execute(f"UPDATE embeddings SET embedder_key = 'of-another-model', data = {data}")  # noqa: S608 - constants


def doctor(daemon: DaemonProcess) -> object:
    """What `recalld doctor` says while the daemon is down."""
    paths = ("--socket", daemon.socket_path, "--data-dir", daemon.data_dir, "--model-dir", daemon.model_dir)
    command = [sys.executable, "-m", "recalld.daemon.cli", "doctor", "--json", *map(str, paths)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=BOUND_S, check=False)
    return json.loads(ended.stdout)


DECISIONS = ("Postgres for the billing service", "The logo of the shop stays green", "Sara runs the supplier meeting")


def day_after(client: Client) -> int:
    """Store the decisions; the same time of the day after."""
    store(client, "times", *DECISIONS)
    page = client.list_memories(requests.ListMemories(user="times"))
    return max(memory.created_at_ms for memory in page.memories) + 86_400_000


@pytest.mark.parametrize("query", ["What happened yesterday?", "what did we decide yesterday?", "Was gab es gestern?"])
def test_a_turn_that_asks_only_for_a_time_gets_what_no_model_could_judge(client: Client, query: str) -> None:
    recalled = ask(client, "times", query, now=day_after(client), time_zone="UTC")
    assert texts(recalled) == list(reversed(DECISIONS))
    assert {item.why for item in recalled.items} == {"in_interval"}
    assert recalled.reason == "in_interval"
    body = json.loads(client.explain(requests.Explain(user="times", decision_id=recalled.recall_id)).body)
    assert body["turn"]["asks_only_for_time"]
    assert not any(word in json.dumps(body) for word in ("happened", "gestern", "Postgres"))


def test_a_turn_that_asks_for_something_of_a_time_gets_only_what_helps(client: Client) -> None:
    now = day_after(client)
    recalled = ask(
        client, "times", "Which colour did we decide on for the logo of the shop yesterday?", now=now, time_zone="UTC"
    )
    assert texts(recalled) == ["The logo of the shop stays green"]
    assert recalled.items[0].is_in_interval
    assert ask(client, "times", "What was the capital of Peru yesterday?", now=now, time_zone="UTC").items == ()


def test_a_repeat_in_a_turn_gets_the_same_again_and_scores_nothing_again(client: Client) -> None:
    store(client, "repeat", "The staging database runs on port 5433")
    turn = requests.Recall(user="repeat", session="s", turn_id="t1", text="Which port does the staging database use?")
    first, again = client.recall(turn), client.recall(turn)
    assert [item.id for item in first.items] == [item.id for item in again.items]
    assert first.items
    assert again.gate.pairs_scored == 0
    assert again.gate.pairs_cached == first.gate.pairs_scored
