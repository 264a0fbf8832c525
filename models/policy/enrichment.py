"""Enrichment: the cues, asks and subjects that slots and the gazetteer add to a record when it is stored.

Guards: recall of what says too little. A cross-encoder does not know that Kubernetes is a container orchestrator, and
"where do I work?" shares no word with "Works at Acme"; both are told here, once, at no cost during recall.
Cost: a millisecond per stored record. Fails: towards adding nothing: a record that matches no slot and names nothing
gets nothing, and neither does a long text, a note, a text that the relevance models cannot read, or one that states
nothing of its user (a question, somebody else's words). What is denied counts as not named; see `stated`.

What was given is never displaced, changed or reordered. Questions are those of one slot, and only for a record that
comes without any: relevance looks at the mean over a record's asks, so questions after something else would make the
record worse to find.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from recalld.models.domain.records import CUE_CHARS_MAX, CUES_MAX, MemoryKind
from recalld.models.policy.duplicates import fold
from recalld.models.policy.gazetteer import UNINFORMATIVE_CATEGORIES, GazetteerEntry, Sighting, gazetteer
from recalld.models.policy.language import is_english
from recalld.models.policy.slots import TEXT_CHARS_MAX, SlotMatch, match_slots
from recalld.models.policy.stated import is_own_statement, stated_names
from recalld.models.policy.subjects import is_rejected, subjects_in

NAMES_MAX = 3
"""A record that names more things than this is about none of them."""
GAZETTEER_SOURCE = "gazetteer"
SLOT_SOURCE = "slot:"
"""Prefix of a slot's id among the sources."""


class Enrichment(msgspec.Struct, frozen=True, kw_only=True):
    """A record's cues and asks with what was added, and where that came from.

    Attributes:
        cues: Given ones first, then added ones; at most `CUES_MAX`.
        asks: The given ones, or those of one slot; never both.
        added_cues: How many of the cues, from the end, were added.
        added_asks: How many of the asks, from the end, were added.
        subjects: What the record is about, as it will be looked for.
        sources: Which slots and whether the gazetteer added something: `slot:editor`, `gazetteer`. Never text.
    """

    cues: tuple[str, ...]
    asks: tuple[str, ...]
    added_cues: int = 0
    added_asks: int = 0
    subjects: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


def enrich(text: str, kind: MemoryKind, cues: Sequence[str] = (), asks: Sequence[str] = ()) -> Enrichment:
    """What slots and gazetteer make of a record.

    Args:
        text: The record's text, checked.
        kind: Notes are stored as they are: what is in them is not stated of the user.
        cues: As given; at most `CUES_MAX`.
        asks: As given; at most `ASKS_MAX`.
    """
    given_cues, given_asks = tuple(cues), tuple(asks)
    if not _is_enrichable(text, kind):
        return Enrichment(cues=given_cues, asks=given_asks, subjects=_subjects(text, kind, given_cues))
    sightings = stated_names(text, gazetteer().find(text))
    matches = match_slots(text, sightings)
    names = _names(text, sightings)
    slot_cues = tuple(match.cue for match in matches)
    headings = (heading for heading in map(_heading, names) if not _says_the_same(heading, slot_cues))
    all_cues = _filled(given_cues, (*slot_cues, *headings), CUES_MAX)
    all_asks = given_asks or (matches[0].slot.asks if matches else ())
    added = all_cues[len(given_cues) :]
    return Enrichment(
        cues=all_cues,
        asks=all_asks,
        added_cues=len(added),
        added_asks=len(all_asks) - len(given_asks),
        subjects=_subjects(text, kind, all_cues),
        sources=_sources(matches, names, added, all_asks[len(given_asks) :]),
    )


def prepare_enrichment() -> None:
    """Load the gazetteer and the slots and compile their patterns: a tenth of a second, once in a process."""
    enrich("The user uses zsh.", MemoryKind.FACT)


def _is_enrichable(text: str, kind: MemoryKind) -> bool:
    is_short_statement = kind is not MemoryKind.NOTE and len(text) <= TEXT_CHARS_MAX
    return is_short_statement and is_english(text) and is_own_statement(text)


def _names(text: str, sightings: Sequence[Sighting]) -> tuple[GazetteerEntry, ...]:
    """The names that a record is about: few, telling, and not the one that it says was replaced."""
    telling = [each for each in sightings if each.entry.category not in UNINFORMATIVE_CATEGORIES]
    distinct = {each.entry.name: each.entry for each in telling if not is_rejected(text, each)}
    return tuple(distinct.values()) if len(distinct) <= NAMES_MAX else ()


def _heading(entry: GazetteerEntry) -> str:
    """The heading for a name, such as "Kubernetes (k8s): container orchestrator"."""
    others = (each for each in entry.aliases if each not in entry.tools)
    alias = next((each for each in others if not _is_variant(each, entry.name)), "")
    return f"{entry.name} ({alias}): {entry.category}" if alias else f"{entry.name}: {entry.category}"


def _says_the_same(heading: str, slot_cues: Iterable[str]) -> bool:
    """Whether a slot's cue names the same and the heading adds no other spelling to it."""
    name, _, _ = heading.partition(": ")
    return any(cue.endswith(f": {name}") for cue in slot_cues)


def _is_variant(alias: str, name: str) -> bool:
    """Whether an alias says nothing that the name does not: a part of it, or the same without a space."""
    bare, whole = ("".join(filter(str.isalnum, each.casefold())) for each in (alias, name))
    return bare in whole or whole in bare


def _filled(given: tuple[str, ...], more: Iterable[str], count_max: int) -> tuple[str, ...]:
    """The given texts, and behind them new ones while there is room."""
    filled = list(given)
    known = {fold(text) for text in given}
    for text in more:
        if len(filled) >= count_max:
            break
        if fold(text) not in known and len(text) <= CUE_CHARS_MAX:
            known.add(fold(text))
            filled.append(text)
    return tuple(filled)


def _sources(
    matches: Sequence[SlotMatch], names: Sequence[GazetteerEntry], cues: Sequence[str], asks: Sequence[str]
) -> tuple[str, ...]:
    """The slots and the gazetteer, as far as something of theirs found room."""
    used = [
        SLOT_SOURCE + match.slot.id
        for match in matches
        if match.cue in cues or any(ask in asks for ask in match.slot.asks)
    ]
    if any(_heading(name) in cues for name in names):
        used.append(GAZETTEER_SOURCE)
    return tuple(used)


def _subjects(text: str, kind: MemoryKind, cues: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(" ".join(subject.keys) for subject in subjects_in(text, kind, cues))
