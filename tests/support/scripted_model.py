"""A lent model that answers as the test says, in the time that the test says."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from recalld.models.domain.runtime_model import RuntimeFailure, RuntimeFailureKind, RuntimePrompt, RuntimeReply

Answer = RuntimeReply | RuntimeFailure


def record_in(prompt: RuntimePrompt) -> str:
    """The text of the memory that a prompt is about."""
    text: str = json.loads(prompt.prompt.splitlines()[-1])["text"]
    return text


def asks_about(prompt: RuntimePrompt) -> RuntimeReply:
    """One heading and one question, made of the memory's first word."""
    word = record_in(prompt).split()[0]
    return RuntimeReply(text=json.dumps({"cues": [f"{word} notes"], "asks": [f"What about {word}?"]}))


@dataclass
class ScriptedModel:
    """Implements `RuntimeModel`. Like the real one it answers by the deadline, whatever the script takes."""

    answer: Callable[[RuntimePrompt], Answer] = asks_about
    takes_s: float = 0.5
    lent_for: Callable[[str], bool] = lambda _user: True
    asked: list[tuple[str, RuntimePrompt]] = field(default_factory=list)

    def is_connected(self, user: str) -> bool:
        return self.lent_for(user)

    async def ask(self, user: str, prompt: RuntimePrompt, *, deadline_s: float) -> Answer:
        self.asked.append((user, prompt))
        left_s = deadline_s - anyio.current_time()
        await anyio.sleep(min(self.takes_s, left_s))
        if self.takes_s > left_s:
            return RuntimeFailure(kind=RuntimeFailureKind.TIMEOUT)
        return self.answer(prompt)
