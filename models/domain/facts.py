"""Facts on their way to becoming memories: what a generator found in a turn, and what the policy ruled about it."""

from __future__ import annotations

import enum

import msgspec

from recalld.models.domain.reasons import AdmissionReason
from recalld.models.domain.records import MemoryKind


class Generator(enum.StrEnum):
    """What found a fact in a turn."""

    RULE = "rule"
    """A slot rule over the user's own words."""
    JUDGE = "judge"
    """The local judge: a linear classifier over a sentence's embedding and its flags."""
    MODEL = "model"
    """A language model: the runtime's own, a lent one, or a configured endpoint."""
    EXPLICIT = "explicit"
    """The user's command to remember."""
    CONFIRMED = "confirmed"
    """The user's yes to a proposal."""


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the user's own words in a turn: characters from `start` up to and not including `end`."""

    start: int
    end: int


class FactCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """One fact that a generator found. The policy may remove or downgrade it, and never adds to it.

    Attributes:
        statement: What would be stored, self-contained.
        kind: What sort of memory it would be.
        quote: The user's own words for it, literally. A model's candidate must bring one that a user's turn holds.
        span: Where the quote stands in the user's own words of the turn; None until it was looked for.
        generator: What found it.
        rule: Which rule, model or calibration record found it, such as `editor/uses`.
        score: How sure the generator is, as it counts (the judge: log-odds); None where it does not say.
        slot: What it states a value of, such as `employer`; empty: no slot, and then it supersedes nothing.
        subject: Whose slot it is; empty: the user's own.
        value: The slot's value, as said; empty where the statement names none.
        is_ending: It says that the slot's value holds no more ("I no longer work at Initech"), and names no new one.
        expires_at_ms: When it stops holding, Unix epoch milliseconds; None: it is meant to last.
        cues: Headings for the record.
        asks: Questions the record answers.
        scope: Where it holds, for what says so itself; None: where its turn does.
    """

    statement: str
    kind: MemoryKind = MemoryKind.FACT
    quote: str = ""
    span: Span | None = None
    generator: Generator
    rule: str
    score: float | None = None
    slot: str = ""
    subject: str = ""
    value: str = ""
    is_ending: bool = False
    expires_at_ms: int | None = None
    cues: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    scope: str | None = None


class Disposition(enum.StrEnum):
    """What becomes of a candidate, best first. A stage of the pipeline only ever moves down it."""

    RECORD = "record"
    PROPOSE = "propose"
    """It waits for the user's yes."""
    OBSERVE = "observe"
    """It is noted as evidence; enough of it makes a record."""
    DROP = "drop"


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """What the policy ruled about one candidate.

    Attributes:
        candidate: As it came, with what the rules found out about it, such as its expiry.
        disposition: What becomes of it.
        reason: Why: the reason of the rule that decided.
        rule: Which rule of the policy decided, such as `modality` or `secrets`.
        evidence: The words that decided, as the user said them, at most a few; empty where none did.
    """

    candidate: FactCandidate
    disposition: Disposition
    reason: AdmissionReason
    rule: str
    evidence: tuple[str, ...] = ()
