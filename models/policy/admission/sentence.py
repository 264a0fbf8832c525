"""One sentence as the rules of modality read it: its words, the phrases found in it, and its clauses.

Clauses are cut by punctuation and by the language's own connecting words. A parser would know more of grammar and
nothing of turns without commas or capitals; sentence splitters from libraries were not used either, because positions
must be those of the save grammar, whose sentences these are, and because they cut no clauses. Cost: one pass over the
sentence for each language looked for. Fails: towards fewer, longer clauses, and so towards more being struck.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from recalld.models.policy.admission.cue_words import Cue, Sighting, shipped_grammar
from recalld.models.policy.admission.tokens import Token, tokenize, tokens_within
from recalld.models.policy.save_turn import SaveTurn

SENTENCE_CHARS_MAX: Final = 1_200
"""Characters of a sentence that are read around a candidate: a turn without stops is one sentence of any length."""
_LEADING: Final = frozenset({Cue.FILLERS, Cue.STANDING})
"""What may stand before the words with which a clause begins in earnest: "please", "from now on"."""
_JOINING: Final = frozenset({Cue.JOINERS, Cue.CONNECTORS})
_HYPHENATING: Final = frozenset({"fr"})
"""Languages that join whole clauses with hyphens: "dis-moi", "est-ce"."""
_BREAK: Final = re.compile(r"[,;:\u2014\u2013()\[\]\n\u2026\ufffc]|\s-\s|\.\.|[.!?]\s")


class Clause(msgspec.Struct, frozen=True):
    """A clause: characters [start, end), tokens [first, past_last), and the phrases that begin in it.

    Attributes:
        head: The token at which it begins in earnest, words such as "and please" left out.
        kinds: What its phrases tell.
    """

    start: int
    end: int
    first: int
    past_last: int
    head: int
    cues: tuple[Sighting, ...]
    kinds: frozenset[Cue]

    def has(self, *cues: Cue) -> bool:
        """Whether any of the cues is in it."""
        return not self.kinds.isdisjoint(cues)

    def find(self, *cues: Cue) -> Sighting | None:
        """The first phrase of any of the cues."""
        if self.kinds.isdisjoint(cues):
            return None
        return next((each for each in self.cues if each.cue in cues), None)

    def opens_with(self, *cues: Cue) -> bool:
        """Whether a phrase of any of the cues stands at its beginning."""
        return self.has(*cues) and any(each.cue in cues and each.first in {self.first, self.head} for each in self.cues)

    @property
    def length(self) -> int:
        """Its words."""
        return self.past_last - self.first


class Sentence(msgspec.Struct, frozen=True):
    """A sentence, or the part of a long one around a candidate.

    Attributes:
        text: The turn's masked text, of which the sentence is characters [start, end).
        language: Whose lists were used.
        tokens: Its words.
        sightings: The phrases found in it.
        breaks: Tokens before which there is punctuation.
        clauses: In text order; at least one unless it has no words.
        is_question: It ends with a question mark.
    """

    text: str
    start: int
    end: int
    language: str
    tokens: tuple[Token, ...]
    sightings: tuple[Sighting, ...]
    breaks: frozenset[int]
    clauses: tuple[Clause, ...]
    is_question: bool

    def has(self, cue: Cue) -> bool:
        """Whether any clause has a cue."""
        return any(cue in clause.kinds for clause in self.clauses)

    def words(self, sighting: Sighting) -> str:
        """The words of a phrase as they were written, for a ruling's evidence."""
        last = max(sighting.first, sighting.past_last - 1)
        return self.text[self.tokens[sighting.first].start : self.tokens[last].end]

    def within(self, start: int, end: int) -> range:
        """The clauses that characters [start, end) reach into."""
        inside = [place for place, each in enumerate(self.clauses) if each.start < end and start < each.end]
        return range(inside[0], inside[-1] + 1) if inside else range(0)

    def around(self, start: int, end: int) -> Sentence:
        """The same sentence with clauses that end where the words [start, end) of a quote do.

        What was quoted begins a clause of its own behind a request or question that does not reach into it ("explain
        lifetimes im new to rust"), and ends one before a word that joins another ("… and must leave tomorrow").
        """
        first = next((place for place, each in enumerate(self.tokens) if each.end > start), 0)
        past_last = next((place for place, each in enumerate(self.tokens) if each.start >= end), len(self.tokens))
        bounds = {each.first for each in self.clauses}
        added: set[int] = set()
        if first not in bounds and self._is_led_in(first):
            added.add(first)
        if past_last not in bounds and any(each.first == past_last and each.cue in _JOINING for each in self.sightings):
            added.add(past_last)
        if not added:
            return self
        clauses = tuple(_clauses(self.tokens, self.sightings, sorted(bounds | added), self.breaks))
        return msgspec.structs.replace(self, clauses=clauses)

    def _is_led_in(self, first: int) -> bool:
        """Whether a request or question stands before a word in its clause, and ends before it."""
        clause = next((each for each in self.clauses if each.first < first < each.past_last), None)
        if clause is None:
            return False
        leads = (Cue.IMPERATIVES,) if self.is_question else (Cue.IMPERATIVES, Cue.ASKS)
        return any(each.cue in leads and each.past_last < first for each in clause.cues)


def read_sentence(turn: SaveTurn, position: int, past: int, language: str) -> Sentence:
    """Read the sentence around characters [position, past) of a turn, or the sentences, in one language.

    Args:
        turn: The user's own words.
        position: Where what is asked for begins.
        past: Where it ends.
        language: Whose lists to use.
    """
    start = max(turn.sentence_start(position), position - SENTENCE_CHARS_MAX // 2)
    end = min(turn.sentence_end(max(position, past - 1)), max(past, position + SENTENCE_CHARS_MAX // 2))
    end = min(end, start + 2 * SENTENCE_CHARS_MAX)
    return _read(turn.masked, start, end, language, tokens_within(turn.masked, start, end))


def read_again(sentence: Sentence, language: str) -> Sentence:
    """The same sentence read in another language."""
    return _read(sentence.text, sentence.start, sentence.end, language, sentence.tokens)


def read_text(text: str, start: int, end: int, language: str) -> Sentence:
    """Read characters [start, end) of a text with straight apostrophes as one sentence."""
    return _read(text, start, end, language, tokenize(text, start, end))


def _read(text: str, start: int, end: int, language: str, tokens: tuple[Token, ...]) -> Sentence:
    found = shipped_grammar(language).find([token.text for token in tokens])
    sightings = tuple(each for each in found if language in _HYPHENATING or not _is_in_compound(text, tokens, each))
    breaks = frozenset(_punctuated(text, tokens))
    bounds = sorted({0, *breaks, *_connected(sightings)})
    clauses = tuple(_clauses(tokens, sightings, bounds, breaks)) if tokens else ()
    is_question = text[start:end].rstrip(" \t\n\"')*_").endswith(("?", "\uff1f"))
    return Sentence(text, start, end, language, tokens, sightings, breaks, clauses, is_question)


def _clauses(
    tokens: Sequence[Token], sightings: Sequence[Sighting], bounds: Sequence[int], breaks: frozenset[int]
) -> Iterator[Clause]:
    """Yield the clauses between bounds; a phrase reaches over none of the breaks, which are punctuation."""
    fillers = {each.first: each.past_last for each in sightings if each.cue in _LEADING}
    firsts = [each.first for each in sightings]
    for first, past_last in zip(bounds, (*bounds[1:], len(tokens)), strict=True):
        head = first
        while head in fillers and fillers[head] < past_last:
            head = fillers[head]
        inside = sightings[bisect_left(firsts, first) : bisect_left(firsts, past_last)]
        cues = tuple(
            each
            for each in inside
            if (not each.is_anchored or each.first in {first, head})
            and (each.past_last <= past_last or breaks.isdisjoint(range(each.first + 1, each.past_last)))
        )
        yield Clause(
            tokens[first].start,
            tokens[past_last - 1].end,
            first,
            past_last,
            head,
            cues,
            frozenset(each.cue for each in cues),
        )


def _punctuated(text: str, tokens: Sequence[Token]) -> Iterator[int]:
    for place in range(1, len(tokens)):
        gap = text[tokens[place - 1].end : tokens[place].start]
        if gap not in {" ", "", "'"} and _BREAK.search(gap) is not None and not _is_in_number(gap, tokens, place):
            yield place


def _is_in_compound(text: str, tokens: Sequence[Token], sighting: Sighting) -> bool:
    """Whether a phrase is but a part of a longer word: "stop-loss", "today-view"; "role-play" is all of one."""
    first, last = tokens[sighting.first], tokens[sighting.past_last - 1]
    before = text[max(0, first.start - 2) : first.start]
    behind = text[last.end : last.end + 2]
    return _is_joint(before[::-1]) or _is_joint(behind)


def _is_joint(outward: str) -> bool:
    """Whether what stands beside a phrase, read outward, is a hyphen and more of the same word."""
    return len(outward) > 1 and outward[0] in "-_/" and outward[1].isalnum()


def _is_in_number(gap: str, tokens: Sequence[Token], place: int) -> bool:
    """Whether a comma or colon stands inside a number or a time: 2,400 and 10:30."""
    return len(gap) == 1 and tokens[place - 1].text[-1].isdigit() and tokens[place].text[0].isdigit()


def _connected(sightings: Sequence[Sighting]) -> Iterator[int]:
    subjects = {each.first for each in sightings if each.cue is Cue.SUBJECTS}
    for each in sightings:
        if each.cue is Cue.CONNECTORS or (each.cue is Cue.JOINERS and each.past_last in subjects):
            yield each.first
