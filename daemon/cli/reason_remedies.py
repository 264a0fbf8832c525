"""What to do about each reason code; most call for nothing, and say so.

The sentence that explains a code is in `words`, or with the decisions of gates; here is only the remedy.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from recalld.models.domain.admission_store import FactOutcome
from recalld.models.domain.cues import BackfillEnd, BackfillFailure, UpdateReason
from recalld.models.domain.decision import CandidateReason, DecideReason
from recalld.models.domain.reasons import AdmissionReason, DegradedReason, DropReason, RecallReason, RememberOutcome
from recalld.models.domain.recall import RecallLimit
from recalld.models.domain.standing import StandingReason, StandingVerdict
from recalld.models.domain.world import ProbeReason
from recalld.models.policy.cue_reply import CueReplyFault

NOTHING: Final = "Nothing to do."
_WAIT: Final = "Nothing to do but to ask again in a moment."
_DOCTOR: Final = "Run `recalld doctor`: it names the cause and what mends it."
_PARTS: Final = (
    "Nothing to do; if the user did say something, the runtime sends it in a part that is not marked `user`."
)
_TURN_GATE: Final = "To search all the same, ask with `--search`, or set the `on_…` knob of [recall.turn_gate] to run."


def _each(codes: type[enum.StrEnum], remedy: str) -> dict[str, str]:
    """The same remedy for every code; those that differ are put over it."""
    return {code.value: remedy for code in codes}


RECALL_REMEDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        RecallReason.RELEVANT: NOTHING,
        RecallReason.PASSED_FLOOR: "Nothing to do here; the degraded reason beside it says why no gate judged them.",
        RecallReason.NOTHING_STORED: "Store something with `recalld remember`; check that `--user` is the right one.",
        RecallReason.NO_CANDIDATES: "Nothing to do; questions a memory answers can be added with `recalld cues`.",
        RecallReason.EMBEDDING_PENDING: _WAIT,
        RecallReason.BELOW_FLOOR: "Nothing to do; questions a memory answers can be added with `recalld cues`.",
        RecallReason.GATED: "Nothing to do; if one should have come, add a question it answers (`recalld cues`).",
        RecallReason.EXCLUDED: (
            "Nothing to do; if the context was shortened, the runtime must send `session` with `compacted`."
        ),
        RecallReason.IN_INTERVAL: NOTHING,
        RecallReason.NOTHING_IN_INTERVAL: "Nothing to do; with `time` set to boost, other times are searched as well.",
        RecallReason.NO_USER_TEXT: _PARTS,
        RecallReason.NO_SEARCHABLE_TERMS: NOTHING,
        RecallReason.ACKNOWLEDGEMENT: NOTHING,
        RecallReason.SLASH_COMMAND: NOTHING,
        RecallReason.ARITHMETIC: NOTHING,
        RecallReason.TOO_SHORT: "Nothing to do; a runtime that knows the earlier turns may send them along.",
        RecallReason.ANSWERED_IN_HISTORY: NOTHING,
        RecallReason.NOT_NEEDED: "Nothing to do; `model` in [recall.turn_gate] switches the runtime's model off.",
        RecallReason.WEAK_EVIDENCE: _TURN_GATE,
        RecallReason.TURN_GATE_FAILED: _TURN_GATE,
        RecallReason.SHADOW: "Nothing is wrong; set recall.mode to enforce to have the gates obeyed.",
        RecallReason.OVER_LIMITS: "Raise `max_items` or `max_chars`, in the request or in [recall].",
        RecallReason.DEGRADED: "See the degraded reason beside it; `recalld models list` shows which model is missing.",
        RecallReason.STORE_UNREADABLE: _DOCTOR,
        RecallReason.ENVELOPE_EXCEEDED: "Allow more time (`budget_ms`, or `envelope_ms` in [recall]).",
        RecallReason.RECALL_FAILED: "Look for `actor_restarted` in the daemon's log, and report what stands there.",
        RecallReason.BUSY: "Ask less at once, or later; `recalld status` shows the queue.",
        RecallReason.DRAINING: "Ask again once the daemon has restarted.",
    }
)

DEGRADED_REMEDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        DegradedReason.GATE_DISABLED_BY_CONFIG: "Set `gate` in [recall] to on to have memories judged again.",
        DegradedReason.NO_SCORER_CONFIGURED: "Name a model as `cross_encoder` in [models].",
        DegradedReason.SCORER_UNAVAILABLE: "Fetch it with `recalld models provision`, or wait until it has loaded.",
        DegradedReason.SUB_BUDGET_EXCEEDED: "Raise `gate_ms` in [recall], or give the daemon more processor time.",
        DegradedReason.ENVELOPE_EXCEEDED: "Allow more time (`budget_ms`, or `envelope_ms` in [recall]).",
        DegradedReason.QUEUE_FULL: "Ask less at once, or give the daemon more processors.",
        DegradedReason.BREAKER_OPEN: "Nothing to do but to wait: it is tried again; the log names the failure.",
        DegradedReason.SCORE_FAILED: _DOCTOR,
        DegradedReason.GATE_UNCALIBRATED: "Install the model that the calibration is for; `recalld doctor` names both.",
        DegradedReason.OUT_OF_DOMAIN: "Nothing to do: text like this goes by similarity alone.",
        DegradedReason.EMBEDDER_UNAVAILABLE: "Fetch it with `recalld models provision`, or wait until it has loaded.",
        DegradedReason.EMBED_TIMEOUT: "Allow more time (`budget_ms`), or give the daemon more processor time.",
        DegradedReason.EMBED_FAILED: _DOCTOR,
        DegradedReason.STORE_UNREADABLE: _DOCTOR,
        DegradedReason.RECALL_FAILED: "Look for `actor_restarted` in the daemon's log, and report what stands there.",
        DegradedReason.DRAINING: "Ask again once the daemon has restarted.",
    }
)

DROP_REMEDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        DropReason.BELOW_FLOOR: "Nothing to do; if it should have come, add a question it answers (`recalld cues`).",
        DropReason.BELOW_THRESHOLD: "Nothing to do; if it should have come, add a question it answers.",
        DropReason.BEHIND_BEST: "Nothing to do; `--search` shows it behind the others.",
        DropReason.BUDGET: "Allow the gate more time (`gate_ms` in [recall], or `budget_ms`).",
        DropReason.OVER_MAX_ITEMS: "Raise `max_items`, in the request or in [recall].",
        DropReason.OVER_MAX_CHARS: "Raise `max_chars`, in the request or in [recall], or shorten the memory.",
        DropReason.OUTRANKED: "Nothing to do; a question in its words brings it nearer.",
        DropReason.OUT_OF_INTERVAL: "Nothing to do; ask for more than a time to find what is of another one.",
        DropReason.ALREADY_VISIBLE: (
            "Nothing to do; if the context was shortened, the runtime must send `session` with `compacted`."
        ),
        DropReason.EXCLUDED_BY_CALLER: "Nothing to do; the request named it in `exclude`.",
        DropReason.OWN_TEXT: NOTHING,
        DropReason.WRONG_SCOPE: "Nothing to do; without `scope` all scopes are searched.",
        DropReason.NOT_LIVE: "Nothing to do; it was forgotten or has expired.",
    }
)

RECALL_LIMIT_REMEDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        RecallLimit.LEXICAL_LIMIT: "Nothing to do; `lexical_limit` in [recall] raises it.",
        RecallLimit.VECTOR_LIMIT: "Nothing to do; `vector_limit` in [recall] raises it.",
        RecallLimit.TIME_LIMIT: "Nothing to do; ask for a shorter time.",
        RecallLimit.CANDIDATES_MAX: "Nothing to do; `candidates_max` in [recall] raises it, and costs time.",
        RecallLimit.BUDGET: "Allow the gate more time (`gate_ms` in [recall], or `budget_ms`).",
        RecallLimit.MAX_ITEMS: "Raise `max_items`, in the request or in [recall].",
        RecallLimit.MAX_CHARS: "Raise `max_chars`, in the request or in [recall].",
    }
)

_REMEMBER: Final = "Nothing to do; `recalld remember` stores it all the same."
_REVIEW: Final = "`recalld review` shows what waits; accept it, edit it or reject it."

ADMISSION_REMEDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        AdmissionReason.EXPLICIT_SAVE: NOTHING,
        AdmissionReason.STATED: "Nothing to do; `recalld forget` takes it back.",
        AdmissionReason.JUDGED: "Nothing to do; `recalld forget` takes it back.",
        AdmissionReason.MODEL_FOUND: "Nothing to do; `recalld forget` takes it back.",
        AdmissionReason.CONFIRMED: NOTHING,
        AdmissionReason.PROMOTED: "Nothing to do; `recalld why` shows every turn behind it.",
        AdmissionReason.CORRECTION: "Nothing to do; `recalld why` shows what it replaced.",
        AdmissionReason.DUPLICATE: NOTHING,
        AdmissionReason.WEAK_EVIDENCE: _REVIEW,
        AdmissionReason.SHADOW: "Accept it with `recalld review --all`, or set admission.mode to enforce.",
        AdmissionReason.NEEDS_CONFIRMATION: _REVIEW,
        AdmissionReason.RATION_USED: _REVIEW,
        AdmissionReason.DECLINED: "If it should be kept after all, say so: `recalld remember`.",
        AdmissionReason.NOT_EXPLICIT: _REMEMBER,
        AdmissionReason.NOTHING_STATED: _REMEMBER,
        AdmissionReason.NOT_USER_SPEAKER: "Nothing to do: only the user's own words become the user's facts.",
        AdmissionReason.NOT_USER_STATED: "A candidate's `quote` must be the user's own words, letter by letter.",
        AdmissionReason.REFUSED_IN_COMMAND: NOTHING,
        AdmissionReason.FORGET_REQUEST: "`recalld forget --query` shows what has the words, and forgets it.",
        AdmissionReason.IMPOSSIBLE_DATE: "say it again with a day that exists",
        AdmissionReason.PRIVATE: NOTHING,
        AdmissionReason.QUESTION: _REMEMBER,
        AdmissionReason.REQUEST: _REMEMBER,
        AdmissionReason.NEGATED: _REMEMBER,
        AdmissionReason.HYPOTHETICAL: _REMEMBER,
        AdmissionReason.PAST: _REMEMBER,
        AdmissionReason.GUESS: _REMEMBER,
        AdmissionReason.QUOTATION: _REMEMBER,
        AdmissionReason.FICTION: _REMEMBER,
        AdmissionReason.THIRD_PERSON: _REMEMBER,
        AdmissionReason.SITUATIONAL: "Nothing to do; `recalld remember` with `--expires-at` stores it until then.",
        AdmissionReason.EXPIRED: "Nothing to do; `recalld remember` with a later `--expires-at` stores it.",
        AdmissionReason.CAPABILITY_CLAIM: NOTHING,
        AdmissionReason.SECRET: "Keep secrets in a password manager, and tell recalld where they are.",
        AdmissionReason.INJECTION: "If it is yours, `recalld remember` stores it.",
        AdmissionReason.UNREAD_LANGUAGE: _REMEMBER,
        AdmissionReason.ECHO: NOTHING,
        AdmissionReason.OVER_CAPACITY: "Forget what is not needed (`recalld list`), or raise the caps in [admission].",
        AdmissionReason.POSITION: "`position` in [admission] says which gates may write.",
        AdmissionReason.NO_USER_TEXT: _PARTS,
        AdmissionReason.TOO_LONG: "Say it shorter, or in several memories.",
        AdmissionReason.UNREADABLE_CANDIDATE: "Mend the field of the candidate that the rule names, and offer it anew.",
        AdmissionReason.TOMBSTONED: "Nothing to do; `recalld remember` brings it back.",
    }
)

UPDATE_REMEDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        UpdateReason.EDITED: NOTHING,
        UpdateReason.BACKFILLED: "Nothing to do; `recalld cues edit` corrects what it wrote.",
    }
)

BACKFILL_END_REMEDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        BackfillEnd.DONE: NOTHING,
        BackfillEnd.LIMIT: "Run it again to go on, or raise `--limit`.",
        BackfillEnd.TIME: "Run it again to go on; a faster model gets further.",
        BackfillEnd.NO_RUNTIME: "Start a runtime that lends its model, or write them with `recalld cues edit`.",
        BackfillEnd.FAILING: "Look into the runtime's own log, then run it again.",
        BackfillEnd.DRY_RUN: "Run it without `--dry-run`.",
    }
)

BACKFILL_FAILURE_REMEDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        BackfillFailure.NOT_CONNECTED: "Connect the runtime again, then go on.",
        BackfillFailure.BUSY: _WAIT,
        BackfillFailure.TIMEOUT: "Lend a faster model.",
        BackfillFailure.DISCONNECTED: "Connect the runtime again, then go on.",
        BackfillFailure.REFUSED: "Look into the runtime's own log.",
        BackfillFailure.TOO_LONG: "Write them by hand with `recalld cues edit`.",
        BackfillFailure.CHANGED: "Nothing to do; run it again if the memory is still there.",
    }
)

_BY_HAND: Final = "Nothing of it was stored; run it again, or write them by hand with `recalld cues edit`."
CUE_REPLY_REMEDIES: Final[Mapping[str, str]] = MappingProxyType(
    _each(CueReplyFault, _BY_HAND)
    | {
        CueReplyFault.TRUNCATED: "Raise the token ceiling of the runtime's model.",
        CueReplyFault.NO_ASKS: "Nothing to do; write questions by hand if you know better (`recalld cues edit`).",
    }
)

_SUPERSEDED: Final = "Nothing to do; `recalld why` shows both, and `recalld list --superseded` what no longer holds."
REMEMBER_OUTCOME_REMEDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        RememberOutcome.CREATED: NOTHING,
        RememberOutcome.DUPLICATE: NOTHING,
        RememberOutcome.UPDATED: NOTHING,
        RememberOutcome.SUPERSEDED: _SUPERSEDED,
    }
)

FACT_OUTCOME_REMEDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        FactOutcome.CREATED: NOTHING,
        FactOutcome.DUPLICATE: NOTHING,
        FactOutcome.UPDATED: NOTHING,
        FactOutcome.SUPERSEDED: _SUPERSEDED,
        FactOutcome.CLOSED: "Nothing to do; `recalld list --superseded` shows what no longer holds.",
        FactOutcome.PROMOTED: "Nothing to do; `recalld why` shows every turn behind it.",
        FactOutcome.OBSERVED: "Nothing to do; `recalld review --all` shows what was noted.",
        FactOutcome.PROPOSED: _REVIEW,
        FactOutcome.REFUSED: "`recalld explain` with the decision's ID says why.",
    }
)

STANDING_REMEDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        StandingReason.GIVEN: NOTHING,
        StandingReason.ALREADY_GIVEN: "Nothing to do; `--again` gives it once more.",
        StandingReason.NOTHING_STANDING: "Store a preference or a convention, or pin one with `recalld standing`.",
        StandingReason.DEMOTED: "Restore or pin what should stand, with `recalld standing`.",
        StandingReason.ALREADY_VISIBLE: NOTHING,
        StandingReason.OVER_LIMITS: "Raise `max_chars`, in the request or in [standing].",
        StandingReason.DISABLED: "Set `enabled` in [standing].",
    }
)

STANDING_VERDICT_REMEDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        StandingVerdict.SHOWN: NOTHING,
        StandingVerdict.BELOW_BAR: "Nothing to do; `recalld standing` restores or pins it.",
        StandingVerdict.DEMOTED: "Nothing to do; `recalld standing` restores or pins it.",
        StandingVerdict.UNPROVEN: "Nothing to do; `recalld standing` pins it.",
        StandingVerdict.DUPLICATE: "Nothing to do; forget one of the two if they are the same.",
        StandingVerdict.ALREADY_VISIBLE: NOTHING,
        StandingVerdict.OVER_CHARS: "Raise `max_chars`, or demote something else.",
        StandingVerdict.OVER_LINES: "Raise `max_lines` in [standing], or demote something else.",
        StandingVerdict.OVER_TOKENS: "Demote something else, or shorten the memories.",
    }
)

_SHOW: Final = "Nothing to do; `recalld gates show` names the knob."
DECIDE_REMEDIES: Final[Mapping[str, str]] = MappingProxyType(
    _each(DecideReason, NOTHING)
    | {
        DecideReason.NO_USER_TEXT: _PARTS,
        DecideReason.REPLY_UNUSABLE: "Have the model answer within `limits.chars_max`, with the rewrite alone.",
        DecideReason.NO_HISTORY: "Nothing to do; send the earlier turns in `turns` if there are any.",
        DecideReason.NO_CANDIDATES: "Send what is to be chosen from in `candidates`.",
        DecideReason.PROJECT_UNKNOWN: "Send the project in `scope.project`.",
        DecideReason.FEW_TERMS: _SHOW,
        DecideReason.INDEX_LAGGING: "Ask again when `counters.index_lag` is 0; other words would not help.",
        DecideReason.NOTHING_FOUND: "Try other words.",
        DecideReason.QUIET_AWAITED: "Ask again at `params.not_before_ms`, or with `counters.forced` set to 1.",
        DecideReason.COOLING_DOWN: "Ask again at `params.not_before_ms`, or with `counters.forced` set to 1.",
        DecideReason.NOT_DUE: "Ask again at `params.not_before_ms`.",
        DecideReason.BUSY: "Ask again at `params.not_before_ms`; whoever holds the tick ends it with its counts.",
        DecideReason.COUNTS_DIFFER: "Send clusters, calls, merged, abstained and failed of one tick in `usage`.",
        DecideReason.NEARLY_FULL: "Remove or shorten entries soon; `evidence.counts` says how full it is.",
        DecideReason.OVER_CAP: "Remove or shorten entries, those in `params.targets` first, and send the batch again.",
        DecideReason.OVER_CAP_TERMINAL: "Tell the person that memory is full, and go on without saving.",
        DecideReason.FEW_MEMORIES: "Nothing to do but to use the memory; `evidence.counts` says how many there are.",
        DecideReason.FEW_SAMPLES: "Nothing to do but to collect samples; `evidence.counts` says how many there are.",
        DecideReason.SHAPE_NOT_CALIBRATED: "Score one candidate a call, and send `call_shape` as single.",
        DecideReason.UNSCOPED_SWEEP: "Give one of the limits that the sentence names, and name it in `explicit`.",
        DecideReason.NO_SUCH_TARGET: "Correct `sweep`, or send the sessions it names in `candidates`.",
        DecideReason.BAD_CURSOR: "Start the sweep again without a cursor.",
        DecideReason.CURSOR_MISMATCH: "Send the cursor alone, or with the arguments its sweep was started with.",
        DecideReason.FILE_NOT_REFERENCED: "Ask only for files that `candidates` name in `files`.",
        DecideReason.WEAK_EVIDENCE: "Nothing to do; `on_weak` of the profile says which way to go.",
        DecideReason.MISSING_INPUT: "Send what the decision names in `params.missing`.",
        DecideReason.GATE_FAILED: "Look into the log of the daemon, and of the model that was asked.",
        DecideReason.TIMED_OUT: "Use a faster model, or allow more time (`budget_ms`).",
        DecideReason.NO_BUDGET: "Allow more time (`budget_ms`).",
    }
)

CANDIDATE_REMEDIES: Final[Mapping[str, str]] = MappingProxyType(
    _each(CandidateReason, NOTHING)
    | {
        CandidateReason.NOT_SCORED: "Score it again, and send a plain number.",
        CandidateReason.BELOW_THRESHOLD: _SHOW,
        CandidateReason.FEW_TERMS: _SHOW,
        CandidateReason.TOO_OLD: _SHOW,
        CandidateReason.OVER_LIMIT: _SHOW,
        CandidateReason.OVER_CHARS: _SHOW,
        CandidateReason.SET_ASIDE: "Look at the turn: something in it makes the model's answer unreadable.",
        CandidateReason.UNPROVEN: "Report its use with `recalld outcome`, or pin it with `recalld standing pin`.",
        CandidateReason.DEMOTED: "`recalld standing restore` puts it back.",
        CandidateReason.UNKNOWN_KNOB: _SHOW,
        CandidateReason.OUT_OF_BOUNDS: _SHOW,
        CandidateReason.SHOWN_BEFORE: (
            "Nothing to do; if the context was shortened, the runtime must send `session` with `compacted`."
        ),
    }
)

PROBE_REMEDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        ProbeReason.AS_CLAIMED: NOTHING,
        ProbeReason.NOT_AS_CLAIMED: "Correct the record, or forget it.",
        ProbeReason.OUTSIDE_PROJECT: "Nothing to do: outside the project nothing is looked at.",
        ProbeReason.UNREADABLE: "Nothing to do; look yourself if it matters.",
        ProbeReason.NO_ACCESS: "Send `scope.project_root`, from an account the daemon may look for.",
        ProbeReason.ASKED_RUNTIME: "Look, and ask again with `probe_answers`.",
        ProbeReason.ANSWER_UNREADABLE: "Answer with one of the states that the protocol names.",
        ProbeReason.SKIPPED_BUDGET: "Nothing to do; ask about fewer records at a time.",
    }
)
