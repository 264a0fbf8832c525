"""The admission actor of one user: one thing at a time, so that what was said first is decided first."""

from __future__ import annotations

from recalld.actors.admission.backfilling import Backfiller
from recalld.actors.admission.confirming import Confirmer
from recalld.actors.admission.dependencies import AdmissionDependencies
from recalld.actors.admission.extracted import ExtractedAdmitter
from recalld.actors.admission.forgetting import Forgetter
from recalld.actors.admission.importing import Importer
from recalld.actors.admission.messages import (
    AdmissionMessage,
    AdmitCandidates,
    AnswerProposal,
    BackfillCues,
    EraseEverything,
    ForgetMemories,
    NoteSession,
    ObserveTurn,
    RememberMemory,
    SettleFact,
    TakeOverRecords,
    UpdateMemory,
)
from recalld.actors.admission.observing import Observer
from recalld.actors.admission.purging import Purger
from recalld.actors.admission.recall_view import RecallView
from recalld.actors.admission.saving import Saver
from recalld.actors.admission.session_notes import SessionNotes
from recalld.actors.admission.updating import Updater
from recalld.actors.kernel import Actor, ActorContext, Address
from recalld.actors.recall.messages import RecallMessage
from recalld.models.domain.errors import ErrorCode, RecalldError


class AdmissionActor(Actor[AdmissionMessage]):
    """One user's write side.

    Args:
        deps: What all admission actors share.
        recall: The recall actor of the same user, which knows what was shown and what lies near.
    """

    def __init__(self, deps: AdmissionDependencies, recall: Address[RecallMessage]) -> None:
        self._saver = Saver(deps)
        self._notes = SessionNotes()
        self._confirmer = Confirmer(deps)
        view = RecallView(recall, deps.clock)
        self._observer = Observer(deps, view, self._confirmer, self._notes)
        self._extracted = ExtractedAdmitter(deps, view)
        self._forgetter = Forgetter(deps)
        self._importer = Importer(deps)
        self._purger = Purger(deps)
        self._updater = Updater(deps)
        self._backfiller = Backfiller(deps, self._updater)
        self._is_backfilling = False

    async def handle(  # noqa: C901, PLR0912 - one case each
        self, message: AdmissionMessage, ctx: ActorContext[AdmissionMessage]
    ) -> None:
        """Decide and write; an operating error is the answer, anything else fails the actor."""
        if isinstance(message, NoteSession):
            self._notes.changed(message.session, message.event, now_ms=message.at_ms)
            return
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
            case AdmitCandidates():
                try:
                    message.reply.send(await self._extracted.admit(message.turn))
                except RecalldError as error:
                    message.reply.fail(error)
            case AnswerProposal():
                try:
                    message.reply.send(await self._confirmer.confirm(message.request))
                except RecalldError as error:
                    message.reply.fail(error)
            case SettleFact() | TakeOverRecords() | EraseEverything():
                await self._handle_for_a_person(message)
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

    async def _handle_for_a_person(self, message: SettleFact | TakeOverRecords | EraseEverything) -> None:
        """What a person does to a memory as a whole, or to what waits to be in it."""
        match message:
            case SettleFact():
                try:
                    message.reply.send(await self._confirmer.settle(message.request))
                except RecalldError as error:
                    message.reply.fail(error)
            case TakeOverRecords():
                try:
                    message.reply.send(await self._importer.take_over(message.request))
                except RecalldError as error:
                    message.reply.fail(error)
            case EraseEverything():
                try:
                    message.reply.send(await self._purger.purge(message.request))
                except RecalldError as error:
                    message.reply.fail(error)

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
