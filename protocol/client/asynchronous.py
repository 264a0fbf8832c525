"""The asynchronous client: anyio, pipelined calls over one connection."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Self, TypeVar

import anyio
import anyio.abc
import msgspec

from recalld.protocol import replies, requests
from recalld.protocol.client.async_link import AsyncLink
from recalld.protocol.client.async_wire import AsyncWire
from recalld.protocol.client.errors import ClientError, ClientFault, LinkBrokenError, no_block, unavailable, unexpected
from recalld.protocol.client.events import EventSubscription
from recalld.protocol.client.lending import WANTS, Extractor
from recalld.protocol.client.misuse import MisuseLog, check_request
from recalld.protocol.client.settings import ClientSettings, may_repeat
from recalld.protocol.messages import Reply, Request

_Answer = TypeVar("_Answer")


class AsyncClient:
    """Talks to the daemon from asynchronous code: an async context manager whose calls may run at the same time.

    Connects on the first call, and again after a broken connection. Every call but `recall` and `standing` raises
    `ClientError` when it fails.

    Args:
        socket_path: Path of the daemon's socket.
        name: The program that connects; for the daemon's logs.
        version: Its version.
        strict: Whether a failing `recall` or `standing` raises too, instead of returning an empty result.
        timeout_s: Seconds a call may take, connecting included.
        recall_timeout_s: The same for `recall` and `standing`.
        extractor: Asks this program's own model; given one, the client lends it to the daemon while it is connected,
            and answers the daemon's questions beside its calls. The questions come only while connected, so a program
            that does nothing else calls `connect` first, and `ping` now and then: each call connects again if need be.
    """

    def __init__(
        self,
        socket_path: str | os.PathLike[str],
        *,
        name: str = "recalld-python",
        version: str = "",
        strict: bool = False,
        timeout_s: float = 10.0,
        recall_timeout_s: float = 1.0,
        extractor: Extractor | None = None,
    ) -> None:
        self._settings = ClientSettings.of(
            socket_path,
            name=name,
            version=version,
            strict=strict,
            timeout_s=timeout_s,
            recall_timeout_s=recall_timeout_s,
        )
        self._misuse = MisuseLog()
        self._extractor = extractor
        self._tasks: anyio.abc.TaskGroup | None = None
        self._connecting = anyio.Lock()
        self._link: AsyncLink | None = None
        self._subscriptions: set[EventSubscription] = set()

    async def __aenter__(self) -> Self:
        if self._tasks is not None:
            message = "this client is in use already: make another one"
            raise RuntimeError(message)
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        tasks, self._tasks = self._tasks, None
        for subscription in tuple(self._subscriptions):
            subscription.close()
        if self._link is not None:
            self._link.stop(ClientError(ClientFault.CLOSED, "the client was closed"))
        if tasks is None:
            return None
        try:
            return await tasks.__aexit__(kind, error, trace)
        except BaseExceptionGroup as group:
            # The task group is this client's own business: what the body raised leaves as it was raised.
            if error is not None and group.exceptions == (error,):
                return None
            raise

    async def connect(self, *, timeout_s: float | None = None) -> replies.Welcome:
        """Connect now, unless connected already, and return what the server said of itself."""
        limit_s = self._settings.timeout_s if timeout_s is None else timeout_s
        try:
            with anyio.fail_after(limit_s):
                return (await self._linked()).wire.welcome
        except TimeoutError as error:
            raise _timeout(limit_s) from error

    async def recall(self, request: requests.Recall, *, timeout_s: float | None = None) -> replies.Recalled:
        """Ask which memories help with a turn. Unless strict, never raises `ClientError`: see `unavailable`.

        A request that can never succeed is answered like an outage, with the code and the field in the answer, and
        logged once as a warning.

        Raises:
            TypeError: `request` is no `Recall`.
        """
        try:
            return await self._call(request, replies.Recalled, timeout_s)
        except ClientError as error:
            if self._settings.is_strict:
                raise
            self._misuse.note(error)
            return unavailable(error)

    async def observe(self, request: requests.Observe, *, timeout_s: float | None = None) -> replies.Admitted:
        """Hand over a turn as it was said."""
        return await self._call(request, replies.Admitted, timeout_s)

    async def confirm(self, request: requests.Confirm, *, timeout_s: float | None = None) -> replies.Confirmed:
        """Answer a proposal, for the user."""
        return await self._call(request, replies.Confirmed, timeout_s)

    async def proposals(self, request: requests.ListProposals, *, timeout_s: float | None = None) -> replies.Proposals:
        """Read a page of what waits, or waited, for the user's yes."""
        return await self._call(request, replies.Proposals, timeout_s)

    async def observations(
        self, request: requests.ListObservations, *, timeout_s: float | None = None
    ) -> replies.Observations:
        """Read a page of what is noted until more turns say the same."""
        return await self._call(request, replies.Observations, timeout_s)

    async def lineage(self, request: requests.GetLineage, *, timeout_s: float | None = None) -> replies.Lineage:
        """Read everything behind a memory."""
        return await self._call(request, replies.Lineage, timeout_s)

    async def settle(self, request: requests.Settle, *, timeout_s: float | None = None) -> replies.Settled:
        """Give a person's word on an observation."""
        return await self._call(request, replies.Settled, timeout_s)

    async def export(self, request: requests.Export, *, timeout_s: float | None = None) -> replies.Exported:
        """Read a page of everything that is kept of a user."""
        return await self._call(request, replies.Exported, timeout_s)

    async def import_records(self, request: requests.Import, *, timeout_s: float | None = None) -> replies.Imported:
        """Take over what was exported, or what another program stored."""
        return await self._call(request, replies.Imported, timeout_s)

    async def purge_user(self, request: requests.PurgeUser, *, timeout_s: float | None = None) -> replies.Purged:
        """Leave nothing of a user behind."""
        return await self._call(request, replies.Purged, timeout_s)

    async def remember(self, request: requests.Remember, *, timeout_s: float | None = None) -> replies.Remembered:
        """Store a memory; it is durable when this returns."""
        return await self._call(request, replies.Remembered, timeout_s)

    async def forget(self, request: requests.Forget, *, timeout_s: float | None = None) -> replies.Forgotten:
        """Forget memories, or preview that."""
        return await self._call(request, replies.Forgotten, timeout_s)

    async def get(self, request: requests.Get, *, timeout_s: float | None = None) -> replies.Memory:
        """Read one memory."""
        return await self._call(request, replies.Memory, timeout_s)

    async def list_memories(
        self, request: requests.ListMemories, *, timeout_s: float | None = None
    ) -> replies.Memories:
        """Read a page of memories."""
        return await self._call(request, replies.Memories, timeout_s)

    async def update(self, request: requests.Update, *, timeout_s: float | None = None) -> replies.Updated:
        """Change what is known about a memory beside its text."""
        return await self._call(request, replies.Updated, timeout_s)

    async def backfill(self, request: requests.Backfill, *, timeout_s: float | None = None) -> replies.Backfilled:
        """Have a lent model write cues and asks. It takes up to a minute and more, so give it a `timeout_s`."""
        return await self._call(request, replies.Backfilled, timeout_s)

    async def decide(self, request: requests.Decide, *, timeout_s: float | None = None) -> replies.Decision:
        """Ask a gate whether something may be done, and how."""
        return await self._call(request, replies.Decision, timeout_s)

    async def explain(self, request: requests.Explain, *, timeout_s: float | None = None) -> replies.Explanation:
        """Read why a decision went as it did."""
        return await self._call(request, replies.Explanation, timeout_s)

    async def session(self, request: requests.Session, *, timeout_s: float | None = None) -> replies.Ok:
        """Say that a session started, was compacted, or ended."""
        return await self._call(request, replies.Ok, timeout_s)

    async def standing(self, request: requests.Standing, *, timeout_s: float | None = None) -> replies.StandingBlock:
        """Ask for the standing block of a session. Unless strict, never raises `ClientError`: see `no_block`.

        Raises:
            TypeError: `request` is no `Standing`.
        """
        try:
            return await self._call(request, replies.StandingBlock, timeout_s)
        except ClientError as error:
            if self._settings.is_strict:
                raise
            self._misuse.note(error, "standing")
            return no_block(error)

    async def set_standing(
        self, request: requests.SetStanding, *, timeout_s: float | None = None
    ) -> replies.StandingSet:
        """Say what a person decided about a memory and the standing block."""
        return await self._call(request, replies.StandingSet, timeout_s)

    async def note_audit(self, request: requests.NoteAudit, *, timeout_s: float | None = None) -> replies.Ok:
        """Say that a person has just gone through the newest memories."""
        return await self._call(request, replies.Ok, timeout_s, kind=requests.NoteAudit)

    async def samples(self, request: requests.ListSamples, *, timeout_s: float | None = None) -> replies.Samples:
        """List decisions that were kept for a person to judge."""
        return await self._call(request, replies.Samples, timeout_s)

    async def mark_sample(self, request: requests.MarkSample, *, timeout_s: float | None = None) -> replies.Ok:
        """Say what a person thinks of a sample."""
        return await self._call(request, replies.Ok, timeout_s, kind=requests.MarkSample)

    async def outcome(self, request: requests.Outcome, *, timeout_s: float | None = None) -> replies.Ok:
        """Report what became of what a decision showed."""
        return await self._call(request, replies.Ok, timeout_s, kind=requests.Outcome)

    async def outcomes(self, request: requests.Outcomes, *, timeout_s: float | None = None) -> replies.OutcomeReport:
        """Read what was reported on a memory or a decision."""
        return await self._call(request, replies.OutcomeReport, timeout_s)

    async def health(self, *, deep: bool = False, timeout_s: float | None = None) -> replies.HealthReport:
        """Read the daemon's state; `deep` also scores a real pair."""
        return await self._call(requests.Health(deep=deep), replies.HealthReport, timeout_s)

    async def stats(
        self, request: requests.Stats | None = None, *, timeout_s: float | None = None
    ) -> replies.StatsReport:
        """Read counters and latencies; with `days` in the request also what the ledger counted."""
        return await self._call(request or requests.Stats(), replies.StatsReport, timeout_s)

    async def ping(self, *, timeout_s: float | None = None) -> replies.Pong:
        """Wait until the server answers."""
        return await self._call(requests.Ping(), replies.Pong, timeout_s)

    def subscribe(self, request: requests.Subscribe) -> EventSubscription:
        """Events as an asynchronous iterator, on a connection of its own.

        Raises:
            TypeError: `request` is no `Subscribe`.
        """
        check_request(request, replies.Subscribed)
        subscription = EventSubscription(self._settings, request, self._subscriptions.discard)
        self._subscriptions.add(subscription)
        return subscription

    async def _call(
        self,
        request: Request,
        answer: type[_Answer],
        timeout_s: float | None,
        *,
        kind: type[msgspec.Struct] | None = None,
    ) -> _Answer:
        check_request(request, answer, kind)
        limit_s = self._settings.timeout_for(request, timeout_s)
        try:
            with anyio.fail_after(limit_s):
                reply = await self._exchange(request)
        except TimeoutError as error:
            raise _timeout(limit_s) from error
        if isinstance(reply, answer):
            return reply
        raise unexpected(reply, answer)

    async def _exchange(self, request: Request) -> Reply:
        is_fresh = self._link is None
        try:
            return await (await self._linked()).exchange(request)
        except LinkBrokenError as broken:
            is_stale = not is_fresh and broken.cause.code == ClientFault.CONNECTION_LOST
            if not (is_stale and may_repeat(request, was_sent=broken.was_sent)):
                raise broken.cause from None
        try:  # the old connection had gone stale, as after a restart of the daemon
            return await (await self._linked()).exchange(request)
        except LinkBrokenError as broken:
            raise broken.cause from None

    async def _linked(self) -> AsyncLink:
        async with self._connecting:
            if self._tasks is None:
                raise ClientError(ClientFault.CLOSED, "use the client inside `async with`")
            if self._link is None or not self._link.is_usable:
                wants = () if self._extractor is None else WANTS
                self._link = AsyncLink(await AsyncWire.open(self._settings, wants), self._extractor)
                self._tasks.start_soon(self._link.run, name="recalld client reader")
            return self._link


def _timeout(limit_s: float) -> ClientError:
    return ClientError(ClientFault.TIMEOUT, f"no answer within {limit_s:g} s")
