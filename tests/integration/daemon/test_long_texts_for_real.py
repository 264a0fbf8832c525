"""Long memories and long queries, with the real models: what a passage in the middle says is found and passes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemon_process import REPOSITORY, DaemonProcess

from recalld.models.domain.records import MEMORY_CHARS_MAX
from recalld.protocol import requests
from recalld.protocol.client import Client

pytestmark = [pytest.mark.integration, pytest.mark.model]

ANSWER = "The spare key of the boat house hangs behind the third oar on the left wall."
QUESTION = "Where does the spare key of the boat house hang?"
CONFIG = """
[recall]
gate_ms = 1000
envelope_ms = 3000
"""
"""Time enough on a slow machine: this is about what is found, not how fast."""


def filler(source: str, chars: int) -> str:
    """So much of what a labelled source says."""
    file = REPOSITORY / "models" / "calibration" / "data" / "sources" / source / "records.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines()
    text = " ".join(json.loads(line)["text"] for line in lines)
    return text[:chars].rsplit(" ", 1)[0] + "."


def is_embedded(client: Client) -> bool:
    """Whether nothing waits for its vectors any more: long texts are embedded after they were stored."""
    coverage = client.recall(requests.Recall(user="ines", session="", text="Is everything embedded?")).coverage
    return coverage.discovered > 0 and coverage.pending_embedding == 0


@pytest.fixture(scope="module")
def client(make_daemon, models: Path) -> Iterator[Client]:  # type: ignore[no-untyped-def] # noqa: ANN001
    daemon: DaemonProcess = make_daemon(model_dir=models, config=CONFIG).start().ready().with_models()
    with daemon.client() as client:
        half = (MEMORY_CHARS_MAX - len(ANSWER)) // 2 - 10
        before, after = filler("solo-developer", half), filler("research-lab", half)
        client.remember(requests.Remember(user="ines", text=f"{before} {ANSWER} {after}"))
        for source in ("corner-shop", "backend-team"):
            client.remember(requests.Remember(user="ines", text=filler(source, MEMORY_CHARS_MAX - 100)))
        daemon.until(lambda: is_embedded(client))
        yield client


def test_an_answer_in_the_middle_of_a_very_long_memory_is_found_and_the_other_long_ones_are_not(client: Client) -> None:
    recalled = client.recall(requests.Recall(user="ines", session="", text=QUESTION))
    assert (recalled.mode, recalled.reason) == ("gated", "relevant")
    assert [ANSWER in item.text for item in recalled.items] == [True]


def test_what_no_passage_answers_brings_no_long_memory(client: Client) -> None:
    recalled = client.recall(requests.Recall(user="ines", session="", text="How tall is the lighthouse of Alexandria?"))
    assert recalled.items == ()
    assert recalled.mode == "gated"


def test_a_long_paste_is_embedded_by_what_it_asks_and_is_not_left_to_the_words(client: Client) -> None:
    log = "\n".join(f"worker {number} retried and went on" for number in range(400))
    recalled = client.recall(requests.Recall(user="ines", session="", text=f"{log}\n{QUESTION}\n{log}"))
    assert recalled.mode == "gated"
    assert [ANSWER in item.text for item in recalled.items] == [True]
