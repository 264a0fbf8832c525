"""A lent model as a source of the model gate: every failure has a name, and those of the source alone are blameless."""

from __future__ import annotations

import pytest

from recalld.actors.extraction.sources import LentSource
from recalld.models.domain.extraction import BLAMELESS, SourceFailure, SourceFault
from recalld.models.domain.runtime_model import (
    PromptPurpose,
    RuntimeFailure,
    RuntimeFailureKind,
    RuntimePrompt,
    RuntimeReply,
)

pytestmark = pytest.mark.anyio

PROMPT = RuntimePrompt(purpose=PromptPurpose.EXTRACT, prompt_version="extraction.v1", prompt="Choose.")


class Lent:
    def __init__(self, reply: RuntimeReply | RuntimeFailure) -> None:
        self._reply = reply

    def is_connected(self, user: str) -> bool:
        return user == "ines"

    async def ask(self, user: str, prompt: RuntimePrompt, *, deadline_s: float) -> RuntimeReply | RuntimeFailure:
        assert (user, prompt, deadline_s) == ("ines", PROMPT, 9.0)
        return self._reply


async def outcome(reply: RuntimeReply | RuntimeFailure) -> RuntimeReply | SourceFailure:
    return await LentSource(Lent(reply)).ask("ines", PROMPT, deadline_s=9.0)


@pytest.mark.parametrize("kind", RuntimeFailureKind)
async def test_every_failure_of_a_runtime_keeps_its_name(kind: RuntimeFailureKind) -> None:
    assert await outcome(RuntimeFailure(kind=kind)) == SourceFailure(fault=SourceFault(kind.value))


async def test_an_answer_cut_at_its_ceiling_is_none_and_a_whole_one_is_handed_on() -> None:
    assert await outcome(RuntimeReply(text="[]", was_truncated=True)) == SourceFailure(fault=SourceFault.TRUNCATED)
    assert await outcome(RuntimeReply(text="[]")) == RuntimeReply(text="[]")


def test_it_is_there_for_whom_a_runtime_is_connected() -> None:
    source = LentSource(Lent(RuntimeReply(text="[]")))
    assert (source.is_available("ines"), source.is_available("teo")) == (True, False)


def test_what_may_be_the_turns_fault_is_not_blameless() -> None:
    suspect = {
        SourceFault.REFUSED,
        SourceFault.TOO_LONG,
        SourceFault.OVERSIZED,
        SourceFault.MALFORMED,
        SourceFault.NO_CHOICES,
        SourceFault.TRUNCATED,
    }
    assert set(SourceFault) - BLAMELESS == suspect
