"""Types of fields, with their limits: what no request may exceed.

Lengths of strings count Unicode code points. Limits hold for what a client sends; replies are bounded by the frame.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

FRAME_BYTES_MAX = 1 << 20
"""Longest body of a frame. Small on purpose: a typed decode of a full frame stays within milliseconds."""

REQUEST_ID_MAX = (1 << 32) - 1
USER_CHARS_MAX = 256
NAME_CHARS_MAX = 256
ID_CHARS_MAX = 64
TURN_CHARS_MAX = 65_536
MEMORY_CHARS_MAX = 8_000
CUES_MAX = 3
CUE_CHARS_MAX = 120
ASKS_MAX = 4
ASK_CHARS_MAX = 240
SCOPE_CHARS_MAX = 256
PARTS_MAX = 64
TURNS_MAX = 32
IDS_MAX = 1_000
EVENT_NAMES_MAX = 32
FEATURES_MAX = 32
QUERY_CHARS_MAX = 1_000
CURSOR_CHARS_MAX = 512
BACKFILL_LIMIT_MAX = 100
TIME_CHARS_MAX = 64
BUDGET_MS_MAX = 60_000
RECALL_ITEMS_MAX = 20
"""A full recall must fit a frame: 20 memories of 8,000 four-byte characters are 640 kB."""
RECALL_CHARS_MAX = 160_000
LIST_LIMIT_MAX = 100
STANDING_CHARS_MAX = 8_000
OFFERED_MAX = 32
"""Facts that may be offered with a turn: a turn that states more is a document."""
QUOTE_CHARS_MAX = 2_000
SLOT_CHARS_MAX = 64
DAYS_MAX = 3_650
SAMPLE_KINDS_MAX = 16
MARKED_BY_CHARS_MAX = 128
EPOCH_MS_MAX = 253_402_300_799_999
"""The last millisecond of the year 9999."""

RequestId = Annotated[int, Meta(ge=0, le=REQUEST_ID_MAX, description="Chosen by the client; its reply carries it.")]
UserName = Annotated[
    str, Meta(min_length=1, max_length=USER_CHARS_MAX, description="Whose memories; compared by exact bytes.")
]
SessionName = Annotated[str, Meta(max_length=NAME_CHARS_MAX, description="The runtime's session.")]
TurnId = Annotated[str, Meta(max_length=NAME_CHARS_MAX, description="The runtime's name for a turn.")]
ShortName = Annotated[str, Meta(max_length=NAME_CHARS_MAX)]
RecordId = Annotated[str, Meta(min_length=1, max_length=ID_CHARS_MAX)]
Scope = Annotated[str, Meta(max_length=SCOPE_CHARS_MAX, description="A project or context; empty: everywhere.")]
TurnText = Annotated[str, Meta(max_length=TURN_CHARS_MAX)]
MemoryText = Annotated[str, Meta(min_length=1, max_length=MEMORY_CHARS_MAX)]
OfferedText = Annotated[str, Meta(description="Of a candidate; checked for each candidate by itself.")]
Cues = Annotated[tuple[Annotated[str, Meta(max_length=CUE_CHARS_MAX)], ...], Meta(max_length=CUES_MAX)]
Asks = Annotated[tuple[Annotated[str, Meta(max_length=ASK_CHARS_MAX)], ...], Meta(max_length=ASKS_MAX)]
Revision = Annotated[int, Meta(ge=1, le=(1 << 53) - 1)]
RecordIds = Annotated[tuple[RecordId, ...], Meta(max_length=IDS_MAX)]
QueryText = Annotated[str, Meta(max_length=QUERY_CHARS_MAX)]
Cursor = Annotated[str, Meta(max_length=CURSOR_CHARS_MAX)]
TimeText = Annotated[str, Meta(max_length=TIME_CHARS_MAX, description="RFC 3339.")]
EpochMs = Annotated[int, Meta(ge=0, le=EPOCH_MS_MAX, description="Unix epoch milliseconds, UTC.")]
TimeZoneName = Annotated[str, Meta(max_length=TIME_CHARS_MAX, description="An IANA zone, such as Europe/Berlin.")]
BudgetMs = Annotated[int, Meta(ge=1, le=BUDGET_MS_MAX, description="Milliseconds the whole recall may take.")]
Kind = Literal["fact", "preference", "convention", "procedure", "entity", "note"]
RecallStyle = Literal["auto", "search"]
TimeUse = Literal["boost", "filter"]
SessionEventName = Literal["started", "compacted", "ended"]
PartRole = Literal["user", "synthetic", "host"]
BatchId = Annotated[str, Meta(min_length=1, max_length=ID_CHARS_MAX, description="The server's name for one question.")]
OutcomeName = Literal["used", "ignored", "harmful", "missed"]
StandingActionName = Literal["pin", "unpin", "demote", "restore"]
SampleKindName = Literal["gate_drop", "injection", "turn_skip", "turn_search", "write_drop", "record"]
SampleAnswerName = Literal["yes", "no", "unsure"]
ProposalStateName = Literal["pending", "accepted", "rejected", "expired"]
