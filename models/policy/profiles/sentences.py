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
        DecideReason.BATCH_DUE: "Turns have waited long enough, or enough of them have gathered; read these.",
        DecideReason.CLUSTERS_DUE: "Clusters of records are due; consolidate each with one call.",
        DecideReason.TICK_ENDED: "The tick is over, and its counts add up.",
        DecideReason.WITHIN_CAP: "With this batch the store stays within its cap.",
        DecideReason.NEARLY_FULL: "With this batch the store stays within its cap, but is nearly full.",
        DecideReason.WITHIN_BOUNDS: "There is enough to tune by; knobs may be set within their bounds.",
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
        DecideReason.NOTHING_WAITING: "No turn waits to be read.",
        DecideReason.NOTHING_NEW: "Each fact only restates what the turn was shown.",
        DecideReason.NO_CLUSTERS: "No cluster is large enough and left alone for long enough.",
        DecideReason.QUIET_AWAITED: "A turn came within the quiet period, which starts again from it.",
        DecideReason.COOLING_DOWN: "A batch is due, and waits for a cooldown or for a pause after a failure.",
        DecideReason.NOT_DUE: "The last tick was too short a time ago.",
        DecideReason.BUSY: "A tick is going on; it has the lease until it ends or its time is up.",
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
        DecideReason.COUNTS_DIFFER: "The counts of the tick do not add up, or it made more calls than it may.",
        DecideReason.OVER_CAP: "With this batch the store would be over its cap; all of it is refused.",
        DecideReason.OVER_CAP_TERMINAL: (
            "The store is over its cap again, once too often in this turn; do not try again before the next turn."
        ),
        DecideReason.FEW_MEMORIES: "There are too few active memories to tune anything by.",
        DecideReason.FEW_SAMPLES: "There are too few samples to promote anything by.",
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
        CandidateReason.WAITING: "waits for a later batch",
        CandidateReason.EXPIRED: "waited longer than turns are kept",
        CandidateReason.SET_ASIDE: "failed alone too often, and is not tried again",
        CandidateReason.ECHO: "restates what the turn was shown",
        CandidateReason.ALREADY_STORED: "is stored in the same words, so nothing is to be done",
        CandidateReason.TOUCHED_LATELY: "belongs to a cluster that was touched a short time ago",
        CandidateReason.SMALL_CLUSTER: "belongs to no cluster that is large enough",
        CandidateReason.DEMOTED: "was taken out by a person, and can still be asked for",
        CandidateReason.UNPROVEN: "rests on nobody's word and on no reported use",
        CandidateReason.UNKNOWN_KNOB: "is no knob that may be tuned",
        CandidateReason.OUT_OF_BOUNDS: "is no value within the knob's hard bounds",
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
