"""The recall actor of one user: keeps its mailbox moving and answers each recall in a child task."""

from __future__ import annotations

from recalld.actors.kernel import Actor, ActorContext
from recalld.actors.recall.dependencies import RecallDependencies
from recalld.actors.recall.messages import ChangeSession, FindNear, GiveStanding, ListShown, Recall, RecallMessage
from recalld.actors.recall.nearness import NearFinder
from recalld.actors.recall.pipeline import RecallPipeline
from recalld.actors.recall.standing_desk import StandingDesk
from recalld.actors.recall.state import RecallState


class RecallActor(Actor[RecallMessage]):
    """One user's recall coordinator.

    Args:
        user: Whose memories.
        state: Index and session visibility; survives a restart of the actor.
        deps: What all recall actors share.
    """

    def __init__(self, user: str, state: RecallState, deps: RecallDependencies) -> None:
        self._state = state
        self._pipeline = RecallPipeline(user, state, deps)
        self._standing = StandingDesk(state, deps)
        self._near = NearFinder(user, state, deps)

    async def handle(self, message: RecallMessage, ctx: ActorContext[RecallMessage]) -> None:
        """Start a recall as a child, so that a slow one never holds up the next; change sessions at once."""
        match message:
            case Recall():
                # Nobody waits any more: do not spend the scorer's time on it.
                if message.reply.is_wanted():
                    ctx.spawn(self._recall, message, ctx, name="recall")
            case ChangeSession():
                self._state.visible.reset(message.session)
                self._state.served.reset(message.session)
                self._state.given.reset(message.session)
                message.reply.send(None)
            case GiveStanding():
                if message.reply.is_wanted():
                    ctx.spawn(self._standing.answer, message, name="standing")
            case ListShown():
                message.reply.send(tuple(sorted(self._state.served.visible(message.session))))
            case FindNear():
                if message.reply.is_wanted():
                    ctx.spawn(self._find_near, message, ctx, name="find near")

    async def _recall(self, message: Recall, ctx: ActorContext[RecallMessage]) -> None:
        outcome = await self._pipeline.run(
            message.query, spawn=lambda work: ctx.spawn(work, name="load index", is_background=True)
        )
        # Only what was taken is visible. Two recalls of one session that overlap may both show a memory, which is
        # better than hiding one whose answer never arrived.
        if message.reply.send(outcome):
            query = message.query
            self._state.visible.mark(query.session, tuple(item.memory.id for item in outcome.items), query.turn_id)
            self._state.served.mark(query.session, tuple(item.memory.id for item in outcome.served), query.turn_id)

    async def _find_near(self, message: FindNear, ctx: ActorContext[RecallMessage]) -> None:
        await self._near.answer(message, spawn=lambda work: ctx.spawn(work, name="load index", is_background=True))
