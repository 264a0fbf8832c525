"""Whether a text states something of its user or team, and whether what it names is in use: told by its words alone.

Guards: that "We use Redis no more" is not found as if it said "We use Redis", and that what Priya's mail says of Priya
is not taken for the user's own words.
Cost: a few searches in a short text, once, when it is stored. Fails: towards nothing stated. What is not stated gets no
heading and no question of its own, and is found by its words as before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from recalld.models.policy.gazetteer import Sighting

_ASKED: Final = re.compile(
    r"\s*(?:(?:why|how|what|which|who|where|when)\b[^.!,;:\n]{0,30}?\b)?(?!do it\b)"
    r"(?:do|does|did|is|are|am|was|were|should|shall|could|can|would|will|may|might|has|have|had)"
    r"(?:n't)? (?:we|i|you|they|he|she|it|there|anyone|anybody|the user|the team|our|my)\b",
    re.IGNORECASE,
)
"""A question, whether or not it ends with a question mark."""
_SAID: Final = r"(?:said|says|wrote|told|replied|claims|claimed)"
_REPORTED: Final = re.compile(
    r"^[ \t]*(?:>|"
    r"(?:(?:e-?mail|message|letter|note|post) )?(?-i:[Ff]rom (?:[A-Z]|the )|From: )[^\n:]{0,60}(?::[ \t]*$|\n)|"
    r"quot(?:e|ed)\b[^\n:]{0,60}:|"
    r"(?!(?:the )?user's)[\w.-]+'s [\w-]+(?: [\w-]+)?:[ \t]*$)|"
    rf"(?<![\w'])(?:(?-i:(?!We\b|User\b|Team\b|The\b)[A-Z][\w'-]+)|he|she|they) (?:\w+ly )?{_SAID}\b(?! so\b)|"
    rf"(?<!\bi )(?<!\bwe )(?<!\buser )(?<!\bteam )(?<=\w )\b{_SAID}\b(?: \w+){{0,2}}:|"
    rf"(?:[\"'\u201d],?|,) {_SAID}\b",
    re.IGNORECASE | re.MULTILINE,
)
"""Somebody else's words: a quoted line, a mail, what a person wrote or said. The user's own reports are not meant."""
_INVENTED: Final = re.compile(
    r"\bin (?:my|the|a|an|his|her|our|this) (?:[\w-]+ )?(?:novel|book|story|film|movie|dream|poem|tale)\b",
    re.IGNORECASE,
)
"""What somebody in a story says is said of nobody."""

_USE: Final = r"(?:us(?:e|es|ed|ing)|runs?|running|ran|adopt(?:s|ed)?|wants?|needs?|likes?|touch(?:es)?)"
_DENIED_BEFORE: Final = re.compile(
    r"(?:"
    rf"\b(?:never|not|nobody|no one|none of [\w ]{{1,20}}|hardly|barely|rarely|\w+n't)\b[^.;,]{{0,40}}?\b{_USE} "
    r"[^.;,]{0,20}"
    r"|\b(?:stopped|quit|ceased|ended) (?:[\w]+ )?|\bg[ai]ve(?:n|s)? up (?:on |using )?|\bgot rid of |\bget rid of "
    r"|\bneither [^.;]{0,40}|\bno |\b(?:decided|voted|advised?|chose) against (?:using )?"
    r"|\bif only (?:we|i) [^.;]{0,20}|\b(?:false|untrue|wrong) that [^.;]{0,20}"
    r"|\b(?:left|abandoned|ditched|retired|removed|uninstalled|banned|forbids?|forbade) "
    r"|(?:\bnot|\bno longer|\w+n't) "
    r"|\b(?:we|i|they|team|user) (?:might|could|would|used to|may) [^.;,]{0,30}"
    r"|\b(?:called|named|nicknamed) "
    r")(?:the |our |any |a |an |on |in )?\Z",
    re.IGNORECASE,
)
"""In front of a name, up to it: it is not used, or something else bears it."""
_OVER: Final = (
    r"(?:removed|retired|deprecated|dropped|banned|forbidden|prohibited|decommissioned|abandoned|discontinued|gone|"
    r"rejected|ruled out|"
    r"phased out|shut down|switched off|uninstalled)"
)
_DENIED_AFTER: Final = re.compile(
    r"\b(?:no (?:more|longer)(?=\s*(?:\Z|[).,;]|since\b|here\b|in\b|used\b|supported\b|allowed\b|an? option\b))"
    r"|not any ?(?:more|longer)|any ?more(?=\s*(?:\Z|[).,;]|since\b|here\b))|any longer)"
    r"|(?:\bnot|n't|\bnever) (?:been |be )?(?:used|allowed|permitted|in use|wanted|an option)\b"
    rf"|(?:\b(?:is|are|was|were|been|got|gets|be)\b|\A\s*:|\A\s*\() ?(?:now |long |to be )?{_OVER}\b"
    r"|\b(?:until|before) (?:we|i|they|the team|last|recently|now|\d{4})\b",
    re.IGNORECASE,
)
"""Behind a name, in its sentence: it is no longer used, or must not be."""
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s|\Z)|\n")
_BEFORE_CHARS, _AFTER_CHARS = 100, 160
"""How far in front of a name a denial of it may begin, and how far behind it one may end."""
_OTHER_CLAUSE: Final = re.compile(r"[,;]|\bbut\b|\binstead of\b", re.IGNORECASE)


def is_own_statement(text: str) -> bool:
    """Whether a text may state something of its user or team: it neither asks, nor reports, nor tells a story."""
    plain = text.replace("\u2019", "'")
    return not (_ASKED.match(plain) or _REPORTED.search(plain) or _INVENTED.search(plain))


def stated_names(text: str, sightings: Sequence[Sighting]) -> tuple[Sighting, ...]:
    """The names in a text that it does not deny, forbid, leave behind or only suppose.

    Args:
        text: What they were found in.
        sightings: All of them, in order.
    """
    plain = text.replace("\u2019", "'")
    ends = [*(each.start for each in sightings[1:]), len(plain)]
    return tuple(each for each, end in zip(sightings, ends, strict=False) if not _is_denied(plain, each, end))


def _is_denied(text: str, name: Sighting, next_start: int) -> bool:
    """Whether a name's sentence says that it is not in use. What is said of the next name is not said of this one."""
    before = text[max(0, name.start - _BEFORE_CHARS) : name.start]
    starts = [match.end() for match in _SENTENCE_END.finditer(before)]
    if _DENIED_BEFORE.search(before, starts[-1] if starts else 0) is not None:
        return True
    rest = text[name.end : name.end + _AFTER_CHARS]
    end = _SENTENCE_END.search(rest)
    after = rest if end is None else rest[: end.start()]
    between = after[: max(0, next_start - name.end)]
    border = _OTHER_CLAUSE.search(between) if next_start < name.end + len(after) else None
    return _DENIED_AFTER.search(after if border is None else between[: border.start()]) is not None
