"""Reason codes explained: what each means, and what to do about it."""

from __future__ import annotations

import difflib
import enum
from collections.abc import Mapping
from typing import Final

import msgspec

from recalld.daemon.cli import reason_remedies as remedies
from recalld.daemon.cli import words
from recalld.models.domain.admission_store import FactOutcome
from recalld.models.domain.cues import BackfillEnd, BackfillFailure, UpdateReason
from recalld.models.domain.decision import CandidateReason, DecideReason
from recalld.models.domain.reasons import AdmissionReason, DegradedReason, DropReason, RecallReason, RememberOutcome
from recalld.models.domain.recall import RecallLimit
from recalld.models.domain.standing import StandingReason, StandingVerdict
from recalld.models.domain.world import ProbeReason
from recalld.models.policy.cue_reply import CueReplyFault
from recalld.models.policy.profiles.sentences import CANDIDATE_SENTENCES, DECIDE_SENTENCES, PROBE_SENTENCES


class ReasonVocabulary(msgspec.Struct, frozen=True, kw_only=True):
    """One closed list of reasons.

    Attributes:
        name: What its codes are reasons of.
        codes: The list.
        sentences: What each means.
        remedies: What to do about each.
    """

    name: str
    codes: type[enum.StrEnum]
    sentences: Mapping[str, str]
    remedies: Mapping[str, str]


VOCABULARIES: Final = (
    ReasonVocabulary(
        name="recall",
        codes=RecallReason,
        sentences=words.RECALL_REASONS,
        remedies=remedies.RECALL_REMEDIES,
    ),
    ReasonVocabulary(
        name="degraded recall",
        codes=DegradedReason,
        sentences=words.DEGRADED_REASONS,
        remedies=remedies.DEGRADED_REMEDIES,
    ),
    ReasonVocabulary(
        name="candidate not recalled",
        codes=DropReason,
        sentences=words.DROP_REASONS,
        remedies=remedies.DROP_REMEDIES,
    ),
    ReasonVocabulary(
        name="limit of a recall",
        codes=RecallLimit,
        sentences=words.RECALL_LIMITS,
        remedies=remedies.RECALL_LIMIT_REMEDIES,
    ),
    ReasonVocabulary(
        name="observed turn",
        codes=AdmissionReason,
        sentences=words.ADMISSION_REASONS,
        remedies=remedies.ADMISSION_REMEDIES,
    ),
    ReasonVocabulary(
        name="outcome of a remember",
        codes=RememberOutcome,
        sentences=words.REMEMBER_OUTCOMES,
        remedies=remedies.REMEMBER_OUTCOME_REMEDIES,
    ),
    ReasonVocabulary(
        name="outcome of an observed fact",
        codes=FactOutcome,
        sentences=words.FACT_OUTCOMES,
        remedies=remedies.FACT_OUTCOME_REMEDIES,
    ),
    ReasonVocabulary(
        name="decision of a gate",
        codes=DecideReason,
        sentences=DECIDE_SENTENCES,
        remedies=remedies.DECIDE_REMEDIES,
    ),
    ReasonVocabulary(
        name="candidate of a gate",
        codes=CandidateReason,
        sentences=CANDIDATE_SENTENCES,
        remedies=remedies.CANDIDATE_REMEDIES,
    ),
    ReasonVocabulary(
        name="claim about the world",
        codes=ProbeReason,
        sentences=PROBE_SENTENCES,
        remedies=remedies.PROBE_REMEDIES,
    ),
    ReasonVocabulary(
        name="standing block",
        codes=StandingReason,
        sentences=words.STANDING_REASONS,
        remedies=remedies.STANDING_REMEDIES,
    ),
    ReasonVocabulary(
        name="candidate for the standing block",
        codes=StandingVerdict,
        sentences=words.STANDING_VERDICTS,
        remedies=remedies.STANDING_VERDICT_REMEDIES,
    ),
    ReasonVocabulary(
        name="update", codes=UpdateReason, sentences=words.UPDATE_REASONS, remedies=remedies.UPDATE_REMEDIES
    ),
    ReasonVocabulary(
        name="end of a backfill",
        codes=BackfillEnd,
        sentences=words.BACKFILL_ENDS,
        remedies=remedies.BACKFILL_END_REMEDIES,
    ),
    ReasonVocabulary(
        name="missing answer in a backfill",
        codes=BackfillFailure,
        sentences=words.BACKFILL_FAILURES,
        remedies=remedies.BACKFILL_FAILURE_REMEDIES,
    ),
    ReasonVocabulary(
        name="refused answer in a backfill",
        codes=CueReplyFault,
        sentences=words.CUE_REPLY_FAULTS,
        remedies=remedies.CUE_REPLY_REMEDIES,
    ),
)
"""Every list of reasons that a reply, the ledger or an event may hold."""


class ReasonHelp(msgspec.Struct, frozen=True, kw_only=True):
    """One code, explained. `of` is what it is a reason of: the same code may stand in several lists."""

    code: str
    of: str
    meaning: str
    remedy: str


class ReasonsDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What `recalld explain --reasons --json` prints."""

    reasons: tuple[ReasonHelp, ...]


def all_reasons() -> tuple[ReasonHelp, ...]:
    """Every code of every list."""
    return tuple(
        ReasonHelp(
            code=code.value,
            of=vocabulary.name,
            meaning=as_sentence(vocabulary.sentences[code]),
            remedy=vocabulary.remedies[code],
        )
        for vocabulary in VOCABULARIES
        for code in vocabulary.codes
    )


def help_for(code: str) -> tuple[ReasonHelp, ...]:
    """What a code means, once for each list that has it; empty when none does.

    Args:
        code: As it was printed; a detail behind a colon, as in `score_failed:RuntimeError`, is not part of it.
    """
    wanted = code.partition(":")[0].strip().lower()
    return tuple(each for each in all_reasons() if each.code == wanted)


def similar_codes(code: str) -> tuple[str, ...]:
    """Codes that are spelled alike, for whoever mistyped one."""
    known = list(dict.fromkeys(each.code for each in all_reasons()))
    return tuple(difflib.get_close_matches(code.lower(), known))


def as_sentence(text: str) -> str:
    """A phrase as a sentence."""
    whole = text[:1].upper() + text[1:]
    return whole if whole.endswith((".", "!", "?")) else f"{whole}."
