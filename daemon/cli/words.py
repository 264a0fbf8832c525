"""Reasons in words: what a person reads where a program reads an enum value.

The empty answers are told apart on purpose: nothing stored, nothing near, nothing relevant and something broken call
for different things to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from recalld.models.domain.admission_store import FactOutcome, ProposalState
from recalld.models.domain.audit_samples import SampleAnswer, SampleKind
from recalld.models.domain.cues import BackfillEnd, BackfillFailure, UpdateReason
from recalld.models.domain.drift import GateName, Reference
from recalld.models.domain.facts import Generator
from recalld.models.domain.outcomes import OutcomeResult
from recalld.models.domain.reasons import (
    AdmissionReason,
    DegradedReason,
    DropReason,
    Op,
    RecallMode,
    RecallReason,
    RememberOutcome,
)
from recalld.models.domain.recall import RecallLimit
from recalld.models.domain.records import MemorySource, TextOrigin
from recalld.models.domain.standing import StandingChoice, StandingReason, StandingVerdict, StandingWord
from recalld.models.domain.user_data import ImportOutcome
from recalld.models.policy.cue_reply import CueReplyFault

RECALL_REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        RecallReason.RELEVANT: "judged relevant",
        RecallReason.PASSED_FLOOR: "near enough; no gate judged them",
        RecallReason.NOTHING_STORED: "Nothing is stored for this user yet.",
        RecallReason.NO_CANDIDATES: "Nothing stored comes near this, neither by words nor by meaning.",
        RecallReason.EMBEDDING_PENDING: "Stored but not embedded yet, and no word matches; ask again in a moment.",
        RecallReason.BELOW_FLOOR: "Nothing stored is similar enough to be worth a closer look.",
        RecallReason.GATED: "Some memories come near, but none of them is relevant to this.",
        RecallReason.EXCLUDED: "What fits was shown in this session, was excluded, or belongs to another scope.",
        RecallReason.IN_INTERVAL: "from the time asked about; no gate judged them",
        RecallReason.NOTHING_IN_INTERVAL: "Nothing is stored from the time this speaks of.",
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
        RecallReason.SHADOW: "Shadow mode is on, so nothing is handed over here, whatever the gates decided.",
        RecallReason.OVER_LIMITS: "What was found does not fit the limits on items and characters.",
        RecallReason.DEGRADED: "Only words could be searched, and they led nowhere; something may well be stored.",
        RecallReason.STORE_UNREADABLE: "The database cannot be read; `recalld doctor` says why.",
        RecallReason.ENVELOPE_EXCEEDED: "The time allowed was over before anything was found; see --budget-ms.",
        RecallReason.RECALL_FAILED: "The recall failed inside the daemon; its log and `recalld events` name the cause.",
        RecallReason.BUSY: "More recalls are under way than can be answered in time; try again in a moment.",
        RecallReason.DRAINING: "The daemon is stopping; try again once it has restarted.",
    }
)

SPECIAL_WAYS_IN: Final[Mapping[str, str]] = MappingProxyType(
    {
        "below_threshold": "less relevant",
        "by_evidence": "recalled, unscored",
        "mentioned": "mentioned",
        "brought_along": "brought along",
    }
)
"""What an item's `why` says when it was not judged relevant and is handed over all the same."""

WAYS_IN: Final[Mapping[str, str]] = MappingProxyType(
    {
        "passed_gate": "judged relevant",
        "by_evidence": "relevant by its other evidence, not scored in time",
        "below_threshold": "less relevant",
        "mentioned": "named by the turn",
        "brought_along": "brought along",
        "in_interval": "from the time asked about",
        "passed_floor": "near enough but not judged",
        "matched_words": "matched by words but not judged",
    }
)
"""How an item came in, by its `why`: for counting what a recall handed over."""

RECALL_LIMITS: Final[Mapping[str, str]] = MappingProxyType(
    {
        RecallLimit.LEXICAL_LIMIT: "more match by their words",
        RecallLimit.VECTOR_LIMIT: "more are similar",
        RecallLimit.TIME_LIMIT: "more are of that time",
        RecallLimit.CANDIDATES_MAX: "not all could be judged",
        RecallLimit.BUDGET: "the time to judge ran out",
        RecallLimit.MAX_ITEMS: "more passed than may be handed over",
        RecallLimit.MAX_CHARS: "some that passed were too long",
    }
)

GATE_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        GateName.TURN: "turn gate",
        GateName.RELEVANCE: "relevance gate",
        GateName.WRITE: "write gate",
    }
)
"""The gates that drift looks at."""

SAMPLE_QUESTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        SampleKind.GATE_DROP: "held back; should it have been recalled?",
        SampleKind.INJECTION: "recalled; was it relevant?",
        SampleKind.TURN_SKIP: "not searched for; should memory have been searched?",
        SampleKind.TURN_SEARCH: "searched for; did this need memory?",
        SampleKind.WRITE_DROP: "nothing was kept; should something of it have been?",
        SampleKind.RECORD: "kept as a memory; is it right?",
    }
)
"""What an audit asks of each kind of sample."""

SAMPLE_ANSWERS: Final[Mapping[str, str]] = MappingProxyType(
    {SampleAnswer.YES: "yes", SampleAnswer.NO: "no", SampleAnswer.UNSURE: "unsure"}
)

DRIFT_REFERENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        Reference.EARLIER: "the decisions before",
        Reference.CALIBRATION: "the calibration's own data",
        Reference.SHIPPED_CALIBRATION: "the shipped calibration's data",
    }
)
"""What newest decisions are compared with."""

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
        DropReason.OUTRANKED: "many others were nearer",
        DropReason.OUT_OF_INTERVAL: "not of that time",
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
        AdmissionReason.STATED: "said plainly by the user",
        AdmissionReason.JUDGED: "the local judge is sure that it lasts",
        AdmissionReason.MODEL_FOUND: "a model found it in the user's words",
        AdmissionReason.CONFIRMED: "confirmed by the user",
        AdmissionReason.PROMOTED: "observed often enough",
        AdmissionReason.CORRECTION: "corrects or ends what was stored",
        AdmissionReason.DUPLICATE: "stored already",
        AdmissionReason.WEAK_EVIDENCE: "noted until more turns say the same",
        AdmissionReason.SHADOW: "only noted: the write gate is in shadow mode",
        AdmissionReason.NEEDS_CONFIRMATION: "waits for the user's yes",
        AdmissionReason.RATION_USED: "the user was asked enough already",
        AdmissionReason.DECLINED: "the user said no to it",
        AdmissionReason.NOT_EXPLICIT: "no command to remember",
        AdmissionReason.NOTHING_STATED: "nothing worth keeping was stated",
        AdmissionReason.NOT_USER_SPEAKER: "not said by the user",
        AdmissionReason.NOT_USER_STATED: "the quoted words are not the user's",
        AdmissionReason.REFUSED_IN_COMMAND: "the command itself said not to save",
        AdmissionReason.FORGET_REQUEST: "the user asks to have something forgotten",
        AdmissionReason.IMPOSSIBLE_DATE: "it ends on a day that does not exist",
        AdmissionReason.PRIVATE: "marked as private",
        AdmissionReason.QUESTION: "a question",
        AdmissionReason.REQUEST: "something to do once",
        AdmissionReason.NEGATED: "says only what is not so",
        AdmissionReason.HYPOTHETICAL: "only supposed",
        AdmissionReason.PAST: "held once, no longer",
        AdmissionReason.GUESS: "the user is not sure of it",
        AdmissionReason.QUOTATION: "somebody else's words",
        AdmissionReason.FICTION: "part of a story",
        AdmissionReason.THIRD_PERSON: "about somebody else",
        AdmissionReason.SITUATIONAL: "holds for a while, and nothing says until when",
        AdmissionReason.EXPIRED: "over already",
        AdmissionReason.CAPABILITY_CLAIM: "about what the assistant can do",
        AdmissionReason.SECRET: "holds a secret",
        AdmissionReason.INJECTION: "instructs the assistant for somebody else",
        AdmissionReason.UNREAD_LANGUAGE: "in a language that the rules cannot read",
        AdmissionReason.ECHO: "repeats what memory had shown",
        AdmissionReason.OVER_CAPACITY: "the user's memory is full",
        AdmissionReason.POSITION: "found by a gate that may not write here",
        AdmissionReason.NO_USER_TEXT: "no words of the user",
        AdmissionReason.TOO_LONG: "too long",
        AdmissionReason.UNREADABLE_CANDIDATE: "a field of the candidate cannot be read",
        AdmissionReason.TOMBSTONED: "forgotten on purpose before",
    }
)

FORGET_REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "requested": "asked for, and gone",
        "not_found": "nothing of what was to be forgotten was there",
    }
)

UPDATE_REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        UpdateReason.EDITED: "somebody asked for this change",
        UpdateReason.BACKFILLED: "a runtime's model wrote headings and questions",
    }
)

TEXT_ORIGINS: Final[Mapping[str, str]] = MappingProxyType(
    {
        TextOrigin.GIVEN: "",
        TextOrigin.RULE: "  (added automatically)",
        TextOrigin.MODEL: "  (written by a lent model)",
    }
)
"""What is said behind a heading or a question."""

BACKFILL_ENDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        BackfillEnd.DONE: "No memory is left that was not looked at.",
        BackfillEnd.LIMIT: "As many memories as were asked for were looked at.",
        BackfillEnd.TIME: "The model takes longer for one memory than the daemon waits; lend a faster one.",
        BackfillEnd.NO_RUNTIME: (
            "No connected runtime lends its model for this user. Start one that does (its hello names `extractor`; "
            "docs/examples/extractor.py shows how), or write them by hand with `recalld cues edit`."
        ),
        BackfillEnd.FAILING: "The runtime's model did not answer several times in a row; its own log says why.",
        BackfillEnd.DRY_RUN: "Nobody was asked.",
    }
)

BACKFILL_FAILURES: Final[Mapping[str, str]] = MappingProxyType(
    {
        BackfillFailure.NOT_CONNECTED: "the runtime had left",
        BackfillFailure.BUSY: "the runtime had too many questions open",
        BackfillFailure.TIMEOUT: "the model took too long",
        BackfillFailure.DISCONNECTED: "the runtime went away",
        BackfillFailure.REFUSED: "the runtime refused, or failed",
        BackfillFailure.TOO_LONG: "memory or answer was too long to send",
        BackfillFailure.CHANGED: "the memory was changed or forgotten meanwhile",
    }
)

CUE_REPLY_FAULTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        CueReplyFault.TRUNCATED: "cut off at the model's token ceiling; raise it",
        CueReplyFault.REPLY_TOO_LONG: "too long as a whole",
        CueReplyFault.UNREADABLE: "no complete JSON in it",
        CueReplyFault.NO_LISTS: "without the two lists that were asked for",
        CueReplyFault.WRONG_TYPE: "with something else than lists of texts",
        CueReplyFault.NO_ASKS: "the model found no question that the memory answers",
        CueReplyFault.TOO_MANY: "more entries than may be kept",
        CueReplyFault.EMPTY_ENTRY: "an entry that says nothing",
        CueReplyFault.ENTRY_TOO_LONG: "an entry that is too long",
        CueReplyFault.CONTROL_CHARACTER: "a control character or line break in an entry",
        CueReplyFault.REPEATED: "the same entry twice",
        CueReplyFault.NOT_ADMITTED: "questions that no memory may carry, as they would fit anything",
    }
)

REMEMBER_OUTCOMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        RememberOutcome.CREATED: "Remembered",
        RememberOutcome.DUPLICATE: "Known already, nothing changed",
        RememberOutcome.UPDATED: "Known already, brought up to date",
        RememberOutcome.SUPERSEDED: "Remembered, in place of what no longer holds",
    }
)

FACT_OUTCOMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        FactOutcome.CREATED: "kept",
        FactOutcome.DUPLICATE: "known already",
        FactOutcome.UPDATED: "known already, brought up to date",
        FactOutcome.SUPERSEDED: "kept, in place of what no longer holds",
        FactOutcome.CLOSED: "ended what was stored",
        FactOutcome.PROMOTED: "kept, as enough turns say so",
        FactOutcome.OBSERVED: "noted",
        FactOutcome.PROPOSED: "proposed",
        FactOutcome.REFUSED: "refused",
    }
)

GENERATORS: Final[Mapping[str, str]] = MappingProxyType(
    {
        Generator.RULE: "a rule",
        Generator.JUDGE: "the local judge",
        Generator.MODEL: "a model",
        Generator.EXPLICIT: "a command to remember",
        Generator.CONFIRMED: "the user's yes",
    }
)

MEMORY_SOURCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        MemorySource.EXPLICIT: "somebody asked for it",
        MemorySource.HEURISTIC: "a rule or the local judge found it",
        MemorySource.MODEL: "a model found it",
        MemorySource.CONFIRMED: "the user said yes to it",
        MemorySource.IMPORTED: "it was imported",
    }
)

PROPOSAL_STATES: Final[Mapping[str, str]] = MappingProxyType(
    {
        ProposalState.PENDING: "waits for an answer",
        ProposalState.ACCEPTED: "accepted",
        ProposalState.REJECTED: "turned down",
        ProposalState.EXPIRED: "waited too long",
    }
)

IMPORT_OUTCOMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        ImportOutcome.IMPORTED: "taken over",
        ImportOutcome.UPDATED: "here already, turns behind it were added",
        ImportOutcome.KNOWN: "here already",
        ImportOutcome.CONFLICT: "its id stands for something else here; `--new-ids` gives copies ids of their own",
        ImportOutcome.TOMBSTONED: "forgotten here on purpose; `recalld remember` brings it back",
        ImportOutcome.OVER_CAPACITY: "the scope is full; forget something first",
        ImportOutcome.SECRET: "holds a password, key or token; take it out",
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

STANDING_REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        StandingReason.GIVEN: "stands before anything is asked",
        StandingReason.ALREADY_GIVEN: "This session has its block already; --again gives it once more.",
        StandingReason.NOTHING_STANDING: "No preference and no convention holds in this scope; see --scope.",
        StandingReason.DEMOTED: "What there is was demoted, or nobody asked for it to be kept; see --explain.",
        StandingReason.ALREADY_VISIBLE: "Recalls of this session have shown all of it already.",
        StandingReason.OVER_LIMITS: "Nothing of it fits the limits of a block; see --max-chars.",
        StandingReason.DISABLED: "Standing blocks are switched off in the configuration.",
    }
)

STANDING_VERDICTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        StandingVerdict.SHOWN: "shown",
        StandingVerdict.BELOW_BAR: "demoted by its outcomes",
        StandingVerdict.DEMOTED: "demoted by you",
        StandingVerdict.UNPROVEN: "nobody's word, never used",
        StandingVerdict.DUPLICATE: "said higher up",
        StandingVerdict.ALREADY_VISIBLE: "shown in this session",
        StandingVerdict.OVER_CHARS: "no room: characters",
        StandingVerdict.OVER_LINES: "no room: lines",
        StandingVerdict.OVER_TOKENS: "no room: tokens",
    }
)

STANDING_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        StandingWord.ASKED: "the user asked for it",
        StandingWord.CONFIRMED: "the user said yes to it",
        StandingWord.SAID: "the user said it",
        StandingWord.REPEATED: "the user said it again and again",
        StandingWord.NOBODY: "nobody's word",
    }
)

STANDING_CHOICES: Final[Mapping[str, str]] = MappingProxyType(
    {
        StandingChoice.PINNED: "pinned: first in the block, whatever its outcomes",
        StandingChoice.DEMOTED: "demoted: out of the block, but for a pointer",
        StandingChoice.RESTORED: "restored: stands by its kind, and earlier outcomes no longer count",
    }
)

OUTCOME_RESULTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        OutcomeResult.USED: "the answer rested on it",
        OutcomeResult.IGNORED: "it made no difference",
        OutcomeResult.HARMFUL: "it led the turn astray",
        OutcomeResult.MISSED: "it was wanted, and not shown",
    }
)

SET_STANDING_REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "unchanged": "it was so already",
    }
)

_ALL: Final = (
    RECALL_REASONS,
    ADMISSION_REASONS,
    FORGET_REASONS,
    UPDATE_REASONS,
    REMEMBER_OUTCOMES,
    STANDING_REASONS,
    SET_STANDING_REASONS,
)


_OF_OP: Final[Mapping[str, tuple[Mapping[str, str], ...]]] = MappingProxyType(
    {
        Op.RECALL: (RECALL_REASONS,),
        Op.REMEMBER: (ADMISSION_REASONS, REMEMBER_OUTCOMES),
        Op.OBSERVE: (ADMISSION_REASONS,),
        Op.CONFIRM: (ADMISSION_REASONS,),
        Op.FORGET: (FORGET_REASONS,),
        Op.UPDATE: (UPDATE_REASONS,),
        Op.STANDING: (STANDING_REASONS,),
        Op.SET_STANDING: (SET_STANDING_REASONS,),
    }
)
"""In which lists the reason of a row is looked up first, by what it decided about."""


def in_words(value: str, vocabulary: Mapping[str, str]) -> str:
    """The words for an enum value; the value itself when a newer daemon sent one that is not known here."""
    return vocabulary.get(value, value.replace("_", " "))


def reason_in_words(value: str, op: str = "") -> str:
    """The words for the reason of a ledger row.

    Args:
        value: The reason.
        op: What the row decided about: the same code may mean another thing elsewhere. Empty: nobody knows.
    """
    lists = (*_OF_OP.get(op, ()), *_ALL)
    return next((words[value] for words in lists if value in words), value.replace("_", " "))


def counted(count: int, noun: str, several: str = "") -> str:
    """A count with its noun, such as `1 user` or `2 users`; `several` is its plural where an s does not make it."""
    return f"{count} {noun}" if count == 1 else f"{count} {several or f'{noun}s'}"


def counted_memories(count: int) -> str:
    """`1 memory` or `2 memories`."""
    return counted(count, "memory", "memories")


def duration_in_words(duration_s: float) -> str:
    """How long something has lasted, such as `3 d` or `12 s`."""
    return age_in_words(duration_s) if duration_s >= 60 else f"{int(duration_s)} s"


def age_in_words(age_s: float) -> str:
    """An age such as `3 d`; the largest unit that gives at least one."""
    for unit, seconds in (("y", 365 * 86_400), ("d", 86_400), ("h", 3_600), ("min", 60)):
        if age_s >= seconds:
            return f"{int(age_s // seconds)} {unit}"
    return "now"
