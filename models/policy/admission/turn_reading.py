"""What a turn as a whole tells about the candidates in it: its language, refusals, plays, tales and tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import cache, cached_property
from itertools import takewhile
from typing import Final

import msgspec

from recalld.models.policy.admission.cue_words import (
    Cue,
    Sighting,
    all_words,
    filler_words,
    first_person_words,
    frame_grammar,
    task_grammar,
    task_openers,
)
from recalld.models.policy.admission.sentence import Sentence, read_again, read_sentence
from recalld.models.policy.admission.tokens import Token, folded, folded_words, tokenize, words_of
from recalld.models.policy.save_turn import SaveTurn
from recalld.models.policy.stop_words import DEFAULT_LANGUAGE, LANGUAGES, stop_words
from recalld.models.policy.term_text import fold_word
from recalld.models.policy.worked_on import worked_on_end


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """A phrase that says something of more than its clause, and the characters [start, end) it says it of."""

    cue: Cue
    start: int
    end: int
    words: str


class TurnReading:
    """A turn read once for all of its candidates; sentences are read when they are asked for.

    Args:
        turn: The user's own words.

    Attributes:
        language: Of the turn as a whole.
        frames: What holds for more than a clause, in text order.
    """

    def __init__(self, turn: SaveTurn) -> None:
        self._turn = turn
        self._words = words_of(turn.masked)
        self.language = vote(folded(set(self._words))) or DEFAULT_LANGUAGE
        self._sentences: dict[tuple[int, int], Sentence] = {}
        self.frames = tuple(self._find_frames())

    def sentence(self, start: int, end: int) -> Sentence:
        """The sentence around a quote, in its own language: that of the turn unless its words say otherwise."""
        turn = self._turn
        key = (turn.sentence_start(start), turn.sentence_end(max(start, end - 1)))
        read = self._sentences.get(key)
        if read is None or not (read.start <= start and end <= read.end):
            read = read_sentence(turn, start, end, self.language)
            own = vote(folded_words(read.tokens))
            if own is not None and own != self.language:
                read = read_again(read, own)
            self._sentences[key] = read
        return read.around(start, end)

    def frame(self, cue: Cue, start: int, end: int) -> Frame | None:
        """The first frame of a kind that holds for characters [start, end)."""
        return next((each for each in self.frames if each.cue is cue and each.start < end and start < each.end), None)

    def _find_frames(self) -> Iterator[Frame]:
        for language in dict.fromkeys((self.language, DEFAULT_LANGUAGE)):
            for sighting in frame_grammar(language).find(self._words):
                if sighting.cue is Cue.DEFERRALS:
                    continue
                if not sighting.is_anchored or self._opens(sighting, language):
                    yield self._frame(sighting, language)
        for language in LANGUAGES:
            if language not in {self.language, DEFAULT_LANGUAGE} and not task_openers(language).isdisjoint(self._words):
                found = task_grammar(language).find(self._words)
                yield from (self._frame(each, language) for each in found if self._opens(each, language))

    @cached_property
    def _tokens(self) -> tuple[Token, ...]:
        """The words with their places: in most turns no frame is found, and none is needed."""
        return tokenize(self._turn.masked)

    def _is_deferred(self, start: int, end: int, language: str) -> bool:
        """Whether the request in characters [start, end) is for later or for good, and brings no words with it."""
        words = words_of(self._turn.masked[start:end])
        found = frame_grammar(language).find(words)
        return ":" not in self._turn.masked[start:end] and any(each.cue is Cue.DEFERRALS for each in found)

    def _frame(self, sighting: Sighting, language: str) -> Frame:
        turn = self._turn
        at, past = self._tokens[sighting.first].start, self._tokens[sighting.past_last - 1].end
        start, end = turn.sentence_start(at), len(turn.text)
        if sighting.cue is Cue.REFUSALS:
            start = 0
        elif sighting.cue in {Cue.FICTIONS, Cue.DRAFTS}:
            end = turn.paragraph_end(at)
        elif sighting.cue is Cue.TASKS:
            start = at
            end = len(turn.text) if _is_introduction(turn, past) else turn.sentence_end(at)
        elif sighting.cue is Cue.REWORKINGS:
            sentence_end = turn.sentence_end(at)
            is_deferred = self._is_deferred(at, sentence_end, language)
            start, end = at, sentence_end if is_deferred else worked_on_end(turn, past)
        elif sighting.cue is Cue.CHOICES:
            start, end = _with_list(turn.text, at, past)
        elif sighting.cue is Cue.JESTS:
            previous = turn.previous_sentence(at)
            is_first = not words_of(turn.masked[start:at])
            start, end = previous[0] if is_first and previous is not None else start, past
        elif sighting.cue is Cue.FORGETS:
            end = _clause_end(turn, past)
        return Frame(cue=sighting.cue, start=start, end=end, words=turn.text[at:past])

    def _opens(self, sighting: Sighting, language: str) -> bool:
        """Whether an anchored phrase begins a sentence, but for a word or two such as "please".

        The user must not be among them ("I translate books"), and in front of "forget" nothing may stand but fillers:
        "don't forget that" asks for the opposite. A joke must be the whole sentence: "kidding aside" is none.
        """
        at = self._tokens[sighting.first].start
        before = self._turn.masked[self._turn.sentence_start(at) : at]
        words = words_of(before)
        if not first_person_words(language).isdisjoint(map(fold_word, words)):
            return False
        if sighting.cue in _FIRST and not filler_words(language).issuperset(words):
            return False
        if sighting.cue in {Cue.JESTS, Cue.DRAFTS}:
            past = self._tokens[sighting.past_last - 1].end
            return not words_of(self._turn.masked[past : self._turn.sentence_end(at)])
        return len(before.split()) <= _LEAD_WORDS_MAX and not any(mark in before for mark in ".!?")


_CLAUSE_END: Final = re.compile(r"[,;:](?=\s)|\s[-\u2013\u2014]\s|\u2014")
_FIRST: Final = frozenset({Cue.FORGETS, Cue.FICTIONS, Cue.REWORKINGS, Cue.DRAFTS, Cue.CHOICES, Cue.JESTS})
"""What, where it is anchored, only fillers may stand in front of."""
_LIST_LINE: Final = re.compile(r"[ \t]*(?:[-*+\u2022]|\d{1,2}[.)]|[A-Za-z][.)])[ \t]+\S")
LIST_LINES_MIN: Final = 2
"""Lines of a list that leave a choice."""
_LEAD_WORDS_MAX: Final = 2
"""Words that may stand before an anchored phrase of the whole turn: "dear assistant, translate …"."""


@cache
def _telling_words() -> dict[str, frozenset[str]]:
    """The words that tell each language: its stop words, and how its first person speaks ("usamos")."""
    return {language: listed | first_person_words(language) for language, listed in stop_words().items()}


def vote(seen: AbstractSet[str]) -> str | None:
    """The language that most of the telling words are of, of words that are folded; None where there are none.

    In a tie the one counts that more of the words are listed in, and after that English: "La competencia usa Redis" has
    one telling word, of two languages.
    """
    scores = {
        language: (len(seen & telling), len(seen & all_words(language)))
        for language, telling in _telling_words().items()
    }
    best = max(LANGUAGES, key=lambda language: scores[language])
    return best if any(scores[best]) else None


def _clause_end(turn: SaveTurn, position: int) -> int:
    """Where punctuation ends the clause that goes on at a position: behind it, what holds instead may be stated."""
    sentence_end = turn.sentence_end(max(0, position - 1))
    found = _CLAUSE_END.search(turn.masked, position, sentence_end)
    return sentence_end if found is None else found.start()


def _with_list(text: str, start: int, end: int) -> tuple[int, int]:
    """The characters of a question with the list right above it, or right below, where there is one."""
    above = text[: text.rfind("\n", 0, start) + 1].split("\n")[:-1]
    below = text[end:].split("\n")[1:]
    lines = list(takewhile(_LIST_LINE.match, reversed(above)))
    if len(lines) >= LIST_LINES_MIN:
        return start - sum(len(line) + 1 for line in lines), end
    lines = list(takewhile(_LIST_LINE.match, below))
    if len(lines) < LIST_LINES_MIN:
        return start, end
    line_end = text.find("\n", end)
    return start, line_end + sum(len(line) + 1 for line in lines)


def _is_introduction(turn: SaveTurn, position: int) -> bool:
    """Whether the sentence that goes on at a position ends in a colon: what it introduces follows."""
    line_end = turn.masked.find("\n", position)
    line = turn.masked[position : len(turn.masked) if line_end < 0 else line_end]
    return line.rstrip().endswith((":", "\uff1a"))
