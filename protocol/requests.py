"""What a client may ask. Every request may leave out fields that have a default; unknown fields are ignored."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from recalld.protocol import fields as f
from recalld.protocol.items import ClientInfo, PastTurn, TextPart
from recalld.protocol.version import PROTOCOL_VERSION_MAX, PROTOCOL_VERSION_MIN

_Version = Annotated[int, Meta(ge=0, le=65_535)]


class _Request(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """What all requests share."""

    id: f.RequestId = 0
    """Must differ from that of every request still without a reply on the same connection."""


class Hello(_Request, frozen=True, kw_only=True, tag="hello"):
    """The first message on a connection; answered by `welcome`."""

    protocol: tuple[_Version, _Version] = (PROTOCOL_VERSION_MIN, PROTOCOL_VERSION_MAX)
    """Lowest and highest version the client speaks, both inclusive."""
    client: ClientInfo = ClientInfo()
    wants: Annotated[tuple[f.ShortName, ...], Meta(max_length=f.FEATURES_MAX)] = ()
    """Features the client would use; the reply names those the server has."""


class Recall(_Request, frozen=True, kw_only=True, tag="recall"):
    """Which memories help with this turn? Answered by `recalled`, often with none, within `budget_ms`."""

    user: f.UserName
    session: f.SessionName
    text: f.TurnText = ""
    """The user's words; not read when `parts` are given."""
    turn_id: f.TurnId = ""
    parts: Annotated[tuple[TextPart, ...], Meta(max_length=f.PARTS_MAX)] = ()
    """The user's message with what the runtime put into it, told apart."""
    turns: Annotated[tuple[PastTurn, ...], Meta(max_length=f.TURNS_MAX)] = ()
    """Earlier turns, oldest first. Checked but not used in version 1: context for later ones. Nothing is ever stored
    from them."""
    scope: f.Scope | None = None
    """Null: every scope of the user. Otherwise this scope and the global one."""
    exclude: f.RecordIds = ()
    """Memories not to return, because the runtime shows them already."""
    budget_ms: f.BudgetMs | None = None
    max_items: Annotated[int, Meta(ge=1, le=f.RECALL_ITEMS_MAX)] | None = None
    """At most this many memories; null: as configured."""
    max_chars: Annotated[int, Meta(ge=1, le=f.RECALL_CHARS_MAX)] | None = None
    """At most this much text in all, in whole memories; null: as configured."""
    mode: f.RecallStyle = "auto"
    """`search`: the user asked to look something up, so less relevant memories come last instead of not at all."""
    now: f.TimeText | f.EpochMs | None = None
    """The user's present, where it is not the server's: RFC 3339 with an offset (or in `time_zone`), or epoch
    milliseconds. Checked but not used in version 1: context for later ones."""
    time_zone: f.TimeZoneName = ""
    """An IANA zone, such as Europe/Berlin. Checked but not used in version 1, except to read `now`."""
    explain: bool = False
    """Also send the candidates that were dropped."""


class Observe(_Request, frozen=True, kw_only=True, tag="observe"):
    """A turn that was said; the daemon decides whether to keep anything. Idempotent per user, session and turn_id."""

    user: f.UserName
    session: f.SessionName
    turn_id: Annotated[str, Meta(min_length=1, max_length=f.NAME_CHARS_MAX)]
    speaker: f.ShortName
    """`user`, `assistant`, `tool`, `system`, or the name of somebody else."""
    text: f.TurnText = ""
    """What was said; not read when `parts` are given."""
    parts: Annotated[tuple[TextPart, ...], Meta(max_length=f.PARTS_MAX)] = ()
    """The message with what the runtime put into it, told apart."""
    at: f.TimeText | f.EpochMs | None = None
    """When it was said: RFC 3339 with an offset (or in `time_zone`), or epoch milliseconds. Null: now."""
    time_zone: f.TimeZoneName = ""
    scope: f.Scope = ""


class Remember(_Request, frozen=True, kw_only=True, tag="remember"):
    """Store this, because somebody asked for it."""

    user: f.UserName
    text: f.MemoryText
    kind: f.Kind = "fact"
    scope: f.Scope = ""
    cues: f.Cues = ()
    """Headings the memory goes under."""
    asks: f.Asks = ()
    """Questions the memory answers."""
    expires_at: f.TimeText | f.EpochMs | None = None
    """RFC 3339 date or time (in `time_zone` when it has no offset), or epoch milliseconds. Null: never."""
    time_zone: f.TimeZoneName = ""
    session: f.SessionName = ""


class Forget(_Request, frozen=True, kw_only=True, tag="forget"):
    """Forget memories by ids, or all that contain every word of `query`. Exactly one of the two is given."""

    user: f.UserName
    ids: f.RecordIds = ()
    query: f.QueryText = ""
    hard: bool = False
    """Also overwrite the stored bytes, and what an earlier forgetting left of the memory."""
    dry_run: bool = False
    """Only say what would be forgotten."""
    purge: bool = False
    """Leave neither tombstone nor ledger row of the named memories; refused but for the daemon's own checks."""


class Get(_Request, frozen=True, kw_only=True, tag="get"):
    """One memory; answered by `memory`."""

    user: f.UserName
    memory_id: f.RecordId


class ListMemories(_Request, frozen=True, kw_only=True, tag="list"):
    """A page of live memories, newest first; answered by `memories`."""

    user: f.UserName
    scope: f.Scope | None = None
    kind: f.Kind | None = None
    contains: f.QueryText = ""
    """Only memories whose text contains this, literally, in any case."""
    limit: Annotated[int, Meta(ge=1, le=f.LIST_LIMIT_MAX)] = 50
    """At most this many; fewer when they would not fit a frame."""
    cursor: f.Cursor | None = None
    """As given by the page before."""


class Explain(_Request, frozen=True, kw_only=True, tag="explain"):
    """Why a decision went as it did; answered by `explanation`."""

    user: f.UserName
    decision_id: f.RecordId
    """A `recall_id` or a `decision_id` of an earlier reply."""


class Session(_Request, frozen=True, kw_only=True, tag="session"):
    """A session began, lost its earlier context, or ended: what is visible in it starts afresh. Answered by `ok`."""

    user: f.UserName
    session: f.SessionName
    event: f.SessionEventName


class Subscribe(_Request, frozen=True, kw_only=True, tag="subscribe"):
    """Events from now on; answered by `subscribed`, then any number of `event` with the same id."""

    events: Annotated[tuple[f.ShortName, ...], Meta(max_length=f.EVENT_NAMES_MAX)] = ()
    """Names to receive; empty: all."""
    user: f.UserName | None = None
    """Only events of this user and those of no user. Null: events of all users, where the peer may act for all."""


class Health(_Request, frozen=True, kw_only=True, tag="health"):
    """The daemon's state; answered by `health_report`."""

    deep: bool = False
    """Also score a real pair."""


class Stats(_Request, frozen=True, kw_only=True, tag="stats"):
    """Counters and latencies; answered by `stats_report`."""


class Ping(_Request, frozen=True, kw_only=True, tag="ping"):
    """Answered by `pong` as soon as it is read."""
