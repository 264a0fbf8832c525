from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from virtual_time import LoopClock

from recalld.daemon import provisioning
from recalld.daemon.config import Settings
from recalld.daemon.config.settings import ModelsSettings, ServerSettings, StorageSettings
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.inference.provision.results import ModelResult, Outcome, model_result

pytestmark = pytest.mark.anyio


def settings(*, auto_provision: bool = True) -> Settings:
    nowhere = Path("/nonexistent")
    return Settings(
        server=ServerSettings(socket_path=nowhere),
        storage=StorageSettings(data_dir=nowhere),
        models=ModelsSettings(dir=nowhere, auto_provision=auto_provision),
    )


class Rounds:
    """Answers of the provisioner, round by round; the last one is repeated."""

    def __init__(self, *rounds: Sequence[Outcome] | RecalldError) -> None:
        self.rounds = rounds
        self.asked_s: list[float] = []

    async def ensure(self, *_: object) -> tuple[ModelResult, ...]:
        self.asked_s.append(anyio.current_time())
        outcomes = self.rounds[min(len(self.asked_s), len(self.rounds)) - 1]
        if isinstance(outcomes, RecalldError):
            raise outcomes
        return tuple(model_result(f"model{place}", outcome, "") for place, outcome in enumerate(outcomes))


async def provision(
    monkeypatch: pytest.MonkeyPatch, rounds: Rounds, *, auto_provision: bool = True, for_s: float = 1e5
) -> int:
    """How often it was told that everything has arrived."""
    monkeypatch.setattr(provisioning, "_ensure", rounds.ensure)
    arrivals: list[float] = []
    with anyio.move_on_after(for_s):
        await provisioning.keep_provisioning(
            settings(auto_provision=auto_provision),
            environ={},
            clock=LoopClock(),
            on_arrived=lambda: arrivals.append(anyio.current_time()),
        )
    return len(arrivals)


async def test_what_is_there_from_the_start_is_no_news(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = Rounds([Outcome.READY, Outcome.READY])
    assert await provision(monkeypatch, rounds) == 0
    assert len(rounds.asked_s) == 1


async def test_what_was_fetched_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await provision(monkeypatch, Rounds([Outcome.READY, Outcome.PROVISIONED])) == 1


async def test_a_failed_attempt_is_repeated_less_and_less_often_and_never_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rounds = Rounds([Outcome.MISSING])
    await provision(monkeypatch, rounds, for_s=6 * 3_600)
    pauses = [later - earlier for earlier, later in zip(rounds.asked_s, rounds.asked_s[1:], strict=False)]
    assert pauses[0] == pytest.approx(provisioning.RETRY_INITIAL_S)
    assert pauses[-1] == pytest.approx(provisioning.RETRY_MAX_S)
    assert pauses == sorted(pauses)


async def test_what_arrives_with_a_later_attempt_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = Rounds([Outcome.MISSING], [Outcome.CORRUPT], [Outcome.READY])
    assert await provision(monkeypatch, rounds) == 1
    assert len(rounds.asked_s) == 3


async def test_without_leave_to_fetch_there_is_one_look_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = Rounds([Outcome.MISSING])
    assert await provision(monkeypatch, rounds, auto_provision=False) == 0
    assert len(rounds.asked_s) == 1


async def test_a_model_that_cannot_be_named_ends_the_attempts_and_not_the_daemon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rounds = Rounds(RecalldError(ErrorCode.BAD_REQUEST, "model 'nosuch' is not on the allowlist"))
    assert await provision(monkeypatch, rounds) == 0
    assert len(rounds.asked_s) == 1
