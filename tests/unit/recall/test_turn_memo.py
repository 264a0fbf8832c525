"""One decision for one turn, whoever asks, fails or leaves meanwhile."""

from __future__ import annotations

import anyio
import pytest

from recalld.actors.recall.turn_memo import CHARS_MAX, TURNS_MAX, TurnMemo, turn_key
from recalld.models.domain.recall import RecallQuery
from recalld.models.domain.turn_parts import MessagePart, PartKind

pytestmark = pytest.mark.anyio


class Decider:
    """Decides after a while, and counts how often it was asked."""

    def __init__(self, takes_s: float = 0.01) -> None:
        self.takes_s = takes_s
        self.asked = 0
        self.decided = 0

    async def __call__(self) -> str:
        self.asked += 1
        await anyio.sleep(self.takes_s)
        self.decided += 1
        return f"decision {self.decided}"


async def test_those_who_ask_at_the_same_time_get_one_decision() -> None:
    memo, decide = TurnMemo[str](), Decider()
    answers: list[tuple[str, bool]] = []

    async def ask() -> None:
        answers.append(await memo.once(b"turn", decide))

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(ask)
    assert decide.asked == 1
    assert sorted(answers) == [("decision 1", False), *[("decision 1", True)] * 4]


async def test_a_cancelled_decision_is_not_remembered_and_whoever_waited_decides() -> None:
    memo, decide = TurnMemo[str](), Decider()
    answers: list[tuple[str, bool]] = []

    async def ask() -> None:
        answers.append(await memo.once(b"turn", decide))

    async with anyio.create_task_group() as tasks:
        with anyio.move_on_after(0.005):
            await anyio.lowlevel.checkpoint()
            tasks.start_soon(_after, 0.002, ask)
            await memo.once(b"turn", decide)
    assert decide.asked == 2
    assert answers == [("decision 1", False)]


async def _after(delay_s: float, ask: object) -> None:
    await anyio.sleep(delay_s)
    assert callable(ask)
    await ask()


async def test_a_decision_that_broke_is_not_remembered() -> None:
    memo, decide = TurnMemo[str](), Decider()

    async def break_down() -> str:
        message = "broken"
        raise RuntimeError(message)

    with pytest.raises(RuntimeError):
        await memo.once(b"turn", break_down)
    assert await memo.once(b"turn", decide) == ("decision 1", False)


async def test_the_turns_used_longest_ago_are_forgotten() -> None:
    memo, decide = TurnMemo[str](), Decider(0.0)
    for number in range(TURNS_MAX + 1):
        await memo.once(str(number).encode(), decide)
    assert (await memo.once(b"1", decide))[1]
    assert not (await memo.once(b"0", decide))[1]
    memo.clear()
    assert not (await memo.once(b"1", decide))[1]


def query(**fields: object) -> RecallQuery:
    settings: dict[str, object] = {"user": "u", "session": "s", "turn_id": "t", "text": "x", "deadline_s": 1.0}
    return RecallQuery(**{**settings, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "other",
    [
        {"session": "s2"},
        {"turn_id": "t2"},
        {"text": "y"},
        {"scope": ""},
        {"scope": "None"},
        {"turns": ()},
        {"turns": ("x",)},
        {"turns": ("", "x")},
        {"parts": (MessagePart(text=""),)},
        {"parts": (MessagePart(kind=PartKind.HOST, text=""),)},
        {"time_zone": "Europe/Berlin"},
        {"is_search": True},
        {"now_ms": 5},
        {"now_ms": 0},
        {"text": "\ud800"},
    ],
)
def test_everything_that_a_decision_depends_on_tells_turns_apart(other: dict[str, object]) -> None:
    assert turn_key(query()) == turn_key(query())
    assert turn_key(query(**other)) != turn_key(query())


def test_what_does_not_change_a_decision_does_not_tell_turns_apart() -> None:
    assert turn_key(query(max_items=1, explain=True, deadline_s=9.0, exclude=("m",))) == turn_key(query())


@pytest.mark.parametrize("alone", [{"session": ""}, {"turn_id": ""}, {"text": "x" * (CHARS_MAX + 1)}])
def test_a_recall_that_stands_for_itself_has_no_key(alone: dict[str, object]) -> None:
    assert turn_key(query(**alone)) is None
