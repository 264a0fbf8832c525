"""The admission actor of one user: one thing at a time, so that what was said first is decided first."""

from __future__ import annotations

from recalld.actors.admission.dependencies import AdmissionDependencies
from recalld.actors.admission.forgetting import Forgetter
from recalld.actors.admission.messages import AdmissionMessage, ForgetMemories, ObserveTurn, RememberMemory
from recalld.actors.admission.observing import Observer
from recalld.actors.admission.saving import Saver
from recalld.actors.kernel import Actor, ActorContext
from recalld.models.domain.errors import RecalldError


class AdmissionActor(Actor[AdmissionMessage]):
    """One user's write side.

    Args:
        deps: What all admission actors share.
    """

    def __init__(self, deps: AdmissionDependencies) -> None:
        saver = Saver(deps)
        self._saver = saver
        self._observer = Observer(deps, saver)
        self._forgetter = Forgetter(deps)

    async def handle(self, message: AdmissionMessage, ctx: ActorContext[AdmissionMessage]) -> None:  # noqa: ARG002
        """Decide and write; an operating error is the answer, anything else fails the actor."""
        # An asker that has left never learns what became of a write, so the write is not begun.
        if not message.reply.is_wanted():
            return
        match message:
            case RememberMemory():
                try:
                    message.reply.send(await self._saver.remember(message.request))
                except RecalldError as error:
                    message.reply.fail(error)
            case ObserveTurn():
                try:
                    message.reply.send(await self._observer.observe(message.turn))
                except RecalldError as error:
                    message.reply.fail(error)
            case ForgetMemories():
                try:
                    message.reply.send(await self._forgetter.forget(message.request))
                except RecalldError as error:
                    message.reply.fail(error)
