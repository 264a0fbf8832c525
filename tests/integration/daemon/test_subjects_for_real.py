"""What slots, the gazetteer, clauses and relations do with the real models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from daemon_process import DaemonProcess

from recalld.protocol import requests
from recalld.protocol.client import Client, ClientError
from recalld.protocol.replies import Recalled

pytestmark = [pytest.mark.integration, pytest.mark.model]

CONFIG = """
[recall]
gate_ms = 400
envelope_ms = 2000
"""
LINTER = "Our linter is Ruff with the strict profile"
DEPLOYS = "We deploy to Fly.io from the main branch"
CLUSTER = "Deploys services to a Kubernetes cluster"
JOB = "Works at Acme as a data engineer"
HOLDQ = "holdq: reservation queue service, maintained by Deza"
LENDD = "The lending daemon waits for holdq before it answers a patron"
COMPOUND = (
    "Set up the new repo with a CI pipeline, and look up which linter config we use, and also draft the message to the "
    "team, and by the way where should I deploy it"
)


@pytest.fixture(scope="module")
def client(make_daemon, models: Path) -> Iterator[Client]:  # type: ignore[no-untyped-def] # noqa: ANN001
    daemon: DaemonProcess = make_daemon(model_dir=models, config=CONFIG).start().ready().with_models()
    with daemon.client() as client:
        for user, kind, text in (
            ("team", "convention", LINTER),
            ("team", "convention", DEPLOYS),
            ("ines", "fact", CLUSTER),
            ("ines", "fact", JOB),
            ("library", "entity", HOLDQ),
            ("library", "fact", LENDD),
        ):
            assert client.remember(requests.Remember(user=user, text=text, kind=kind)).is_embedded
        yield client


def ask(client: Client, user: str, text: str) -> Recalled:
    return client.recall(requests.Recall(user=user, session="", text=text, budget_ms=2000))


def texts(recalled: Recalled) -> list[str]:
    return [item.text for item in recalled.items]


def test_a_question_that_shares_no_word_with_its_record_finds_it(client: Client) -> None:
    assert texts(ask(client, "ines", "which company am I employed by?")) == [JOB]
    assert CLUSTER in texts(ask(client, "ines", "k8s?"))


def test_a_compound_request_finds_what_each_of_its_clauses_needs(client: Client) -> None:
    assert set(texts(ask(client, "team", COMPOUND))) == {LINTER, DEPLOYS}


def test_what_is_recalled_brings_along_the_entity_that_it_names(client: Client) -> None:
    recalled = ask(client, "library", "why does the lending daemon answer a patron so late?")
    assert texts(recalled) == [LENDD, HOLDQ]
    lendd, holdq = recalled.items
    assert (lendd.brought_by, holdq.brought_by, holdq.why) == ("", lendd.id, "brought_along")


def test_an_explanation_says_what_was_added_and_stuffing_is_refused_with_its_place(client: Client) -> None:
    saved = client.remember(requests.Remember(user="otto", text="The user uses zsh"))
    body = client.explain(requests.Explain(user="otto", decision_id=saved.decision_id)).body
    assert '"sources":["slot:shell"]' in body
    assert "zsh" not in body
    with pytest.raises(ClientError, match=r"asks\[1\]"):
        client.remember(requests.Remember(user="otto", text="Buy mugs", asks=("Where do I live?", "What is my name?")))
