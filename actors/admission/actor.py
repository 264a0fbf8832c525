"""The admission actor of one user: one thing at a time, so that what was said first is decided first."""

from __future__ import annotations

from recalld.actors.admission.backfilling import Backfiller
from recalld.actors.admission.dependencies import AdmissionDependencies
from recalld.actors.admission.forgetting import Forgetter
from recalld.actors.admission.messages import (
    AdmissionMessage,
    BackfillCues,
    ForgetMemories,
    ObserveTurn,
    RememberMemory,
    UpdateMemory,
)
from recalld.actors.admission.observing import Observer
from recalld.actors.admission.saving import Saver
from recalld.actors.admission.updating import Updater
from recalld.actors.kernel import Actor, ActorContext
from recalld.models.domain.errors import ErrorCode, RecalldError


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
        self._updater = Updater(deps)
        self._backfiller = Backfiller(deps, self._updater)
        self._is_backfilling = False

    async def handle(  # noqa: C901 - one case each
        self, message: AdmissionMessage, ctx: ActorContext[AdmissionMessage]
    ) -> None:
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
            case UpdateMemory():
                try:
                    message.reply.send(await self._updater.update(message.request))
                except RecalldError as error:
                    message.reply.fail(error)
            case BackfillCues():
                self._start_backfill(message, ctx)

    def _start_backfill(self, message: BackfillCues, ctx: ActorContext[AdmissionMessage]) -> None:
        """Start a backfill as a child task, so that everything else of the user goes on; one at a time."""
        if self._is_backfilling:
            busy = RecalldError(ErrorCode.BUSY, "a backfill of this user is under way; try again when it has ended")
            message.reply.fail(busy)
            return
        self._is_backfilling = True
        ctx.spawn(self._backfill, message, ctx, name="backfill", is_background=True)

    async def _backfill(self, message: BackfillCues, ctx: ActorContext[AdmissionMessage]) -> None:
        def is_wanted() -> bool:
            return message.reply.is_wanted() and not ctx.is_draining

        try:
            message.reply.send(await self._backfiller.backfill(message.request, is_wanted))
        except RecalldError as error:
            message.reply.fail(error)
        finally:
            self._is_backfilling = False
