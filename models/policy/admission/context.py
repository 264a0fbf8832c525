"""What the policy knows about the turn that its candidates come from."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from recalld.models.domain.admission import Speaker
from recalld.models.domain.position import Position
from recalld.models.policy.save_turn import SaveTurn


class AdmissionContext(msgspec.Struct, frozen=True, kw_only=True):
    """A turn, who said it and when, what the user had been shown before, and what the deployment allows.

    Attributes:
        turn: The user's own words, secrets redacted before they were prepared; see `secrets.redact`.
        speaker: Who said it.
        said: The turn as it was sent, secrets redacted; empty if unknown. Only for saying why a quote is not among the
            user's own words.
        at_ms: When it was said, Unix epoch milliseconds: "until Friday" counts from here.
        zone: The user's IANA time zone; empty: unknown.
        now_ms: The present, Unix epoch milliseconds: what is over by now is not stored.
        injected: What memory put before the user in this session, text by id.
        previous_answer: What the assistant had said before; empty if unknown.
        position: Which generators may write.
        judge_strict: The judge's score (log-odds) from which on its find may be a record; None: never.
    """

    turn: SaveTurn
    speaker: Speaker = Speaker.USER
    said: str = ""
    at_ms: int
    zone: str = ""
    now_ms: int
    injected: Mapping[str, str] = MappingProxyType({})
    previous_answer: str = ""
    position: Position = Position.BALANCED
    judge_strict: float | None = None
