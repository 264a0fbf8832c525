from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from daemon_process import CROSS_ENCODER, EMBEDDER, DaemonProcess

from recalld.protocol import requests

pytestmark = [pytest.mark.integration, pytest.mark.model]

TEXT = "The staging database runs on port 5433"


def test_models_that_arrive_later_are_used_without_a_restart(  # M05
    make_daemon: Callable[..., DaemonProcess], models: Path
) -> None:
    daemon = make_daemon().start().ready()
    with daemon.client() as client:
        saved = client.remember(requests.Remember(user="ines", text=TEXT))
        assert not saved.is_embedded
        for number in range(20):
            asked = requests.Recall(user="ines", session="", text=f"Which port has staging database {number}?")
            recalled = client.recall(asked)
            assert recalled.mode == "lexical_only"
            assert recalled.degraded_reason == "scorer_unavailable"
            assert [item.id for item in recalled.items] == [saved.memory.id]
        health = client.health()
        assert (health.scorer.state, health.embedder.state) == ("unavailable", "unavailable")
        assert "models provision" in health.scorer.detail

        for model in (EMBEDDER, CROSS_ENCODER):
            shutil.copytree(models / model, daemon.model_dir / model)
        daemon.with_models()
        daemon.until(lambda: client.health().store.pending_embedding == 0)
        number = iter(range(1_000))

        def is_gated() -> bool:
            asked = requests.Recall(user="ines", session="", text=f"Which port does staging use? {next(number)}")
            recalled = client.recall(asked)
            return recalled.mode == "gated" and [item.id for item in recalled.items] == [saved.memory.id]

        daemon.until(is_gated)
    assert daemon.stop() == 0
    rows = daemon.log_rows()
    unavailable = [row for row in rows if row["event"] == "model_unavailable"]
    assert len(unavailable) == 2  # news once, not with each retry, and not with each request
    for name in ("memory_recall_gate_degraded", "memory_recall_vector_degraded"):
        announced = [row["suppressed_count"] for row in rows if row["event"] == name]
        assert announced[0] == 0
        assert len(announced) == 1
    for name in ("memory_recall_gate_recovered", "memory_recall_vector_recovered"):
        assert [row["suppressed_count"] for row in rows if row["event"] == name] == [19]


def test_a_damaged_model_is_never_loaded_and_says_what_is_wrong(
    make_daemon: Callable[..., DaemonProcess], models: Path
) -> None:  # M04
    daemon = make_daemon()
    shutil.copytree(models / EMBEDDER, daemon.model_dir / EMBEDDER)
    shutil.copytree(models / CROSS_ENCODER, daemon.model_dir / CROSS_ENCODER)
    with (daemon.model_dir / CROSS_ENCODER / "model.onnx").open("r+b") as file:
        file.truncate(1024)
    daemon.start().ready()
    with daemon.client() as client:
        daemon.until(lambda: client.health().embedder.state == "ready" and client.health().scorer.state != "loading")
        client.remember(requests.Remember(user="ines", text=TEXT))
        recalled = client.recall(requests.Recall(user="ines", session="", text="Which port has the staging database?"))
        assert (recalled.mode, recalled.degraded_reason) == ("floor_only", "scorer_unavailable")
        assert len(recalled.items) == 1
        assert "1024" in client.health().scorer.detail.replace(",", "")
    assert daemon.stop() == 0
