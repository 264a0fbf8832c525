"""The blocking client: standard library sockets, one call at a time."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Self, TypeVar

import msgspec

from recalld.protocol import replies, requests
from recalld.protocol.client.blocking_link import BlockingLink, monotonic_s
from recalld.protocol.client.errors import ClientError, ClientFault, LinkBrokenError, no_block, unavailable, unexpected
from recalld.protocol.client.misuse import MisuseLog, check_request
from recalld.protocol.client.settings import ClientSettings, may_repeat
from recalld.protocol.messages import Reply, Request

_Answer = TypeVar("_Answer")


class Client:
    """Talks to the daemon from blocking code. Connects on the first call, and again after a broken connection.

    May be shared between threads; calls then take turns. Every call but `recall` and `standing` raises
    `ClientError` when it fails.

    Args:
        socket_path: Path of the daemon's socket.
        name: The program that connects; for the daemon's logs.
        version: Its version.
        strict: Whether a failing `recall` or `standing` raises too, instead of returning an empty result.
        timeout_s: Seconds a call may take, connecting included.
        recall_timeout_s: The same for `recall` and `standing`.
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
        self._turn = threading.Lock()
        self._link: BlockingLink | None = None
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def connect(self, *, timeout_s: float | None = None) -> replies.Welcome:
        """Connect now, unless connected already, and return what the server said of itself."""
        deadline_s = monotonic_s() + (self._settings.timeout_s if timeout_s is None else timeout_s)
        with self._my_turn(deadline_s):
            return self._linked(deadline_s).welcome

    def close(self) -> None:
        """Close the connection. Further calls fail with the code `closed`."""
        with self._turn:
            self._is_closed = True
            self._unlink()

    def recall(self, request: requests.Recall, *, timeout_s: float | None = None) -> replies.Recalled:
        """Ask which memories help with a turn. Unless strict, never raises `ClientError`: see `unavailable`.

        A request that can never succeed is answered like an outage, with the code and the field in the answer, and
        logged once as a warning.

        Raises:
            TypeError: `request` is no `Recall`.
        """
        try:
            return self._call(request, replies.Recalled, timeout_s)
        except ClientError as error:
            if self._settings.is_strict:
                raise
            self._misuse.note(error)
            return unavailable(error)

    def observe(self, request: requests.Observe, *, timeout_s: float | None = None) -> replies.Admitted:
        """Hand over a turn as it was said."""
        return self._call(request, replies.Admitted, timeout_s)

    def confirm(self, request: requests.Confirm, *, timeout_s: float | None = None) -> replies.Confirmed:
        """Answer a proposal, for the user."""
        return self._call(request, replies.Confirmed, timeout_s)

    def proposals(self, request: requests.ListProposals, *, timeout_s: float | None = None) -> replies.Proposals:
        """Read a page of what waits, or waited, for the user's yes."""
        return self._call(request, replies.Proposals, timeout_s)

    def observations(
        self, request: requests.ListObservations, *, timeout_s: float | None = None
    ) -> replies.Observations:
        """Read a page of what is noted until more turns say the same."""
        return self._call(request, replies.Observations, timeout_s)

    def lineage(self, request: requests.GetLineage, *, timeout_s: float | None = None) -> replies.Lineage:
        """Read everything behind a memory."""
        return self._call(request, replies.Lineage, timeout_s)

    def settle(self, request: requests.Settle, *, timeout_s: float | None = None) -> replies.Settled:
        """Give a person's word on an observation."""
        return self._call(request, replies.Settled, timeout_s)

    def export(self, request: requests.Export, *, timeout_s: float | None = None) -> replies.Exported:
        """Read a page of everything that is kept of a user."""
        return self._call(request, replies.Exported, timeout_s)

    def import_records(self, request: requests.Import, *, timeout_s: float | None = None) -> replies.Imported:
        """Take over what was exported, or what another program stored."""
        return self._call(request, replies.Imported, timeout_s)

    def purge_user(self, request: requests.PurgeUser, *, timeout_s: float | None = None) -> replies.Purged:
        """Leave nothing of a user behind."""
        return self._call(request, replies.Purged, timeout_s)

    def remember(self, request: requests.Remember, *, timeout_s: float | None = None) -> replies.Remembered:
        """Store a memory; it is durable when this returns."""
        return self._call(request, replies.Remembered, timeout_s)

    def forget(self, request: requests.Forget, *, timeout_s: float | None = None) -> replies.Forgotten:
        """Forget memories, or preview that."""
        return self._call(request, replies.Forgotten, timeout_s)

    def get(self, request: requests.Get, *, timeout_s: float | None = None) -> replies.Memory:
        """Read one memory."""
        return self._call(request, replies.Memory, timeout_s)

    def list_memories(self, request: requests.ListMemories, *, timeout_s: float | None = None) -> replies.Memories:
        """Read a page of memories."""
        return self._call(request, replies.Memories, timeout_s)

    def update(self, request: requests.Update, *, timeout_s: float | None = None) -> replies.Updated:
        """Change what is known about a memory beside its text."""
        return self._call(request, replies.Updated, timeout_s)

    def backfill(self, request: requests.Backfill, *, timeout_s: float | None = None) -> replies.Backfilled:
        """Have a lent model write cues and asks. It takes up to a minute and more, so give it a `timeout_s`."""
        return self._call(request, replies.Backfilled, timeout_s)

    def decide(self, request: requests.Decide, *, timeout_s: float | None = None) -> replies.Decision:
        """Ask a gate whether something may be done, and how."""
        return self._call(request, replies.Decision, timeout_s)

    def explain(self, request: requests.Explain, *, timeout_s: float | None = None) -> replies.Explanation:
        """Read why a decision went as it did."""
        return self._call(request, replies.Explanation, timeout_s)

    def session(self, request: requests.Session, *, timeout_s: float | None = None) -> replies.Ok:
        """Say that a session started, was compacted, or ended."""
        return self._call(request, replies.Ok, timeout_s)

    def standing(self, request: requests.Standing, *, timeout_s: float | None = None) -> replies.StandingBlock:
        """Ask for the standing block of a session. Unless strict, never raises `ClientError`: see `no_block`.

        Raises:
            TypeError: `request` is no `Standing`.
        """
        try:
            return self._call(request, replies.StandingBlock, timeout_s)
        except ClientError as error:
            if self._settings.is_strict:
                raise
            self._misuse.note(error, "standing")
            return no_block(error)

    def set_standing(self, request: requests.SetStanding, *, timeout_s: float | None = None) -> replies.StandingSet:
        """Say what a person decided about a memory and the standing block."""
        return self._call(request, replies.StandingSet, timeout_s)

    def note_audit(self, request: requests.NoteAudit, *, timeout_s: float | None = None) -> replies.Ok:
        """Say that a person has just gone through the newest memories."""
        return self._call(request, replies.Ok, timeout_s, kind=requests.NoteAudit)

    def samples(self, request: requests.ListSamples, *, timeout_s: float | None = None) -> replies.Samples:
        """List decisions that were kept for a person to judge."""
        return self._call(request, replies.Samples, timeout_s)

    def mark_sample(self, request: requests.MarkSample, *, timeout_s: float | None = None) -> replies.Ok:
        """Say what a person thinks of a sample."""
        return self._call(request, replies.Ok, timeout_s, kind=requests.MarkSample)

    def outcome(self, request: requests.Outcome, *, timeout_s: float | None = None) -> replies.Ok:
        """Report what became of what a decision showed."""
        return self._call(request, replies.Ok, timeout_s, kind=requests.Outcome)

    def outcomes(self, request: requests.Outcomes, *, timeout_s: float | None = None) -> replies.OutcomeReport:
        """Read what was reported on a memory or a decision."""
        return self._call(request, replies.OutcomeReport, timeout_s)

    def health(self, *, deep: bool = False, timeout_s: float | None = None) -> replies.HealthReport:
        """Read the daemon's state; `deep` also scores a real pair."""
        return self._call(requests.Health(deep=deep), replies.HealthReport, timeout_s)

    def stats(self, request: requests.Stats | None = None, *, timeout_s: float | None = None) -> replies.StatsReport:
        """Read counters and latencies; with `days` in the request also what the ledger counted."""
        return self._call(request or requests.Stats(), replies.StatsReport, timeout_s)

    def ping(self, *, timeout_s: float | None = None) -> replies.Pong:
        """Wait until the server answers."""
        return self._call(requests.Ping(), replies.Pong, timeout_s)

    def subscribe(self, request: requests.Subscribe) -> Iterator[replies.Event]:
        """Yield events, on a connection of its own, until the server closes it; close the iterator to stop.

        Raises:
            ClientError: On the first step when the subscription is refused, later when the connection breaks.
            TypeError: On the first step, when `request` is no `Subscribe`.
        """
        check_request(request, replies.Subscribed)
        deadline_s = monotonic_s() + self._settings.timeout_s
        with contextlib.closing(BlockingLink(self._settings, deadline_s)) as link:
            request_id = link.send(request, deadline_s)
            _expect(link.receive(request_id, deadline_s), replies.Subscribed)
            while True:
                yield _expect(link.receive(request_id, None), replies.Event)

    def _call(
        self,
        request: Request,
        answer: type[_Answer],
        timeout_s: float | None,
        *,
        kind: type[msgspec.Struct] | None = None,
    ) -> _Answer:
        check_request(request, answer, kind)
        deadline_s = monotonic_s() + self._settings.timeout_for(request, timeout_s)
        with self._my_turn(deadline_s):
            is_fresh = self._link is None
            try:
                return self._exchange(request, answer, deadline_s)
            except LinkBrokenError as broken:
                if is_fresh or not may_repeat(request, was_sent=broken.was_sent):
                    raise broken.cause from None
            try:  # the old connection had gone stale, as after a restart of the daemon
                return self._exchange(request, answer, deadline_s)
            except LinkBrokenError as broken:
                raise broken.cause from None

    def _exchange(self, request: Request, answer: type[_Answer], deadline_s: float) -> _Answer:
        link = self._linked(deadline_s)
        was_sent = False
        try:
            request_id = link.send(request, deadline_s)
            was_sent = True
            reply = link.receive(request_id, deadline_s)
        except ClientError as error:
            if error.code == ClientFault.TIMEOUT and was_sent:
                raise  # the late reply will be passed over; the connection is good
            if error.code == ClientFault.CONNECTION_LOST:
                self._unlink()
                raise LinkBrokenError(error, was_sent=was_sent) from error
            if was_sent or error.code == ClientFault.TIMEOUT:
                self._unlink()
            raise
        return _expect(reply, answer)

    def _linked(self, deadline_s: float) -> BlockingLink:
        if self._is_closed:
            raise ClientError(ClientFault.CLOSED, "this client was closed")
        if self._link is None:
            self._link = BlockingLink(self._settings, deadline_s)
        return self._link

    def _unlink(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None

    @contextlib.contextmanager
    def _my_turn(self, deadline_s: float) -> Iterator[None]:
        if not self._turn.acquire(timeout=max(0.0, deadline_s - monotonic_s())):
            raise ClientError(ClientFault.TIMEOUT, "another thread's call on this client took too long")
        try:
            yield
        finally:
            self._turn.release()


def _expect(reply: Reply, answer: type[_Answer]) -> _Answer:
    if isinstance(reply, answer):
        return reply
    raise unexpected(reply, answer)
