"""The sentence that goes with each reason of a decision, and of a candidate or claim inside one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from recalld.models.domain.decision import CandidateReason, DecideReason
from recalld.models.domain.world import ProbeReason

SWEEP_ALTERNATIVES: Final = (
    "an explicit list of sessions, a single target, a valid cursor, or a lower time bound with an explicit project"
)

DECIDE_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        DecideReason.HISTORY_CUE: "The message points at something said or done before.",
        DecideReason.TIME_EXPRESSION: "The message speaks of a time.",
        DecideReason.KNOWN_ENTITY: "The message names something that the store knows.",
        DecideReason.LEANS_ON_HISTORY: "The message leans on the turns before it.",
        DecideReason.TERMS_STORED: "The store has words of the message.",
        DecideReason.MODEL_SAYS_YES: "The caller's model found that it is needed.",
        DecideReason.PASSED: "At least one candidate passed.",
        DecideReason.REWRITTEN: "The model's rewrite can be used.",
        DecideReason.FILES_REFERENCED: "The files are referred to by a skill at hand.",
        DecideReason.CLAIMS_CHECKED: "Stored records claim things about the world; see what became of each.",
        DecideReason.SWEEP_SCOPED: "The sweep is limited, and here is its next part.",
        DecideReason.CARDS_MATCH: "Cards of past sessions match; read the messages of these.",
        DecideReason.SEARCH_INDEX: "No card matches; search the full-text index next.",
        DecideReason.READ_SESSIONS: "The index names sessions; read the messages of these.",
        DecideReason.READ_MESSAGES: "Here is as much of the sessions as the limits allow.",
        DecideReason.NO_USER_TEXT: "There are no words of the user in the message.",
        DecideReason.NO_SEARCHABLE_TERMS: "The message is only punctuation.",
        DecideReason.SLASH_COMMAND: "The message is a command to the runtime.",
        DecideReason.ARITHMETIC: "The message is arithmetic.",
        DecideReason.ACKNOWLEDGEMENT: "The message only acknowledges.",
        DecideReason.TOO_SHORT: "The message is too short to say what it is about.",
        DecideReason.ANSWERED_IN_HISTORY: "The message asks about the last turns, and they are at hand.",
        DecideReason.MODEL_SAYS_NO: "The caller's model found that it is not needed.",
        DecideReason.NO_HISTORY: "There are no turns before this one.",
        DecideReason.STANDS_ALONE: "The message can be understood by itself.",
        DecideReason.ABSTAINED: "The model would not rewrite the message; it stays as it is.",
        DecideReason.REPLY_UNUSABLE: "The model's answer cannot be used; the message stays as it is.",
        DecideReason.NO_TIME_EXPRESSION: "The message speaks of no time, so the channel of time stays closed.",
        DecideReason.NOTHING_IN_INTERVAL: "The message speaks of a time, and nothing is stored from then.",
        DecideReason.NO_HISTORY_CUE: "The message points at nothing said or done before.",
        DecideReason.NO_CANDIDATES: "There is nothing to choose from.",
        DecideReason.NONE_PASSED: "No candidate passed; each has its reason.",
        DecideReason.PROJECT_UNKNOWN: "It is not known which project this is about.",
        DecideReason.FEW_TERMS: "The message has too few words that say something.",
        DecideReason.NO_CLAIMS: "The records claim nothing that could be checked.",
        DecideReason.INDEX_LAGGING: (
            "The full-text index lags behind and may not have what you look for yet; ask again when it has caught up."
        ),
        DecideReason.NOTHING_FOUND: "The index is up to date and has nothing for this; other words may find more.",
        DecideReason.SWEEP_FINISHED: "Nothing is left to cover in this sweep.",
        DecideReason.NO_SUCH_TARGET: "None of the candidates is what the sweep is limited to, so nothing was covered.",
        DecideReason.SHAPE_NOT_CALIBRATED: (
            "No threshold was found for candidates scored in this shape of call; score one candidate a call."
        ),
        DecideReason.UNSCOPED_SWEEP: (
            f"A sweep over everything is refused; give {SWEEP_ALTERNATIVES}. A scope that a default filled in does not"
            " count."
        ),
        DecideReason.BAD_CURSOR: "The cursor is not one that was given to this user here; start the sweep again.",
        DecideReason.CURSOR_MISMATCH: (
            "The cursor belongs to a sweep with other arguments; repeat its own or leave them out."
        ),
        DecideReason.FILE_NOT_REFERENCED: "A wanted file is not among those that a skill at hand refers to.",
        DecideReason.WEAK_EVIDENCE: "Nothing speaks clearly for either side; the profile says which way to go then.",
        DecideReason.MISSING_INPUT: (
            "The request lacks an input that the decision needs; the profile says which way to go then."
        ),
        DecideReason.GATE_FAILED: "Something failed on the way; the profile says which way to go then.",
        DecideReason.TIMED_OUT: "An answer took too long; the profile says which way to go then.",
        DecideReason.NO_BUDGET: "There was no time or money left to ask; the profile says which way to go then.",
    }
)

CANDIDATE_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        CandidateReason.PASSED: "passed",
        CandidateReason.NOT_SCORED: "came without a usable score",
        CandidateReason.BELOW_THRESHOLD: "scored below the threshold",
        CandidateReason.FEW_TERMS: "has too few words of the message",
        CandidateReason.TOO_OLD: "is old, and has too few words of the message itself",
        CandidateReason.SAME_CONTENT: "says the same as one before it",
        CandidateReason.SHOWN_BEFORE: "was shown in this session",
        CandidateReason.DECLINED_BEFORE: "was waved away in this session",
        CandidateReason.HOST_TEXT: "holds only what the host wrote",
        CandidateReason.OWN_SESSION: "comes from the asking session or its family",
        CandidateReason.OWN_BLOCK: "is what was put into a conversation from memory",
        CandidateReason.OVER_LIMIT: "is over the number that may be shown",
        CandidateReason.OVER_CHARS: "is over the text that may be shown",
    }
)

PROBE_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        ProbeReason.AS_CLAIMED: "it is as the record says",
        ProbeReason.NOT_AS_CLAIMED: "it is not as the record says",
        ProbeReason.OUTSIDE_PROJECT: "it lies outside the project and was not looked at",
        ProbeReason.UNREADABLE: "what is there does not tell",
        ProbeReason.NO_ACCESS: "the project's files could not be looked at for this caller",
        ProbeReason.ASKED_RUNTIME: "the runtime was asked to look",
        ProbeReason.ANSWER_UNREADABLE: "the runtime's answer is none that there can be",
        ProbeReason.SKIPPED_BUDGET: "there was no time, or no place among the targets, left for it",
    }
)


def lacks_sentence(missing: Sequence[str]) -> str:
    """The sentence of `missing_input` with the fields that are missing, of which one is enough."""
    named = " or ".join(f"`{field}`" for field in missing)
    return f"The request lacks {named}, which the decision needs; the profile says which way to go then."
