"""Reasons in words: what a person reads where a program reads an enum value.

The empty answers are told apart on purpose: nothing stored, nothing near, nothing relevant and something broken call
for different things to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from recalld.models.domain.reasons import (
    AdmissionReason,
    DegradedReason,
    DropReason,
    RecallMode,
    RecallReason,
    RememberOutcome,
)

RECALL_REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        RecallReason.RELEVANT: "judged relevant",
        RecallReason.PASSED_FLOOR: "near enough; no gate judged them",
        RecallReason.NOTHING_STORED: "Nothing is stored for this user yet.",
        RecallReason.NO_CANDIDATES: "Nothing stored comes near this, neither by words nor by meaning.",
        RecallReason.EMBEDDING_PENDING: "No word matches, and what is stored is not embedded yet; try again soon.",
        RecallReason.BELOW_FLOOR: "Nothing stored is similar enough to be worth a closer look.",
        RecallReason.GATED: "Some memories come near, but none of them is relevant to this.",
        RecallReason.EXCLUDED: "What fits was shown in this session, was excluded, or belongs to another scope.",
        RecallReason.NO_USER_TEXT: "There are no words of the user to search for.",
        RecallReason.NO_SEARCHABLE_TERMS: "Not searched: there is only punctuation, and nothing to look for.",
        RecallReason.ACKNOWLEDGEMENT: "Not searched: this only acknowledges.",
        RecallReason.SLASH_COMMAND: "Not searched: this is a command to the runtime.",
        RecallReason.ARITHMETIC: "Not searched: this is arithmetic.",
        RecallReason.TOO_SHORT: "Not searched: there is nothing in it to look for.",
        RecallReason.ANSWERED_IN_HISTORY: "Not searched: this asks about what was just said.",
        RecallReason.NOT_NEEDED: "Not searched: the runtime's model found that no memory is needed.",
        RecallReason.WEAK_EVIDENCE: "Not searched: nothing speaks for it, and the turn gate is set to close then.",
        RecallReason.TURN_GATE_FAILED: "Not searched: the turn gate could not decide and is set to close then.",
        RecallReason.OVER_LIMITS: "What was found does not fit the limits on items and characters.",
        RecallReason.DEGRADED: "Only words could be searched, and they led nowhere; something may well be stored.",
        RecallReason.STORE_UNREADABLE: "The database cannot be read; `recalld doctor` says why.",
        RecallReason.ENVELOPE_EXCEEDED: "The time allowed was over before anything was found; see --budget-ms.",
        RecallReason.RECALL_FAILED: "The recall failed inside the daemon; its log and `recalld events` name the cause.",
        RecallReason.BUSY: "More recalls are under way than can be answered in time; try again in a moment.",
        RecallReason.DRAINING: "The daemon is stopping; try again once it has restarted.",
    }
)

DEGRADED_REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        DegradedReason.GATE_DISABLED_BY_CONFIG: "the gate is switched off in the configuration",
        DegradedReason.NO_SCORER_CONFIGURED: "no relevance model is configured",
        DegradedReason.SCORER_UNAVAILABLE: "the relevance model is not loaded; see `recalld models list`",
        DegradedReason.SUB_BUDGET_EXCEEDED: "the gate ran out of its share of the time",
        DegradedReason.ENVELOPE_EXCEEDED: "the recall ran out of time",
        DegradedReason.QUEUE_FULL: "more waits for the models than they can do in time",
        DegradedReason.BREAKER_OPEN: "the relevance model failed repeatedly and is left alone for a while",
        DegradedReason.SCORE_FAILED: "the relevance model failed",
        DegradedReason.GATE_UNCALIBRATED: "the gate has no calibration that fits this model",
        DegradedReason.OUT_OF_DOMAIN: "the gate was not calibrated for text like this",
        DegradedReason.EMBEDDER_UNAVAILABLE: "the embedding model is not loaded; see `recalld models list`",
        DegradedReason.EMBED_TIMEOUT: "embedding the turn took too long",
        DegradedReason.EMBED_FAILED: "the embedding model failed",
        DegradedReason.STORE_UNREADABLE: "the database cannot be read",
        DegradedReason.RECALL_FAILED: "the recall failed inside the daemon",
        DegradedReason.DRAINING: "the daemon is stopping",
    }
)

DROP_REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        DropReason.BELOW_FLOOR: "not similar enough",
        DropReason.BELOW_THRESHOLD: "not relevant",
        DropReason.BEHIND_BEST: "far behind the best",
        DropReason.BUDGET: "not judged in time",
        DropReason.OVER_MAX_ITEMS: "over --max-items",
        DropReason.OVER_MAX_CHARS: "too long to fit",
        DropReason.ALREADY_VISIBLE: "shown already",
        DropReason.EXCLUDED_BY_CALLER: "excluded",
        DropReason.OWN_TEXT: "repeats the turn",
        DropReason.WRONG_SCOPE: "other scope",
        DropReason.NOT_LIVE: "no longer live",
    }
)

ADMISSION_REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        AdmissionReason.EXPLICIT_SAVE: "asked for explicitly",
        AdmissionReason.DUPLICATE: "stored already",
        AdmissionReason.NOT_EXPLICIT: "nothing asked for remembering",
        AdmissionReason.NOT_USER_SPEAKER: "not said by the user",
        AdmissionReason.REFUSED_IN_COMMAND: "the command itself said not to save",
        AdmissionReason.QUESTION: "a question",
        AdmissionReason.NO_USER_TEXT: "no words of the user",
        AdmissionReason.TOO_LONG: "too long",
        AdmissionReason.TOMBSTONED: "forgotten on purpose before",
    }
)

FORGET_REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "requested": "asked for, and gone",
        "not_found": "nothing of what was to be forgotten was there",
    }
)

REMEMBER_OUTCOMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        RememberOutcome.CREATED: "Remembered",
        RememberOutcome.DUPLICATE: "Known already, nothing changed",
        RememberOutcome.UPDATED: "Known already, brought up to date",
    }
)

MODES: Final[Mapping[str, str]] = MappingProxyType(
    {
        RecallMode.GATED: "judged by the relevance gate",
        RecallMode.FLOOR_ONLY: "by similarity only",
        RecallMode.LEXICAL_ONLY: "by words only",
        RecallMode.EMPTY: "no search",
    }
)

_ALL: Final = (RECALL_REASONS, ADMISSION_REASONS, FORGET_REASONS, REMEMBER_OUTCOMES)


def in_words(value: str, vocabulary: Mapping[str, str]) -> str:
    """The words for an enum value; the value itself when a newer daemon sent one that is not known here."""
    return vocabulary.get(value, value.replace("_", " "))


def reason_in_words(value: str) -> str:
    """The words for the reason of a ledger row, whatever it decided about."""
    return next((words[value] for words in _ALL if value in words), value.replace("_", " "))


def counted(count: int, noun: str) -> str:
    """A count with its noun, such as `1 user` or `2 users`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def age_in_words(age_s: float) -> str:
    """An age such as `3 d`; the largest unit that gives at least one."""
    for unit, seconds in (("y", 365 * 86_400), ("d", 86_400), ("h", 3_600), ("min", 60)):
        if age_s >= seconds:
            return f"{int(age_s // seconds)} {unit}"
    return "now"
