"""What a client may ask. Every request may leave out fields that have a default; unknown fields are ignored."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from recalld.protocol import decide_items as d
from recalld.protocol import fields as f
from recalld.protocol import portable_items as p
from recalld.protocol.items import ClientInfo, OfferedFact, PastTurn, TextPart
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
    """Features the client would use; the reply names those the server has. `extractor` lends the client's model."""


class Recall(_Request, frozen=True, kw_only=True, tag="recall"):
    """Which memories help with this turn? Answered by `recalled`, often with none, within `budget_ms`."""

    user: f.UserName
    session: f.SessionName
    text: f.TurnText = ""
    """The user's words; not read when `parts` are given."""
    turn_id: f.TurnId = ""
    parts: Annotated[tuple[TextPart, ...], Meta(max_length=f.PARTS_MAX)] = ()
    """The user's message with what the runtime put into it, told apart."""
    turns: Annotated[tuple[PastTurn, ...], Meta(max_length=f.TURNS_MAX)] | None = None
    """Earlier turns of the session, oldest first; empty at its start. Null: the runtime does not say, which is not the
    same. With them, a turn that asks only about what was just said is not searched for. Nothing is ever stored from
    them."""
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
    milliseconds. "Yesterday" is counted from here."""
    time_zone: f.TimeZoneName = ""
    """An IANA zone, such as Europe/Berlin, in which the user's days begin and end. Empty: UTC, and an expression of
    time then counts for half."""
    time: f.TimeUse = "boost"
    """What an expression of time in the user's words does. `boost`: memories of that time are looked for as well and
    come earlier. `filter`: only memories of that time are searched; needs `time_zone`."""
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
    """The user's, in which "until Friday" ends."""
    scope: f.Scope = ""
    candidates: Annotated[tuple[OfferedFact, ...], Meta(max_length=f.OFFERED_MAX)] = ()
    """What the runtime's own model found in the turn; each quotes the user's words."""
    injected: f.RecordIds = ()
    """Memories that the runtime has put before the user in this session, beside those it got from `recall`: what only
    repeats them is no news."""
    answers: Annotated[str, Meta(max_length=f.ID_CHARS_MAX)] = ""
    """The proposal that the runtime put to the user right before this turn: a bare yes or no answers it."""


class Confirm(_Request, frozen=True, kw_only=True, tag="confirm"):
    """The user's answer to a proposal; answered by `confirmed`. Not for the client that brought it."""

    user: f.UserName
    session: f.SessionName = ""
    """Without `proposal_id`: its latest live proposal is meant."""
    proposal_id: Annotated[str, Meta(max_length=f.ID_CHARS_MAX)] = ""
    accept: bool
    edited_text: Annotated[str, Meta(max_length=f.MEMORY_CHARS_MAX)] = ""
    """What to store instead; empty: as proposed."""


class ListProposals(_Request, frozen=True, kw_only=True, tag="proposals"):
    """A page of proposals, newest first; answered by `proposals`."""

    user: f.UserName
    state: f.ProposalStateName | None = None
    """Only those; null: all."""
    limit: Annotated[int, Meta(ge=1, le=f.LIST_LIMIT_MAX)] = 50
    cursor: f.Cursor | None = None
    """As given by the page before."""


class ListObservations(_Request, frozen=True, kw_only=True, tag="observations"):
    """A page of observations, the one made last first; answered by `observations`."""

    user: f.UserName
    limit: Annotated[int, Meta(ge=1, le=f.LIST_LIMIT_MAX)] = 50
    cursor: f.Cursor | None = None
    """As given by the page before."""


class GetLineage(_Request, frozen=True, kw_only=True, tag="lineage"):
    """Everything behind a memory, superseded ones too; answered by `lineage`."""

    user: f.UserName
    memory_id: f.RecordId


class Settle(_Request, frozen=True, kw_only=True, tag="settle"):
    """A person's word on an observation: a memory now, or never; answered by `settled`.

    Not for the client whose model found it. What is turned down comes back by an explicit save only.
    """

    user: f.UserName
    observation_id: f.RecordId
    accept: bool
    edited_text: Annotated[str, Meta(max_length=f.MEMORY_CHARS_MAX)] = ""
    """What to store instead; empty: as observed."""


class Export(_Request, frozen=True, kw_only=True, tag="export"):
    """A page of everything that is kept of a user; answered by `exported`.

    Memories come first, oldest first, then observations, then proposals.
    """

    user: f.UserName
    limit: Annotated[int, Meta(ge=1, le=p.PORTABLE_MAX)] = p.PORTABLE_MAX
    """At most this many; fewer when they would not fit a frame."""
    cursor: f.Cursor | None = None
    """As given by the page before."""
    waiting_only: bool = False
    """Only observations and proposals, those that wait no more included."""


class Import(_Request, frozen=True, kw_only=True, tag="import"):
    """Take over what was exported, or what another program stored; answered by `imported`. Twice changes nothing."""

    user: f.UserName
    """Whose it becomes, whoever it belonged to."""
    records: Annotated[tuple[p.Portable, ...], Meta(max_length=p.PORTABLE_MAX)]
    dry_run: bool = False
    """Only say what would become of each."""


class PurgeUser(_Request, frozen=True, kw_only=True, tag="purge_user"):
    """Leave nothing of a user behind: no memory, no tombstone, no ledger row; answered by `purged`."""

    user: f.UserName


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
    notes_query: f.QueryText = ""
    """Beside `ids`: turns that wait, observations and proposals with all these words go, too; with `query` they do."""


class Get(_Request, frozen=True, kw_only=True, tag="get"):
    """One memory; answered by `memory`."""

    user: f.UserName
    memory_id: f.RecordId


class ListMemories(_Request, frozen=True, kw_only=True, tag="list"):
    """A page of memories, live ones unless it says otherwise, newest first; answered by `memories`."""

    user: f.UserName
    scope: f.Scope | None = None
    kind: f.Kind | None = None
    contains: f.QueryText = ""
    """Only memories whose text contains this, literally, in any case."""
    limit: Annotated[int, Meta(ge=1, le=f.LIST_LIMIT_MAX)] = 50
    """At most this many; fewer when they would not fit a frame."""
    cursor: f.Cursor | None = None
    """As given by the page before."""
    without_asks: bool = False
    """Only memories that carry no asks."""
    superseded: bool = False
    """Memories that something newer took the place of, or ended, instead of live ones."""


class Update(_Request, frozen=True, kw_only=True, tag="update"):
    """Change what is known about a memory, but not its text; answered by `updated`. What is null stays as it is."""

    user: f.UserName
    memory_id: f.RecordId
    cues: f.Cues | None = None
    """Headings in place of those it has; an empty list takes them away."""
    asks: f.Asks | None = None
    """Questions in place of those it has; an empty list takes them away."""
    kind: f.Kind | None = None
    scope: f.Scope | None = None
    """Another project or context; an empty one: everywhere."""
    expires_at: f.TimeText | f.EpochMs | None = None
    """RFC 3339 date or time (in `time_zone` when it has no offset), or epoch milliseconds. An empty text: never."""
    time_zone: f.TimeZoneName = ""
    if_revision: f.Revision | None = None
    """Only if the memory still has this revision; `conflict` otherwise. Null: whatever it has."""


class Backfill(_Request, frozen=True, kw_only=True, tag="backfill"):
    """Have a lent model write cues and asks for memories that have no asks, newest first; answered by `backfilled`.

    One at a time for each user; a second one is answered `busy`.
    """

    user: f.UserName
    limit: Annotated[int, Meta(ge=1, le=f.BACKFILL_LIMIT_MAX)] = 10
    """Memories to ask about, at most; the reply may come before that when the time allowed is over."""
    dry_run: bool = False
    """Ask nobody and only count."""
    cursor: f.Cursor | None = None
    """As given by the reply before, so that memories that were passed over are not asked about again."""


class ExtractResult(_Request, frozen=True, kw_only=True, tag="extract_result"):
    """What a lent model answered to an `extract_request`. It has no reply, but for an `error` when nobody asked."""

    batch_id: f.BatchId
    """As in the `extract_request`. One that is unknown, or whose time is over, is passed over and counted."""
    reply: str = ""
    """The model's answer, unread. One that is longer than `reply_chars_max` is thrown away."""
    was_truncated: bool = False
    """Whether the model stopped at its token ceiling."""
    refused: bool = False
    """Whether the runtime will not answer; `reply` is not read then."""


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


class Standing(_Request, frozen=True, kw_only=True, tag="standing"):
    """The standing preferences and conventions of a user, for the start of a session; answered by `standing_block`."""

    user: f.UserName
    session: f.SessionName
    """It is given a block once, and again after `compacted` or `started`. The empty session: each time."""
    scope: f.Scope = ""
    """Memories of this scope and of the global one; empty: the global ones alone."""
    max_chars: Annotated[int, Meta(ge=1, le=f.STANDING_CHARS_MAX)] | None = None
    """At most this many characters, a line break between entries included; null: as configured."""
    again: bool = False
    """Give it although the session has had it: the reply was lost, or the context was built anew."""
    explain: bool = False
    """Also send how every candidate was judged."""


class SetStanding(_Request, frozen=True, kw_only=True, tag="set_standing"):
    """What a person decided about a live memory and the standing block; answered by `standing_set`."""

    user: f.UserName
    memory_id: f.RecordId
    action: f.StandingActionName
    """`pin`: first in the block, whatever its outcomes and kind. `unpin`: undo that. `demote`: take it out, but for a
    pointer. `restore`: forget what was decided, and for this block also what was reported: a preference or a convention
    stands as on its first day, a memory of another kind no longer stands."""


class NoteAudit(_Request, frozen=True, kw_only=True, tag="note_audit"):
    """Say that a person just went through the newest memories; answered by `ok`. It counts for the whole database."""

    user: f.UserName
    """Whose were looked at."""


class ListSamples(_Request, frozen=True, kw_only=True, tag="samples"):
    """Decisions that were kept by chance for a person to judge, the newest first; answered by `samples`."""

    user: f.UserName
    kinds: Annotated[tuple[f.SampleKindName, ...], Meta(max_length=f.SAMPLE_KINDS_MAX)] = ()
    """Of these kinds; empty: of all."""
    marked: bool = False
    """Those that were marked; else those that were not, and can still be judged."""
    limit: Annotated[int, Meta(ge=1, le=f.LIST_LIMIT_MAX)] = 50


class MarkSample(_Request, frozen=True, kw_only=True, tag="mark_sample"):
    """Say what a person thinks of a sample; answered by `ok`. A later mark takes the place of an earlier one."""

    user: f.UserName
    sample_id: f.RecordId
    answer: f.SampleAnswerName | None
    """Whether what the kind of the sample asks is so; null: take the mark back."""
    by: Annotated[str, Meta(max_length=f.MARKED_BY_CHARS_MAX)] = ""
    """Who says it: a person's name, or a model's. Empty: the name of the client."""


class Outcome(_Request, frozen=True, kw_only=True, tag="outcome"):
    """What became of what a decision showed; answered by `ok`. Idempotent per decision, item and result.

    Outcomes are measured, and rank the standing block; they never change what a recall finds. Exactly one of
    `recall_id` and `decision_id` is given.
    """

    user: f.UserName
    result: f.OutcomeName
    """`used`: the answer rested on it. `ignored`: it made no difference. `harmful`: it led astray. `missed`: it was not
    shown, and the turn went wrong for want of it."""
    recall_id: f.RecordId | None = None
    """Of a `recalled`."""
    decision_id: f.RecordId | None = None
    """Of a `standing_block`, or of another reply."""
    item_id: f.RecordId | None = None
    """One of the items shown; for `missed`, a memory that was not. Null: the decision as a whole, which counts for no
    memory."""
    at: f.TimeText | f.EpochMs | None = None
    """When it turned out so: RFC 3339 with an offset (or in `time_zone`), or epoch milliseconds. Null: now."""
    time_zone: f.TimeZoneName = ""


class Outcomes(_Request, frozen=True, kw_only=True, tag="outcomes"):
    """What was reported on a memory or on a decision; exactly one is given. Answered by `outcome_report`."""

    user: f.UserName
    memory_id: f.RecordId | None = None
    decision_id: f.RecordId | None = None


class Decide(_Request, frozen=True, kw_only=True, tag="decide"):
    """May this be done, and how? Any gate as a service; answered by `decision`. Nothing of the request is stored."""

    op: d.DecideOpName
    user: f.UserName
    profile: f.ShortName = ""
    """Which gate decides; empty: the operation's own. `recalld gates` lists them."""
    session: f.SessionName = ""
    """The empty session has no memory of what was shown in it."""
    turn_id: f.TurnId = ""
    """Within a turn of a session the same question is decided once; a model's answer may be added later."""
    scope: d.DecideScope = d.DecideScope()
    text: f.TurnText = ""
    """The user's words; not read when `parts` are given."""
    parts: Annotated[tuple[TextPart, ...], Meta(max_length=f.PARTS_MAX)] = ()
    """The user's message with what the runtime put into it, told apart."""
    turns: Annotated[tuple[PastTurn, ...], Meta(max_length=f.TURNS_MAX)] | None = None
    """Earlier turns, oldest first. Null: not supplied, which is not the same as none."""
    now: f.TimeText | f.EpochMs | None = None
    """The user's present: RFC 3339 with an offset (or in `time_zone`), or epoch milliseconds. Null: the server's."""
    time_zone: f.TimeZoneName = ""
    """An IANA zone, such as Europe/Berlin. Without it no expression of time is looked for."""
    budget_ms: Annotated[int, Meta(ge=1, le=f.BUDGET_MS_MAX)] | None = None
    """Milliseconds the decision may take; null: 5,000."""
    candidates: Annotated[tuple[d.DecideCandidate, ...], Meta(max_length=d.CANDIDATES_MAX)] = ()
    """What it is about, in the caller's order."""
    sweep: d.SweepArguments = d.SweepArguments()
    stage: d.ReadStageName | None = None
    """How far a staged search has come."""
    call_shape: d.CallShapeName | None = None
    """Whether the candidates were scored one a call or several."""
    model: d.ModelReport | None = None
    """What the caller's own model said; null: it was not asked."""
    probe_answers: Annotated[tuple[d.ProbeAnswer, ...], Meta(max_length=f.PARTS_MAX)] = ()
    """What the runtime found about claims that an earlier `decision` asked it to look at."""
    declined: Annotated[tuple[d.CandidateName, ...], Meta(max_length=d.CANDIDATES_MAX)] = ()
    """Candidates of this request that the user waved away."""
    wanted_files: Annotated[
        tuple[Annotated[str, Meta(max_length=d.PATH_CHARS_MAX)], ...], Meta(max_length=d.FILES_MAX)
    ] = ()
    """Files that the body of a skill refers to and that are needed now."""
    usage: d.Counts = {}
    counters: d.Counts = {}
    explicit: Annotated[tuple[d.ArgumentName, ...], Meta(max_length=16)] = ()
    """Arguments that the caller gave and no default filled in; only these limit a sweep."""


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
    """Counters and latencies since start, and what the ledger counted over a window; answered by `stats_report`."""

    user: f.UserName | None = None
    """Only what was decided for this user. Null: for all users, where the peer may act for all. Counters and latencies
    since start are always those of the whole daemon."""
    days: Annotated[int, Meta(ge=1, le=f.DAYS_MAX)] | None = None
    """Also report on the last so many days. Null: only what was counted since start, which any peer may see."""
    ever: bool = False
    """Also report on everything that was ever counted, for monitoring: of all users these counts never go down. Not
    beside `days`."""


class Ping(_Request, frozen=True, kw_only=True, tag="ping"):
    """Answered by `pong` as soon as it is read."""
