"""The words that tell what a clause is, one set of lists per language, compiled from `data/admission/<language>.toml`.

A phrase is words with a space between: `[a|b]` is optional, `(a|b)` a choice, `*` any one word, and `^` in front means
that it counts only where a clause begins. The languages are never merged, because "so" and "pas" and "no" mean other
things next door.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

import msgspec

from recalld.models.policy.admission.phrase_graph import ANY_WORD, Choices, PhraseNode, phrase_parts, phrase_tree
from recalld.models.policy.stop_words import LANGUAGES
from recalld.models.policy.term_text import fold_word


class Cue(enum.StrEnum):
    """What a phrase tells; each is a list of every language."""

    # How clauses hang together.
    CONNECTORS = "connectors"
    """Words at which a new clause begins."""
    JOINERS = "joiners"
    """Words at which one begins if one of `SUBJECTS` follows."""
    SUBJECTS = "subjects"
    """Words that open a clause of its own."""
    FILLERS = "fillers"
    """Words in front of a clause that change nothing."""
    OWN = "own"
    """The first person."""
    REASONS = "reasons"
    """What opens the reason of a question or request, which is stated."""
    PRESENT = "present"
    """What says that something holds now, whatever the tense."""
    STANDING = "standing"
    """What says that something holds for good."""

    # What is not so.
    DENIALS = "denials"
    UNTRUTHS = "untruths"
    """What says that the clause behind it is not so: it isn't true that."""
    KEPT_NEGATIONS = "kept_negations"
    """Denials that say something of the speaker: not a fan of."""
    ENDINGS = "endings"
    """What says that something holds no more."""

    # What is only supposed.
    SUPPOSITIONS = "suppositions"
    """What makes everything after it, up to the end of the sentence, a supposition."""
    CONDITIONALS = "conditionals"
    """What opens a condition."""
    CONSIDERATIONS = "considerations"
    """What makes its clause a plan or a thought."""
    MODALS = "modals"
    """Verb forms of what is supposed, in the sentence of a condition."""
    WISHES = "wishes"
    """Modals that only ask politely, or say what is liked."""
    COURTESIES = "courtesies"
    """Conditions that are only polite."""
    GUESSES = "guesses"
    BELIEFS = "beliefs"
    """What makes a guess of the statement before it, where it is a clause of its own."""

    # What was.
    PASTS = "pasts"
    PAST_VERBS = "past_verbs"
    """Verbs in the past that, with a year of the past, speak of what was."""
    PAST_EXEMPT = "past_exempt"
    """Verbs in the past that speak of what has stayed so: was born."""

    # What is asked for.
    ASKS = "asks"
    """What asks with or without a question mark."""
    MARKED_ASKS = "marked_asks"
    """What asks only in a sentence with a question mark."""
    RELATIVES = "relatives"
    """What opens a clause that hangs on the one before."""
    TAGS = "tags"
    """What makes a question of the statement before it."""
    PLAIN_TAGS = "plain_tags"
    """Those that do so without a question mark as well, behind a comma and at the end."""
    CHECKS = "checks"
    """What asks about the clause behind it, or to check it: is it correct that."""
    TASKS = "tasks"
    """What makes the words behind it something to work on."""
    REWORKINGS = "reworkings"
    """What makes all that follows words to be given another form: make this more polite."""
    DEFERRALS = "deferrals"
    """What puts such a request off, or makes a standing one of it: its words are not at hand."""
    DRAFTS = "drafts"
    """What, if it is a whole sentence, makes what follows a draft in somebody's mouth: write a letter."""
    CHOICES = "choices"
    """What asks about the lines of the list beside it: which is grammatical."""
    IMPERATIVES = "imperatives"
    ADDRESSES = "addresses"
    """Imperatives that say how to address somebody."""
    ONE_OFFS = "one_offs"
    """What says that a request is for once."""
    PLACES = "places"
    """What limits an order to the place at hand, where it ends the clause: here."""
    FOR_ONCE = "for_once"
    """What says so of anything."""

    # Whose words they are, and of whom.
    REPORTS = "reports"
    """What makes everything after it somebody else's words."""
    OUTSIDERS = "outsiders"
    """People and companies that are not the user's."""
    NAMINGS = "namings"
    """What says who of them the user's own are: my dentist is called."""
    GENERALITIES = "generalities"
    """What speaks of the world at large."""
    ROLE_PLAYS = "role_plays"
    """What makes the rest of the turn a play."""
    FICTIONS = "fictions"
    """What makes the rest of the paragraph invented."""

    JESTS = "jests"
    """What says that the sentence before was none in earnest."""

    # What passes.
    SITUATIONS = "situations"
    DEADLINES = "deadlines"
    """What has a date as its value."""
    UNTILS = "untils"
    """What says that something ends."""
    WEEK_ENDS = "week_ends"
    MONTH_ENDS = "month_ends"
    YEAR_ENDS = "year_ends"
    """Ends that the temporal grammar has no phrase for."""

    # What is built to be obeyed.
    OVERRIDES = "overrides"
    """What tells the assistant to forget its orders."""
    SENDINGS = "sendings"
    """Verbs that, with an address, send the user's words away."""
    CONCEALMENTS = "concealments"
    """What is to be kept from the user."""

    CAPABILITIES = "capabilities"
    """What the assistant can or cannot do."""
    INABILITIES = "inabilities"
    """Those of the assistant that nobody can want to lay down for good."""
    REFUSALS = "refusals"
    """What says that something is not to be kept."""

    # What the assistant may do.
    PERMISSIONS = "permissions"
    """What allows the assistant something."""
    GRANTS = "grants"
    """What makes a permission of an order: without asking."""
    PROHIBITIONS = "prohibitions"
    """What makes the opposite of one: never … without asking."""
    FORGETS = "forgets"
    """What asks that something stored be forgotten."""


class CueWords(msgspec.Struct, frozen=True, kw_only=True):
    """The lists of one language."""

    lists: dict[Cue, tuple[str, ...]]


class Sighting(msgspec.Struct, frozen=True):
    """A phrase found in a text: tokens [first, past_last)."""

    cue: Cue
    first: int
    past_last: int
    is_anchored: bool = False
    """It counts only where a clause begins."""


class CueGrammar:
    """The compiled lists of one language: finds all of them in one pass over a text.

    Args:
        words: The lists.
        is_unaccented: Whether phrases are also found where their accents were not typed. In German they make other
            words of them ("würde", "wurde").
    """

    def __init__(self, words: CueWords, *, is_unaccented: bool = False) -> None:
        self._root: PhraseNode[Cue] = phrase_tree(_spelled(words, is_unaccented=is_unaccented))

    def find(self, words: Sequence[str]) -> Iterator[Sighting]:
        """Yield the phrases in a text of such words, in order; of several at one word, the longest of each cue.

        A phrase of a cue in `HIDING` hides those of the cues in `HIDDEN` that begin inside of it: "from today" says
        nothing of today.
        """
        root = self._root
        covered = 0
        for place in [place for place, word in enumerate(words) if root.begins(word)]:
            node = root.at(words[place])
            if node is None or not node.goes_on_with(words, place + 1):
                continue
            longest: dict[tuple[Cue, bool], int] = {}
            _collect(words, place + 1, node, longest)
            hides_until = covered
            for (cue, is_anchored), past_last in longest.items():
                if is_anchored or place >= covered or cue not in HIDDEN:
                    yield Sighting(cue, place, past_last, is_anchored)
                if cue in HIDING and not is_anchored and past_last > hides_until:
                    hides_until = past_last
            covered = hides_until


def _spelled(words: CueWords, *, is_unaccented: bool) -> Iterator[tuple[Cue, tuple[Choices, ...]]]:
    """The phrases of all lists, and behind each what becomes of it without accents."""
    for cue, phrases in words.lists.items():
        for parts in map(phrase_parts, phrases):
            yield cue, parts
            if is_unaccented:
                folded = _folded(parts)
                if folded != parts:
                    yield cue, folded


def _folded(parts: Iterable[Choices]) -> tuple[Choices, ...]:
    return tuple(tuple(tuple(map(fold_word, words)) for words in choices) for choices in parts)


def _collect(words: Sequence[str], at: int, node: PhraseNode[Cue], longest: dict[tuple[Cue, bool], int]) -> None:
    """Note how far the longest phrase of each cue reaches; as deep as the longest phrase has words."""
    for cue in node.marks:
        longest[cue, False] = max(at, longest.get((cue, False), 0))
    for cue in node.anchored:
        longest[cue, True] = max(at, longest.get((cue, True), 0))
    if at < len(words):
        for word in (words[at], ANY_WORD):
            following = node.at(word)
            if following is not None:
                _collect(words, at + 1, following, longest)


UNACCENTED: Final = frozenset({"fr", "es"})
"""Languages whose accents are often left out."""
FRAMES: Final = (
    Cue.FORGETS,
    Cue.REFUSALS,
    Cue.ROLE_PLAYS,
    Cue.FICTIONS,
    Cue.TASKS,
    Cue.REWORKINGS,
    Cue.DEFERRALS,
    Cue.DRAFTS,
    Cue.CHOICES,
    Cue.JESTS,
)
"""What says something of more than its clause."""
HIDING: Final = frozenset(
    {
        Cue.STANDING,
        Cue.PRESENT,
        Cue.KEPT_NEGATIONS,
        Cue.COURTESIES,
        Cue.WISHES,
        Cue.PAST_EXEMPT,
        Cue.PERMISSIONS,
    }
)
"""Cues that hide what begins inside of their phrase: they are longer readings of the same words."""
HIDDEN: Final = frozenset(
    {
        Cue.SITUATIONS,
        Cue.ONE_OFFS,
        Cue.DENIALS,
        Cue.CONDITIONALS,
        Cue.CONNECTORS,
        Cue.MODALS,
        Cue.PASTS,
        Cue.CONSIDERATIONS,
    }
)
"""Cues that may be hidden."""


@cache
def shipped_words() -> dict[str, CueWords]:
    """The shipped lists by language code."""
    folder = files("recalld.models.policy").joinpath("data", "admission")
    return {
        language: CueWords(
            lists=msgspec.toml.decode(folder.joinpath(f"{language}.toml").read_bytes(), type=dict[Cue, tuple[str, ...]])
        )
        for language in LANGUAGES
    }


@cache
def shipped_grammar(language: str) -> CueGrammar:
    """The compiled lists of a shipped language."""
    return CueGrammar(shipped_words()[language], is_unaccented=language in UNACCENTED)


@cache
def frame_grammar(language: str) -> CueGrammar:
    """The compiled lists of what says something of more than its clause, which a whole turn is searched for."""
    lists = shipped_words()[language].lists
    return CueGrammar(CueWords(lists={cue: lists[cue] for cue in FRAMES}), is_unaccented=language in UNACCENTED)


@cache
def task_grammar(language: str) -> CueGrammar:
    """The compiled lists of what gives words to be worked on, often in another language than that of the words."""
    lists = shipped_words()[language].lists
    anchored = tuple(phrase for phrase in lists[Cue.TASKS] if phrase.startswith("^"))
    words = CueWords(lists={Cue.REWORKINGS: lists[Cue.REWORKINGS], Cue.TASKS: anchored})
    return CueGrammar(words, is_unaccented=language in UNACCENTED)


@cache
def task_openers(language: str) -> frozenset[str]:
    """The words that phrases of `task_grammar` begin with: in most turns of another language none of them stands."""
    lists = shipped_words()[language].lists
    phrases = (*lists[Cue.REWORKINGS], *(phrase for phrase in lists[Cue.TASKS] if phrase.startswith("^")))
    heads = {words[0] if words[0] != "^" else words[1] for phrase in phrases for words in expand(phrase)}
    return frozenset(heads | set(map(fold_word, heads)))


@cache
def filler_words(language: str) -> frozenset[str]:
    """The words that change nothing in front of a clause."""
    phrases = (variant for phrase in shipped_words()[language].lists[Cue.FILLERS] for variant in expand(phrase))
    return frozenset(word for variant in phrases for word in variant)


def first_person_words(language: str) -> frozenset[str]:
    """The words of a language's first person, of one word each."""
    phrases = (variant for phrase in shipped_words()[language].lists[Cue.OWN] for variant in expand(phrase))
    return frozenset(fold_word(variant[0]) for variant in phrases if len(variant) == 1)


@cache
def all_words(language: str) -> frozenset[str]:
    """Every word of a language's lists."""
    phrases = (phrase for each in shipped_words()[language].lists.values() for phrase in each)
    choices = (choice for phrase in phrases for part in phrase_parts(phrase) for choice in part)
    return frozenset(map(fold_word, {word for words in choices for word in words}))


def expand(phrase: str) -> Iterator[tuple[str, ...]]:
    """The plain variants of a phrase, each as its words."""
    for chosen in itertools.product(*phrase_parts(phrase)):
        yield tuple(itertools.chain.from_iterable(chosen))
