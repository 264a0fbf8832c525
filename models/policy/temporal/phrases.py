"""Phrases compiled to a tree, and the longest phrase at a place of the text.

Notation of the tables: words stand for themselves; `[a|b c]` is an optional choice and `(a|b)` a choice, neither
nested; `{month}` is a slot, inside a choice too. Every phrase is expanded into its plain variants, and all of them
together form a prefix tree. Phrases are short, so the work at each token is bounded and a text costs linear time.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

import msgspec

from recalld.models.policy.temporal.slots import STORED_AS, Slot, SlotReader
from recalld.models.policy.temporal.time_span import TemporalRule
from recalld.models.policy.temporal.tokens import Token, tokenize
from recalld.models.policy.temporal.words import PhraseEntry, TemporalWords, shipped_words

INTERVAL_RULES = frozenset(
    {
        TemporalRule.PAST_UNITS,
        TemporalRule.RECENTLY,
        TemporalRule.MONTH_DAYS,
        TemporalRule.RANGE,
        TemporalRule.SINCE,
        TemporalRule.UNTIL,
        TemporalRule.BEFORE,
        TemporalRule.AFTER,
    }
)
"""Rules whose phrases fill no slot of another phrase."""
_NOTATION = re.compile(r"\[(?P<optional>[^\]]+)\]|\((?P<choice>[^)]+)\)|(?P<plain>[^\[(]+)")
_PLAIN = re.compile(r"\{(?P<slot>\w+)\}|(?P<words>[^{]+)")

Element = str | Slot
"""A folded word, or a slot."""


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """A phrase found in a text."""

    start: int
    end: int
    """Tokens, half-open."""
    entry: PhraseEntry | None
    """What it means; None: it only looks temporal."""
    rank: int
    """Which of equally long phrases goes first: the lowest."""
    values: Mapping[Slot, int]
    points: tuple[Match, ...]
    """The phrases inside, in text order."""


class _Node:
    """A place in the tree: where each next element leads, and what ends here."""

    def __init__(self) -> None:
        self.words: dict[str, _Node] = {}
        self.slots: dict[Slot, _Node] = {}
        self.rank: int | None = None
        """The place of the phrase in the tables; None: no phrase ends here."""
        self.entry: PhraseEntry | None = None

    def follow(self, element: Element) -> _Node:
        if isinstance(element, Slot):
            return self.slots.setdefault(element, _Node())
        return self.words.setdefault(element, _Node())

    def add(self, elements: Iterable[Element], *, rank: int, entry: PhraseEntry | None) -> None:
        node = self
        for element in elements:
            node = node.follow(element)
        if node.rank is None:  # the phrase listed first wins
            node.rank, node.entry = rank, entry


class _Partial(msgspec.Struct, frozen=True):
    """A phrase on its way through the tree."""

    node: _Node
    at: int
    values: tuple[tuple[Slot, int], ...] = ()
    points: tuple[Match, ...] = ()


class PhraseTree:
    """The phrases of one language."""

    def __init__(self, words: TemporalWords) -> None:
        self._reader = SlotReader(words)
        self._outer, self._points, self._named_points = _Node(), _Node(), _Node()
        for variant in itertools.chain.from_iterable(map(expand, words.blockers)):
            self._outer.add(variant, rank=len(words.phrases), entry=None)
        for rank, entry in enumerate(words.phrases):
            for variant in itertools.chain.from_iterable(map(expand, entry.phrases)):
                if entry.rule not in INTERVAL_RULES:
                    self._points.add(variant, rank=rank, entry=entry)
                    if not entry.is_inner:
                        self._named_points.add(variant, rank=rank, entry=entry)
                if not entry.is_inner:
                    self._outer.add(variant, rank=rank, entry=entry)

    def longest(self, tokens: Sequence[Token], start: int) -> Match | None:
        """The longest phrase that starts at `tokens[start]`; of equally long ones the first listed, blockers last."""
        if not self.may_open(tokens[start]):
            return None
        matches = self._matches(self._outer, tokens, start)
        return max(matches, key=lambda match: (match.end, -match.rank), default=None)

    def may_open(self, token: Token) -> bool:
        """Whether a phrase may start with the token: a quick check that spares most words of a text the slow one."""
        return token.text in self._outer.words or token.text in self._points.words or self._reader.fills_any(token)

    def _matches(self, root: _Node, tokens: Sequence[Token], start: int) -> Iterator[Match]:
        pending = [_Partial(root, start)]
        while pending:
            partial = pending.pop()
            if partial.node.rank is not None:
                yield Match(
                    start=start,
                    end=partial.at,
                    entry=partial.node.entry,
                    rank=partial.node.rank,
                    values=dict(partial.values),
                    points=partial.points,
                )
            pending.extend(self._next(partial, tokens, start))

    def _next(self, partial: _Partial, tokens: Sequence[Token], start: int) -> Iterator[_Partial]:
        node, at = partial.node, partial.at
        if Slot.DATE_END in node.slots and self._reader.ends_date(tokens, at):
            yield _Partial(node.slots[Slot.DATE_END], at, partial.values, partial.points)
        if at >= len(tokens) or (at > start and not tokens[at].is_joined):
            return
        for slot, following in node.slots.items():
            if slot in {Slot.POINT, Slot.NAMED_POINT}:
                root = self._points if slot is Slot.POINT else self._named_points
                for point in self._matches(root, tokens, at):
                    yield _Partial(following, point.end, partial.values, (*partial.points, point))
            elif slot is not Slot.DATE_END and (value := self._reader.read(slot, tokens, at)) is not None:
                yield _Partial(following, at + 1, (*partial.values, (STORED_AS[slot], value)), partial.points)
        if tokens[at].text in node.words:
            yield _Partial(node.words[tokens[at].text], at + 1, partial.values, partial.points)


@cache
def phrase_tree(language: str) -> PhraseTree:
    """The compiled phrases of a shipped language.

    Raises:
        ValueError: There are no tables for that language.
    """
    tables = shipped_words()
    if language not in tables:
        message = f"language: {language!r} has no word tables; use one of {', '.join(tables)}"
        raise ValueError(message)
    return PhraseTree(tables[language])


def expand(phrase: str) -> Iterator[tuple[Element, ...]]:
    """The plain variants of a phrase of the tables.

    Raises:
        ValueError: The phrase names a slot that does not exist.
    """
    for chosen in itertools.product(*map(_choices, _NOTATION.finditer(phrase))):
        yield tuple(itertools.chain.from_iterable(chosen))


def _choices(part: re.Match[str]) -> list[tuple[Element, ...]]:
    if part["plain"] is not None:
        return [_plain(part["plain"])]
    choices = [_plain(choice) for choice in (part["optional"] or part["choice"]).split("|")]
    return [(), *choices] if part["optional"] is not None else choices


def _plain(words: str) -> tuple[Element, ...]:
    elements: list[Element] = []
    for part in _PLAIN.finditer(words):
        if part["slot"] is not None:
            elements.append(Slot(part["slot"]))
        else:
            elements.extend(token.text for token in tokenize(part["words"]))
    return tuple(elements)
