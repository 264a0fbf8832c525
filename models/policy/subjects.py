"""Subjects: what a record is about, by name, and how far a query names it.

Guards: that a record which answers no question ("Web client is Svelte 5") is there when its subject comes up, and that
one which merely shares a word with the query is not.
Cost: one pass over a record's words, remembered for each revision; then one look-up per subject and query.
Fails: towards no subject. A common word is never one: the note on the rack layout of the GPU hosts has "GPU rack
layout" as a subject, and is silent on GPU benchmarks.

A subject is a name in the gazetteer with its other spellings, the name of an entity record, or a short cue. What a
record rejects or replaces ("CI moved from Jenkins to Buildkite") is a subject as well: "should I write a Jenkinsfile?"
wants to be told.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

import msgspec

from recalld.models.domain.records import Memory, MemoryKind
from recalld.models.policy import word_lists
from recalld.models.policy.gazetteer import UNINFORMATIVE_CATEGORIES, Sighting, gazetteer
from recalld.models.policy.stop_words import stop_words
from recalld.models.policy.term_text import clean_text, fold_word
from recalld.models.policy.turn.inflections import inflection_key

SUBJECT_WORDS_MAX = 4
"""A longer cue is a sentence, not a name."""
OPENING_CHARS = 40
"""Characters at the head of a record in which a name is its topic."""
SUBJECTS_MAX = 24
"""Subjects kept of one record, with their other spellings."""
TEXT_CHARS_MAX = 2_000
"""Characters of a record that are looked at for names: what comes later is seldom what it is about."""
NEAR_LETTERS_MIN = 6
"""Shortest word in which one wrong letter is forgiven: in shorter ones it makes another word."""
LONG_WORDS_MAX = 64
"""Words of a query in which a wrong letter is looked for: a pasted text is not compared letter by letter."""
MENTION_WHOLE, MENTION_NEAR, MENTION_GENERAL = 1.0, 0.8, 0.5
"""A mention by whole units or inflections, one with a letter wrong, and one of a technology at large."""
GENERAL_CATEGORIES = frozenset(
    {"programming language", "operating system", "shell", "runtime", "compiler", "version control system"}
)
"""Categories of the gazetteer of which a name alone tells little: "reverse a list in Python" is about lists."""

_WORD = re.compile(r"[^\W_]+(?:\+\+|#)?")
_ENTITY_NAME = re.compile(
    r"\s*[\"'(]?(?P<name>[^\W_][^:,;(\n]{0,60}?)[\"')]?\s*(?::|\(|,| = | - | \u2013 | is | are | ist )"
)
_PARENTHESIS = re.compile(r"\(([^()]{1,40})\)")
_CUE_NAME = re.compile(r"(?P<name>[^():]+)")
_REJECTED_BEFORE = re.compile(
    r"\b(?:not|not on|not in|no longer (?:on|in|use|uses|using)?|instead of|rather than|replac(?:e|es|ed|ing)|"
    r"(?:moved|switched|migrated|migrating|moving) (?:away )?(?:from|off)|away from|dropped|drops|without|never|"
    r"from|no|avoids?|\w+n't use|\w+n't using|used to use|stopped using|hardly use|neither|nor)"
    r"(?: the| our| any| using| use)?\s*\Z",
    re.IGNORECASE,
)
_MOVED = re.compile(r"\b(?:mov|switch|migrat|chang|port)(?:e|es|ed|ing)?\b[^.;!\n]*\Z", re.IGNORECASE)
_TO_AFTER = re.compile(r"[^.;!\n]{0,60}?\b(?:to|with)\b", re.IGNORECASE)
_BEFORE_CHARS = 48


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """One thing a record is about.

    Attributes:
        words: Its words in order, folded.
        keys: Their inflection keys: the form in which it is looked for.
        is_name: A proper name, identifier or gazetteer name, not a heading.
        is_everyday: Its word means something else in most texts ("go"): only a query that clearly means it names it.
        is_exact: It is a word of other meanings in another form: "woodpeckers" are not the CI system.
        is_rejected: The record says that it is not, or no longer, so.
        is_general: It names a language or the like, which most of what is asked about it has nothing to do with.
        spelled: How the head of an entity record writes it; empty for all others. Another record that names it writes
            it likewise: "State: …" is not what the word "state" means there.
    """

    words: tuple[str, ...]
    keys: tuple[str, ...]
    is_name: bool
    is_everyday: bool = False
    is_exact: bool = False
    is_rejected: bool = False
    is_general: bool = False
    spelled: str = ""


class QueryWords:
    """A query prepared for `mention`.

    Attributes:
        words: Its distinct words, folded.
        keys: The inflection keys of all its words, in order.
        key_set: The same, without order.
        long_words: Those in which one wrong letter is forgiven, by their length; `LONG_WORDS_MAX` at most.
        names: The words of every spelling of each gazetteer name in it.

    Args:
        text: The user's own words; the first `TEXT_CHARS_MAX` characters are looked at.
    """

    def __init__(self, text: str) -> None:
        looked_at = text[:TEXT_CHARS_MAX]
        words = _words(looked_at)
        self.words = frozenset(words)
        self.keys = tuple(map(inflection_key, words))
        self.key_set = frozenset(self.keys)
        self.long_words: dict[int, list[str]] = {}
        long_words = [word for word in dict.fromkeys(words) if len(word) >= NEAR_LETTERS_MIN and word.isalpha()]
        for word in long_words[:LONG_WORDS_MAX]:
            self.long_words.setdefault(len(word), []).append(word)
        self.names = frozenset(
            _spelled(spelling) for sighting in gazetteer().find(looked_at) for spelling in sighting.entry.spellings
        )


def subjects_of(memory: Memory) -> tuple[Subject, ...]:
    """What a record is about, names first, at most `SUBJECTS_MAX`."""
    return subjects_in(memory.text, memory.kind, memory.cues)


def subjects_in(text: str, kind: MemoryKind, cues: Sequence[str]) -> tuple[Subject, ...]:
    """As `subjects_of`, of a record that is not stored yet."""
    found: dict[tuple[str, ...], Subject] = {}
    for subject in (*_gazetteer_subjects(text), *_entity_subjects(text, kind), *_cue_subjects(cues)):
        found.setdefault(subject.keys, subject)
    return tuple(found.values())[:SUBJECTS_MAX]


def main_subjects(memory: Memory) -> tuple[Subject, ...]:
    """What a record is about in the first place: its head name, names in its cues, the one name it opens with.

    Of the gazetteer's names in its text that is the only one among its first `OPENING_CHARS` characters, unless it is
    rejected there.
    """
    opening = [
        each
        for each in gazetteer().find(memory.text[:OPENING_CHARS])
        if each.entry.category not in UNINFORMATIVE_CATEGORIES
    ]
    sole = opening if len({each.entry.name for each in opening}) == 1 else ()
    found = (
        *(each for each in _entity_subjects(memory.text, memory.kind) if _tells(each)),
        *(each for each in _cue_subjects(memory.cues) if each.is_name),
        *_sighted(memory.text, sole[:1]),
    )
    return tuple({each.keys: each for each in found if not each.is_rejected}.values())


def _tells(subject: Subject) -> bool:
    """Whether a head name is more than an ordinary word: "staging" heads a record and is named everywhere."""
    common = stop_words()["en"] | word_lists.words("technical_words.en.txt")
    return any(word not in common for word in subject.words) and (subject.is_name or len(subject.words) == 1)


def mention(query: QueryWords, subjects: Iterable[Subject]) -> float:
    """How far a query names one of the subjects: 1 as whole units or inflections, 0.8 with a letter wrong, else 0.

    A general one counts 0.5 at most.
    """
    best = 0.0
    for subject in subjects:
        found = mention_of(query, subject)
        best = max(best, min(found, MENTION_GENERAL) if subject.is_general else found)
        if best == MENTION_WHOLE:
            break
    return best


def mention_of(query: QueryWords, subject: Subject) -> float:
    """As `mention`, of one subject."""
    if subject.words in query.names:
        return MENTION_WHOLE
    if subject.is_everyday:
        return 0.0
    if subject.is_exact:
        return MENTION_WHOLE if subject.words[0] in query.words else 0.0
    if subject.keys[0] in query.key_set and _occurs(query.keys, subject.keys):
        return MENTION_WHOLE
    return MENTION_NEAR if _is_near(query, subject) else 0.0


def is_rejected(text: str, sighting: Sighting) -> bool:
    """Whether a text names something only to say that it is not, or no longer, used."""
    before = text[max(0, sighting.start - _BEFORE_CHARS) : sighting.start]
    match = _REJECTED_BEFORE.search(before)
    if match is None:
        return False
    is_origin = match.group().strip().casefold().split()[0] == "from"
    return not is_origin or _MOVED.search(before) is not None or _TO_AFTER.match(text, sighting.end) is not None


def _gazetteer_subjects(text: str) -> Iterator[Subject]:
    looked_at = text[:TEXT_CHARS_MAX]
    return _sighted(looked_at, gazetteer().find(looked_at))


def _sighted(text: str, sightings: Iterable[Sighting]) -> Iterator[Subject]:
    """Every spelling of what was sighted in a text."""
    for sighting in sightings:
        rejected = is_rejected(text, sighting)
        for spelling in sighting.entry.spellings:
            yield _subject(
                _spelled(spelling),
                is_name=True,
                is_everyday=spelling in sighting.entry.everyday,
                is_exact=spelling in sighting.entry.cased,
                is_rejected=rejected,
                is_general=sighting.entry.category in GENERAL_CATEGORIES,
            )


def _entity_subjects(text: str, kind: MemoryKind) -> Iterator[Subject]:
    """The name at the head of an entity record: "holdq: reservation queue service"."""
    if kind is not MemoryKind.ENTITY:
        return
    match = _ENTITY_NAME.match(text)
    if match is None:
        return
    words = _name_words(match["name"])
    if words:
        is_name = any(map(_looks_like_name, match["name"].split())) or _has_proper(match["name"])
        yield msgspec.structs.replace(_subject(words, is_name=is_name, is_exact=True), spelled=match["name"])


def _has_proper(name: str) -> bool:
    """Whether a name has a capital behind its first word, as "Brennhofer Pumpen" and not "Main internet line"."""
    return any(word[:1].isupper() for word in name.split()[1:])


def _cue_subjects(cues: Iterable[str]) -> Iterator[Subject]:
    """A cue's heading, and a name or abbreviation it gives in parentheses."""
    for cue in cues:
        match = _CUE_NAME.match(cue)
        if match is not None:
            words = _name_words(match["name"])
            is_name = bool(words) and _is_named(match["name"])
            if is_name or len(words) > 1:
                yield _subject(words, is_name=is_name)
        for inside in _PARENTHESIS.findall(cue):
            words = _name_words(inside)
            if words and _is_named(inside):
                yield _subject(words, is_name=True)


def _subject(
    words: tuple[str, ...],
    *,
    is_name: bool,
    is_everyday: bool = False,
    is_exact: bool = False,
    is_rejected: bool = False,
    is_general: bool = False,
) -> Subject:
    return Subject(
        words=words,
        keys=tuple(map(inflection_key, words)),
        is_name=is_name,
        is_everyday=is_everyday,
        is_exact=is_exact and len(words) == 1,
        is_rejected=is_rejected,
        is_general=is_general or _is_general_name(words),
    )


def _is_general_name(words: tuple[str, ...]) -> bool:
    """Whether a heading is no more than the name of something general, as "Python" is."""
    entry = gazetteer().entry_of_words(words)
    return entry is not None and entry.category in GENERAL_CATEGORIES


def _name_words(text: str) -> tuple[str, ...]:
    """The words of a name; none for a sentence, or for common words alone."""
    words = _words(text)
    if not 1 <= len(words) <= SUBJECT_WORDS_MAX or all(word in stop_words()["en"] for word in words):
        return ()
    return words


def _is_named(text: str) -> bool:
    """Whether a short text is a name or an identifier, not common words: each word has a capital, digit or joiner."""
    return all(_looks_like_name(word) for word in text.split()) and bool(text.split())


def _looks_like_name(word: str) -> bool:
    bare = word.strip("\"'.,;!?")
    if bare.isalpha() and bare.islower():  # most words of most headings, and none of the signs below
        return False
    if any(character.isdigit() or character in "_-./@#+" for character in bare):
        return any(map(str.isalpha, bare))
    return any(map(str.isupper, bare[1:])) or (bare[:1].isupper() and gazetteer().entry_of(bare) is not None)


@cache
def _spelled(spelling: str) -> tuple[str, ...]:
    """The words of one of the gazetteer's spellings: there are only so many, and the same ones come up again."""
    return _words(spelling)


def _words(text: str) -> tuple[str, ...]:
    """The words of a text, folded; an identifier counts as its parts (auth_token is auth, token)."""
    cleaned = clean_text(text)
    if cleaned.isascii():  # then lower case is all that folding does
        return tuple(_WORD.findall(cleaned.lower()))
    return tuple([fold_word(word) for word in _WORD.findall(cleaned)])


def _occurs(units: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Whether the words stand in the units one behind the other."""
    if len(words) == 1:
        return words[0] in units
    length = len(words)
    return any(units[place : place + length] == words for place in range(len(units) - length + 1))


def _is_near(query: QueryWords, subject: Subject) -> bool:
    """Whether the query has a subject of one word with a letter wrong, missing, added or swapped with its neighbour."""
    word = subject.words[0]
    if len(subject.words) != 1 or len(word) < NEAR_LETTERS_MIN or not word.isalpha():
        return False
    lengths = (len(word), len(word) - 1, len(word) + 1)
    return any(_is_one_edit(other, word) for length in lengths for other in query.long_words.get(length, ()))


def _is_one_edit(left: str, right: str) -> bool:
    """Whether two words of about the same length become equal by one edit, a swap of neighbours included."""
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    rest_left, rest_right = left[start:], right[start:]
    if len(left) == len(right):
        is_swap = rest_left[:2] == rest_right[1::-1] and rest_left[2:] == rest_right[2:]
        return is_swap or rest_left[1:] == rest_right[1:]
    longer, shorter = (rest_left, rest_right) if len(left) > len(right) else (rest_right, rest_left)
    return longer[1:] == shorter


def holders(subjects: Mapping[str, Sequence[Subject]]) -> Mapping[tuple[str, ...], int]:
    """How many of the records hold each subject, by the subject's keys.

    Args:
        subjects: By record id.
    """
    return Counter(keys for held in subjects.values() for keys in {subject.keys for subject in held})
