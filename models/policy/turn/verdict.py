"""What the turn gate answers, and what it saw."""

from __future__ import annotations

import enum

import msgspec

from recalld.models.domain.reasons import RecallReason
from recalld.models.policy.temporal.time_span import TimeSpan
from recalld.models.policy.turn.cues import CueMatch
from recalld.models.policy.turn.directions import GateAnswer, GateCause
from recalld.models.policy.turn.references import Reference


class TurnRule(enum.StrEnum):
    """Which rule decided, in the order in which they are tried."""

    NO_USER_TEXT = "no_user_text"
    NO_SEARCHABLE_TERMS = "no_searchable_terms"
    SLASH_COMMAND = "slash_command"
    ARITHMETIC = "arithmetic"
    ACKNOWLEDGEMENT = "acknowledgement"
    HISTORY_CUE = "history_cue"
    TIME_EXPRESSION = "time_expression"
    KNOWN_ENTITY = "known_entity"
    TOO_SHORT = "too_short"
    ANSWERED_IN_HISTORY = "answered_in_history"
    REFERENCE = "reference"
    STORE_PROBE = "store_probe"
    MODEL = "model"
    DEFAULT = "default"
    """No rule spoke: the direction for weak evidence."""
    ERROR_PATH = "error_path"
    """Something failed or was missing: the direction for that cause."""


class TurnEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate saw; empty for a turn that one of the first five rules decided.

    Attributes:
        languages: Whose word lists were used.
        cues: History cues, families switched off left out.
        spans: Expressions of time, with the intervals they mean.
        terms: The salient terms: what a store probe asks for.
        posted: Those with a posting in the user's store.
        entities: Names the store knows and the message mentions.
        reference: Why the message leans on the turns before it, if there are any.
        local_references: Phrases that point at the last turns.
        model_reason: The model's own words.
    """

    languages: tuple[str, ...] = ()
    cues: tuple[CueMatch, ...] = ()
    spans: tuple[TimeSpan, ...] = ()
    terms: tuple[str, ...] = ()
    posted: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    reference: Reference | None = None
    local_references: tuple[str, ...] = ()
    model_reason: str = ""

    @property
    def times(self) -> tuple[str, ...]:
        """The expressions of time, as written."""
        return tuple(span.text for span in self.spans)


class TurnGateVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether to recall for this turn."""

    answer: GateAnswer
    """Run, skip, and with other directions than recall's own also defer and refuse."""
    reason: RecallReason | None
    """Why not; None when it runs."""
    user_text: str
    """The user's own words, host text removed."""
    query: str = ""
    """What to look for: the part of the user's own words that is read, or a model's query; never blank when it runs."""
    query_fallback: bool = False
    """The model decided to run but gave no usable query, so the message stands in for it."""
    decided_by: TurnRule
    cause: GateCause | None = None
    """What kept the gate from deciding, or what failed on the way to a decision by another rule."""
    evidence: TurnEvidence = TurnEvidence()

    @property
    def run(self) -> bool:
        """Whether to recall."""
        return self.answer is GateAnswer.RUN

    @property
    def is_open(self) -> bool:
        """Whether no rule and no model decided: the store, then a model may still be asked."""
        return self.decided_by in {TurnRule.DEFAULT, TurnRule.ERROR_PATH}
