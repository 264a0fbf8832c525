"""One daemon with real models, and everything a client does with it in a day. The tests run in their order."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemon_process import DaemonProcess

from recalld.daemon.faults import HANG_FILE, RAISE_FILE
from recalld.protocol import requests
from recalld.protocol.client import Client, ClientError
from recalld.protocol.replies import Recalled

pytestmark = [pytest.mark.integration, pytest.mark.model]

CONFIG = """
[debug]
fault_injection = true

[events]
breaker_open_s = 0.5
breaker_failures = 3
degraded_cooldown_s = 3600

[recall]
gate_ms = 150
"""
FACTS = (
    "The staging database is called basalt and runs on port 5433",
    "Deploys to production happen on Tuesdays after the stand-up",
    "Ines is allergic to hazelnuts",
    "The invoices are archived in the quartz bucket",
)
MARKS = ("basalt", "hazelnut", "quartz", "Tuesdays", "zirconium")
"""Words of stored memories and of questions that must never stand in a log."""


@pytest.fixture(scope="module")
def daemon(make_daemon, models: Path) -> DaemonProcess:  # type: ignore[no-untyped-def] # noqa: ANN001
    return make_daemon(model_dir=models, config=CONFIG).start().ready().with_models()


@pytest.fixture(scope="module")
def client(daemon: DaemonProcess) -> Iterator[Client]:
    with daemon.client() as client:
        for fact in FACTS:
            saved = client.remember(requests.Remember(user="ines", text=fact))
            assert saved.is_embedded
        yield client


def ask(client: Client, text: str, *, user: str = "ines", session: str = "") -> Recalled:
    return client.recall(requests.Recall(user=user, session=session, text=text))


def test_what_was_remembered_is_recalled_when_it_helps_and_can_be_explained(client: Client) -> None:
    recalled = ask(client, "Which port does the staging database use?")
    assert [item.text for item in recalled.items] == [FACTS[0]]
    assert (recalled.mode, recalled.reason) == ("gated", "relevant")
    why = client.explain(requests.Explain(user="ines", decision_id=recalled.recall_id))
    assert (why.op, why.decision, why.mode) == ("recall", "inject", "gated")
    body = json.loads(why.body)
    assert body["items"][0]["memory_id"] == recalled.items[0].id
    assert "basalt" not in why.body


def test_what_does_not_help_stays_where_it_is(client: Client) -> None:
    recalled = ask(client, "How do I sort a list of dictionaries by two keys in zirconium?")
    assert recalled.items == ()
    assert recalled.decision == "silent"
    assert ask(client, "thanks a lot!").decision == "skip"


def test_an_observed_command_is_remembered_and_forgotten_again(client: Client) -> None:
    turn = requests.Observe(
        user="ines", session="s", turn_id="t1", speaker="user", text="Remember that the spare key is behind the fern."
    )
    first = client.observe(turn)
    assert client.observe(turn).kept == first.kept
    assert len(ask(client, "Where is the spare key?").items) == 1
    assert client.forget(requests.Forget(user="ines", query="spare key fern")).count == 1
    assert ask(client, "Where is the spare key?").items == ()


def test_a_session_is_not_told_twice_until_it_is_compacted(client: Client) -> None:
    question = "What is Ines allergic to?"
    assert len(ask(client, question, session="day").items) == 1
    assert ask(client, question, session="day").reason == "excluded"
    client.session(requests.Session(user="ines", session="day", event="compacted"))
    assert len(ask(client, question, session="day").items) == 1


def test_users_of_similar_names_know_nothing_of_each_other(client: Client) -> None:
    recalled = ask(client, "Which port does the staging database use?")
    for other in ("ines1", "Ines", "ine", "ines\u0301"):
        alone = ask(client, "Which port does the staging database use?", user=other)
        assert (alone.items, alone.reason, alone.coverage.discovered) == ((), "nothing_stored", 0)
        with pytest.raises(ClientError) as caught:
            client.explain(requests.Explain(user=other, decision_id=recalled.recall_id))
        assert caught.value.code == "not_found"


def test_the_live_scorer_tells_a_relevant_pair_from_an_irrelevant_one(client: Client) -> None:
    health = client.health(deep=True)
    assert health.probe is not None
    assert health.probe.is_ok
    assert health.calibration_matches
    assert health.breaker == "closed"


def recover(daemon: DaemonProcess, client: Client) -> None:
    """Ask new questions until the gate judges again."""
    number = iter(range(10_000))
    daemon.until(lambda: ask(client, f"Which port number {next(number)} is it on staging?").mode == "gated")
    assert client.health().breaker == "closed"


def test_a_scorer_that_hangs_costs_the_gate_and_never_the_answer(daemon: DaemonProcess, client: Client) -> None:
    hang = daemon.data_dir / HANG_FILE
    hang.touch()
    try:
        for number in range(5):
            started_s = time.monotonic()
            recalled = ask(client, f"Which port does staging database number {number} use?")
            assert time.monotonic() - started_s < 0.35
            assert recalled.mode == "floor_only"
            assert recalled.degraded_reason in ("sub_budget_exceeded", "breaker_open")
            assert [item.id for item in recalled.items] == list(recalled.floor_items)
            assert FACTS[0] in [item.text for item in recalled.items]
        assert recalled.degraded_reason == "breaker_open"
    finally:
        hang.unlink()
    recover(daemon, client)


def test_a_scorer_that_raises_is_named_by_type_and_recovers(daemon: DaemonProcess, client: Client) -> None:
    fault = daemon.data_dir / RAISE_FILE
    fault.touch()
    try:
        recalled = ask(client, "Which port does the raising staging database use?")
        assert recalled.mode == "floor_only"
        assert (recalled.degraded_reason, recalled.degraded_detail) == ("score_failed", "InjectedFaultError")
        assert recalled.items
    finally:
        fault.unlink()
    recover(daemon, client)


def test_a_stop_with_an_idle_client_is_quick_and_clean(daemon: DaemonProcess, client: Client) -> None:
    started_s = time.monotonic()
    assert daemon.stop() == 0
    assert time.monotonic() - started_s < 5
    assert not daemon.socket_path.exists()


def test_the_log_of_that_day_is_json_and_holds_nothing_that_was_said(daemon: DaemonProcess) -> None:
    rows = daemon.log_rows()
    names = [row["event"] for row in rows]
    for name in ("daemon_ready", "model_ready", "memory_admitted", "memory_retrieval_final", "memory_forgotten"):
        assert name in names
    announced = [
        (row["reason"], row["suppressed_count"]) for row in rows if row["event"] == "memory_recall_gate_degraded"
    ]
    # At once for each cause; once more at the end for what no recovery has told.
    assert [count for _, count in announced].count(0) >= len({reason for reason, _ in announced}) == 3
    assert "memory_recall_gate_recovered" in names
    text = daemon.log().casefold()
    for mark in MARKS:
        assert mark.casefold() not in text
