"""A user's turn prepared for finding save commands: its own words, and where its sentences and paragraphs end."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

import msgspec

from recalld.models.policy.apostrophes import straight_apostrophes
from recalld.models.policy.caps import capped, head_and_tail
from recalld.models.policy.foreign_text import ForeignSpans, find_foreign_spans, remove_foreign_elements
from recalld.models.policy.host_text import strip_host_text
from recalld.models.policy.protected_spans import mask_code_and_quotes, remove_foreign_blocks

SENT_CHARS_MAX = 24_000
"""Characters of a turn as it was sent that are looked at, with what a host wrote into it: its head and its tail."""
TURN_CHARS_MAX = 17_000
"""Characters of the user's own words that are looked at: of a longer turn its head and its tail. Half of it is more
than the longest memory."""
LINES_MAX = 1_000
"""Lines of them: the first and the last. So many make no message of a person, and each is looked at on its own."""
_CUT_MARK = "\uf8fe"
"""A character of private use: stands where the middle of a turn was before anything of it was read."""
_CUT = "\n\n\n\n"
"""Stands where the middle of a long turn was; no paragraph reaches across."""

QUESTION_MARKS = ("?", "\uff1f", "\u061f", "\u037e", "\u2e2e", "\u203d", "\u2047", "\u2048", "\u2049")
"""Question marks of Latin, wide, Arabic and Greek script, the reversed one, and the doubled ones."""

_SENTENCE_END = re.compile(
    r"[.!?\u2026\u061f\u2e2e\u203d\u2047-\u2049\n\u3002\uff01\uff1f]"
    r"(?:(?<=\n)\s*|(?<=[\u3002\uff01\uff1f])|(?<![\n\u3002\uff01\uff1f])[\"')\]]*\s+)"
)
"""A stop, and what of its sentence stands behind it."""
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Za-z]|[A-Za-z]\.[A-Za-z]|Drs|Dre|Dra|Dr|Mr|Mrs|Ms|Mx|Mme|Mlle|Prof|Sra|Sr|Srta|Hr|Fr|St|Ste|vs|etc|approx|bzw|ca|No|Nr|Tel|\d{1,2})\.$"
)
_ABBREVIATION_CHARS = 8
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
_HIDDEN = re.compile(
    r"[\u00ad\u200b-\u200d\u2060\ufeff](?<=[A-Za-z].)[\u00ad\u200b-\u200d\u2060\ufeff]*(?=[A-Za-z'\u2019])"
)
"""Invisible characters inside a word, which would hide it from the grammar."""
_COLON = (":", "\uff1a")
_INTRODUCTION_CHARS_MAX = 400
"""Characters before a sentence in which a line that introduces it is looked for."""


class SaveTurn(msgspec.Struct, frozen=True, kw_only=True):
    """The user's own words twice, with the same positions: as written, and with code and quotations masked.

    Attributes:
        cut_at: Where the middle of a long turn was left out; None for one that is there as a whole.
        is_cut: Whether anything of it was left out because there was too much.
    """

    text: str
    masked: str
    foreign: ForeignSpans
    sentence_starts: tuple[int, ...]
    paragraph_ends: tuple[int, ...]
    cut_at: int | None = None
    is_cut: bool = False

    def is_cut_short(self, start: int, end: int) -> bool:
        """Whether what stands between two positions reaches what was left out, so that some of it may be missing."""
        if self.cut_at is None:
            return False
        between = self.text[end : self.cut_at] if start < self.cut_at else self.text[self.cut_at : start]
        return not between.strip()

    def sentence_start(self, position: int) -> int:
        """Where the sentence around `position` starts."""
        return self.sentence_starts[bisect_right(self.sentence_starts, position) - 1]

    def sentence_end(self, position: int) -> int:
        """Where the sentence around `position` ends, white space left out."""
        place = bisect_right(self.sentence_starts, position)
        limit = self.sentence_starts[place] if place < len(self.sentence_starts) else len(self.text)
        return position + len(self.text[position:limit].rstrip())

    def paragraph_end(self, position: int) -> int:
        """Where the paragraph around `position` ends, white space left out."""
        limit = self.paragraph_ends[bisect_left(self.paragraph_ends, position)]
        return position + len(self.text[position:limit].rstrip())

    def previous_sentence(self, position: int) -> tuple[int, int] | None:
        """Start and end of the sentence before the one around `position`, if it is in the same paragraph."""
        start = self.sentence_start(position)
        place = bisect_left(self.sentence_starts, start)
        if place == 0:
            return None
        before = self.sentence_starts[place - 1]
        if self.paragraph_end(before) < start:
            return None
        return before, self.sentence_end(before)

    def is_question(self, start: int, end: int) -> bool:
        """Whether the text between two positions ends with a question mark."""
        return self.masked[start:end].rstrip().endswith(QUESTION_MARKS)

    def introduction(self, position: int) -> str | None:
        """The line that introduces the lines around `position`, without its colon, if one does.

        That is the nearest line before that ends in a colon: of the same paragraph, or right above it.
        """
        start = self.masked.rfind("\n", 0, position) + 1
        before = self.masked[max(0, start - _INTRODUCTION_CHARS_MAX) : start].split("\n")[:-1]
        has_text = has_gap = False
        for line in reversed(before):
            plain = line.strip(" \t*_")
            if plain.endswith(_COLON):
                return plain[:-1]
            if (plain and has_gap) or (not plain and has_text):
                return None
            has_text = has_text or bool(plain)
            has_gap = has_gap or not plain
        return None


def prepare_turn(text: str) -> SaveTurn:
    """Prepare a turn: host text, foreign elements, private spans and quoted lines are left out."""
    sent = cut_sent(text)
    own = remove_foreign_blocks(strip_host_text(_HIDDEN.sub("", sent), is_strict=True))
    told = remove_foreign_elements(own)
    own = told.text.rstrip().lstrip("\n")
    halves = _head_and_tail(own)
    own = own if halves is None else _CUT.join(halves)
    masked = mask_code_and_quotes(straight_apostrophes(own))
    starts = [0]
    for match in _SENTENCE_END.finditer(masked):
        stop = match.start() + 1
        before = masked[max(0, stop - _ABBREVIATION_CHARS) : stop]
        if "\n" in match.group() or _ABBREVIATION.search(before) is None:
            starts.append(match.end())
    ends = [*(match.start() for match in _PARAGRAPH_END.finditer(masked)), len(masked)]
    return SaveTurn(
        text=own,
        masked=masked,
        foreign=find_foreign_spans(own),
        sentence_starts=tuple(starts),
        paragraph_ends=tuple(ends),
        cut_at=None if halves is None else len(halves[0]),
        is_cut=halves is not None or told.is_cut or _CUT_MARK in sent,
    )


def cut_sent(text: str) -> str:
    """The turn as it was sent, if it is short enough; else its head and tail with a mark that `prepare_turn` knows."""
    if len(text) <= SENT_CHARS_MAX or _CUT_MARK in text:
        return text
    return capped(text, SENT_CHARS_MAX, joint=f"\n\n{_CUT_MARK}\n\n")


def _head_and_tail(own: str) -> tuple[str, str] | None:
    """What is kept of too many characters or lines, and of what was cut as it was sent; None: all of it."""
    if _CUT_MARK in own:
        head, _, tail = own.partition(_CUT_MARK)
        halves = head[: TURN_CHARS_MAX // 2].rstrip(), tail[-(TURN_CHARS_MAX // 2) :].lstrip()
    else:
        found = head_and_tail(own, TURN_CHARS_MAX)
        if found is None and own.count("\n") < LINES_MAX:
            return None
        halves = (own, own) if found is None else found
    first, last = halves
    return (
        "\n".join(first.split("\n")[: LINES_MAX // 2]).rstrip(),
        "\n".join(last.split("\n")[-(LINES_MAX // 2) :]).replace(_CUT_MARK, "").lstrip(),
    )
