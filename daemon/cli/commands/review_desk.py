"""Carrying the decisions of a review out, through the daemon."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from recalld.daemon.cli.commands.review_items import Waiting
from recalld.daemon.cli.commands.review_loop import Said
from recalld.daemon.cli.editor import edited
from recalld.daemon.cli.errors import CommandError
from recalld.daemon.cli.memory_texts import texts_of
from recalld.daemon.cli.output import printable
from recalld.daemon.cli.usage_line import named, usage_line
from recalld.daemon.cli.words import ADMISSION_REASONS, FACT_OUTCOMES, in_words
from recalld.daemon.config import Environment
from recalld.daemon.exit_codes import ExitCode
from recalld.models.domain.admission_store import FactOutcome, ProposalState
from recalld.models.domain.errors import ErrorCode
from recalld.protocol import requests
from recalld.protocol.client.blocking import Client
from recalld.protocol.client.errors import ClientError
from recalld.protocol.items import Verdict
from recalld.protocol.replies import Confirmed, Settled


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """What the daemon said, and that in words."""

    reply: Confirmed | Settled
    text: str


class ClientDesk:
    """Answers for one user.

    Args:
        client: Connected under a name that brings no candidates.
        user: Whose.
        environment: Names the editor.
    """

    def __init__(self, client: Client, user: str, environment: Environment) -> None:
        self._client = client
        self._user = user
        self._environment = environment

    def accept(self, item: Waiting, text: str = "") -> Said:
        """Make a memory of it."""
        return self._tried(item, is_accepted=True, text=text)

    def reject(self, item: Waiting) -> Said:
        """Turn it down."""
        return self._tried(item, is_accepted=False)

    def edit(self, item: Waiting) -> str | None:
        """Have its words edited; None when nothing was saved, or nothing is left of them."""
        saved = edited(item.text, self._environment, otherwise="use `recalld review --edit ID TEXT`")
        return " ".join(saved.split()) or None if saved is not None else None

    def answer(self, note_id: str, *, is_accepted: bool, text: str = "") -> Answered:
        """Answer a proposal or an observation, whichever has this id.

        Raises:
            CommandError: Neither has, a cap refused it, or it waited too long.
            ClientError: It was answered otherwise before, or the daemon cannot do it.
        """
        try:
            return self._confirm(note_id, is_accepted=is_accepted, text=text)
        except ClientError as error:
            if error.code != ErrorCode.NOT_FOUND:
                raise
        try:
            return self._settle(note_id, is_accepted=is_accepted, text=text)
        except ClientError as error:
            if error.code != ErrorCode.NOT_FOUND:
                raise
            message = f"nothing of {printable(self._user)} waits under {printable(note_id)}; see `recalld review`"
            raise CommandError(error.code, message, ExitCode.FAILURE) from error

    def _tried(self, item: Waiting, *, is_accepted: bool, text: str = "") -> Said:
        """What became of an answer, or why nothing did: the next item is shown all the same."""
        answer = self._confirm if item.is_proposal else self._settle
        try:
            return Said(text=answer(item.id, is_accepted=is_accepted, text=text).text)
        except (CommandError, ClientError) as error:
            return Said(text=f"Not done: {printable(error.message)}", is_done=False)

    def _confirm(self, note_id: str, *, is_accepted: bool, text: str) -> Answered:
        request = requests.Confirm(user=self._user, proposal_id=note_id, accept=is_accepted, edited_text=text)
        reply = self._client.confirm(request)
        if reply.proposal.state == ProposalState.EXPIRED:
            message = f"{printable(note_id)} waited too long and has expired; `recalld remember` stores it"
            raise CommandError(ProposalState.EXPIRED.value, message, ExitCode.FAILURE)
        return self._answered(reply, is_accepted=is_accepted)

    def _settle(self, note_id: str, *, is_accepted: bool, text: str) -> Answered:
        request = requests.Settle(user=self._user, observation_id=note_id, accept=is_accepted, edited_text=text)
        reply = self._client.settle(request)
        return self._answered(reply, is_accepted=is_accepted)

    def _answered(self, reply: Confirmed | Settled, *, is_accepted: bool) -> Answered:
        """The answer in words, with those of what it closed."""
        closed = () if reply.verdict is None else reply.verdict.superseded
        texts = texts_of(self._client, self._user, closed)
        text = _in_words(reply.verdict, texts, is_repeat=reply.is_repeat, is_accepted=is_accepted)
        return Answered(reply=reply, text=text)


def _in_words(verdict: Verdict | None, texts: Mapping[str, str], *, is_repeat: bool, is_accepted: bool) -> str:
    if not is_accepted:
        return "Turned down already." if is_repeat else "Turned down."
    if verdict is None:
        return "Accepted."
    if verdict.outcome == FactOutcome.REFUSED:
        usage = "" if verdict.usage is None else f" {usage_line(verdict.usage)}"
        message = f"refused: {in_words(verdict.reason, ADMISSION_REASONS)}.{usage} It waits on; forget something first"
        raise CommandError(FactOutcome.REFUSED.value, message, ExitCode.FAILURE)
    if verdict.outcome == FactOutcome.CLOSED and not verdict.superseded:
        return "Accepted, and there was nothing left to end."
    memory = "" if verdict.memory is None else f": {verdict.memory.id} {printable(verdict.memory.text)}"
    closed = ", ".join(named(memory_id, texts) for memory_id in verdict.superseded)
    replaced = f", in place of {closed}" if closed and verdict.memory else ""
    replaced = f": {closed}" if closed and verdict.memory is None else replaced
    first = "Accepted already" if is_repeat else f"Accepted, {in_words(verdict.outcome, FACT_OUTCOMES)}"
    return f"{first}{memory}{replaced}"
