"""The store of one replayed conversation: empty when it begins, gone when it ends, and asked as the daemon's is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from recalld.actors.kernel import Address, Reply
from recalld.actors.kernel.mailbox import Mailbox
from recalld.actors.ports import Clock, MemoryReader
from recalld.actors.recall.messages import FindNear, ListShown, RecallMessage
from recalld.actors.recall.nearness import NearFinder
from recalld.actors.recall.state import RecallState, Spawn
from recalld.actors.store import AnswerProposal, AttachVectors, InMemoryStore, StoreMessage, StoreTurn
from recalld.actors.text_work import ImmediateTextWork, TextWork
from recalld.models.domain.admission_store import AdmitTurn, Confirm, Confirmed, TurnAdmitted
from recalld.models.domain.errors import InvariantError, RecalldError

R = TypeVar("R")
FOLD_KEY: Final = b"replayed conversation"
"""Keys the digests by which the store knows the same words again; they never leave the process."""


class DirectStore(Address[StoreMessage]):
    """An address behind which a store answers at once, and that notes what it was told.

    Args:
        clock: Of the conversation.

    Attributes:
        reader: The reading side.
        turns: Every turn that was written, and what became of it.
        answers: Every proposal that was answered, and what became of it.
    """

    def __init__(self, clock: Clock) -> None:
        super().__init__(name="store", mailbox=Mailbox(1), clock=clock)
        store = InMemoryStore(fold_key=FOLD_KEY)
        self.reader = store.reader
        self._writer = store.writer
        self._still = clock
        self.turns: list[tuple[AdmitTurn, TurnAdmitted]] = []
        self.answers: list[tuple[Confirm, Confirmed]] = []

    async def ask(self, build: Callable[[Reply[R]], StoreMessage], *, deadline_s: float) -> R:
        """Carry a command out, and give the store's answer or raise its error."""
        reply: Reply[R] = Reply(actor=self.name, deadline_s=deadline_s, clock=self._still)
        message = build(reply)
        try:
            await self._carry_out(message)
        except RecalldError as error:
            reply.fail(error)
        return await reply.wait()

    async def _carry_out(self, message: StoreMessage) -> None:
        match message:
            case StoreTurn(command=turn, reply=admitted_reply):
                admitted = await self._writer.admit_turn(turn)
                self.turns.append((turn, admitted))
                admitted_reply.send(admitted)
            case AnswerProposal(command=answer, reply=confirmed_reply):
                confirmed = await self._writer.confirm(answer)
                self.answers.append((answer, confirmed))
                confirmed_reply.send(confirmed)
            case AttachVectors(command=vectors, reply=attached_reply):
                attached_reply.send(await self._writer.put_vectors(vectors))
            case _:
                error = f"a replayed turn sends no {type(message).__name__}"
                raise InvariantError(error)


@dataclass(frozen=True, kw_only=True, slots=True)
class _NearParts:
    """What looking into an index takes."""

    reader: MemoryReader
    text_work: TextWork


class DirectRecall(Address[RecallMessage]):
    """The recall actor of one user who has recalled nothing: it knows what lies near, and that nothing was shown.

    Args:
        user: Whose.
        reader: Of the conversation's store.
        clock: Of the conversation.
        spawn: Starts what a search lets go on beside it.
    """

    def __init__(self, user: str, reader: MemoryReader, clock: Clock, *, spawn: Spawn) -> None:
        super().__init__(name="recall", mailbox=Mailbox(1), clock=clock)
        self._near = NearFinder(user, RecallState(), _NearParts(reader=reader, text_work=ImmediateTextWork()))
        self._still = clock
        self._spawn = spawn

    async def ask(self, build: Callable[[Reply[R]], RecallMessage], *, deadline_s: float) -> R:
        """Answer at once."""
        reply: Reply[R] = Reply(actor=self.name, deadline_s=deadline_s, clock=self._still)
        match build(reply):
            case ListShown(reply=shown):
                shown.send(())
            case FindNear() as message:
                await self._near.answer(message, spawn=self._spawn)
            case message:
                error = f"a replayed turn sends no {type(message).__name__}"
                raise InvariantError(error)
        return await reply.wait()
