"""The words of explicit save commands, one grammar per language, compiled from `data/explicit_save.json`.

Phrases are plain text: a space stands for any white space, `[a|b]` for an optional word or words, and accents and
apostrophes are matched as written (curly ones are made straight before). `refusals` are regular expressions in which
`{clause}` stands for the start of a clause.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

import msgspec

CLAUSE = r"(?:(?<![\w\s'])\s*|^\s*|\b(?:but|and|please|though|also|so|just)\s+)"
"""The start of a clause: after punctuation, at the start, or after a word that joins clauses or asks politely."""

_NEVER = r"(?!)"


class SaveWords(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The word lists of one language.

    Attributes:
        commands: What asks to remember.
        complementisers: What may join a command to its statement: that.
        objects: What may stand for the statement: this, the following.
        fillers: What may come between the two: please, for later.
        leads: What may come before a command without changing it: please, and, also.
        requests: Leads that make a question of it and still ask: could you.
        negators_before: What turns a command round from the front: don't, no need to.
        negators_after: What does so from behind, in languages that do.
        questions: What makes a question of a command: do you.
        wh_words: What opens a question or a heading instead of a statement: what, how.
        reminiscences: What opens a shared memory: that time.
        task_marks: What opens a task instead of a statement: to.
        standing_marks: What makes a task one for good: always, every.
        hypotheticals: What makes the words before a command a hypothesis or fiction.
        courtesies: Conditions that are only polite: if you have a minute.
        reports: Verbs that put a command into another mouth.
        exercises: What makes the words after it an example or something to work on: translate, for instance.
        role_plays: What opens a role-play or a tale that goes on in the sentences after it.
        addressees: What begins a statement about the assistant: you.
        refusals: Regular expressions of saying that something is not to be saved.
        preference_marks: What makes a statement a preference.
        procedure_marks: What makes a statement a procedure, with a colon or twice.
    """

    commands: tuple[str, ...]
    complementisers: tuple[str, ...]
    objects: tuple[str, ...]
    fillers: tuple[str, ...]
    leads: tuple[str, ...]
    requests: tuple[str, ...]
    negators_before: tuple[str, ...]
    negators_after: tuple[str, ...]
    questions: tuple[str, ...]
    wh_words: tuple[str, ...]
    reminiscences: tuple[str, ...]
    task_marks: tuple[str, ...]
    standing_marks: tuple[str, ...]
    hypotheticals: tuple[str, ...]
    courtesies: tuple[str, ...]
    reports: tuple[str, ...]
    exercises: tuple[str, ...]
    role_plays: tuple[str, ...]
    addressees: tuple[str, ...]
    refusals: tuple[str, ...]
    preference_marks: tuple[str, ...]
    procedure_marks: tuple[str, ...]


class SaveGrammar:
    """The compiled patterns of one language; those not listed here are the word lists of the same name.

    Attributes:
        commands: A save command, anywhere in the text.
        pointer: An object or complementiser, which may point back at the sentence before.
        opening: What may stand between the command and its statement; matches at the end of the command, if only
            nothing.
        imperative: The words before a command, back to the last punctuation, that leave it a command.
        is_bare: Whether a statement may follow without complementiser or colon ("remember I use tabs"); only where the
            language's data has marks that tell a statement from a task.
    """

    def __init__(self, words: SaveWords) -> None:
        leads = _any_of((*words.leads, *words.requests))
        self.commands = _compiled(rf"(?<![\w-])(?:{_any_of(words.commands)})(?![\w-])")
        self.opening = _compiled(
            rf"(?:[ \t]*,?[ \t]*(?:{_any_of(words.fillers)})(?!\w))*"
            rf"(?:[ \t]*,?[ \t]*(?P<complementiser>{_any_of(words.complementisers)})(?:(?<=')|(?!\w))"
            rf"|[ \t]*,?[ \t]*(?P<object>{_any_of(words.objects)})(?!\w))?"
            rf"[ \t]*[*_]{{0,2}}(?P<mark>:[*_]{{0,2}}\s*|[\u2013\u2014,]|-(?=\s))?[ \t]*"
        )
        self.imperative = _compiled(rf"\s*(?:(?:{leads})(?!\w)\s*)*")
        self.request = _compiled(rf"(?:{_any_of(words.requests)})(?!\w)")
        self.negated_before = _compiled(rf"(?:.*(?<!\w))?(?:{_any_of(words.negators_before)})\s*(?:{leads})?\s*")
        self.negated_after = _compiled(rf"\s*,?\s*(?:{_any_of(words.negators_after)})(?!\w)")
        self.question = _compiled(rf"(?<!\w)(?:{_any_of(words.questions)})\s*(?:{leads})?\s*$")
        self.pointer = _any_word((*words.objects, *words.complementisers))
        self.wh_word = _compiled(rf"(?:{_any_of(words.wh_words)})(?!\w)")
        self.reminiscence = _compiled(
            rf"\s*(?:{_any_of(words.reminiscences)})(?=\s*(?:$|[,.?!]|(?:we|i|you|when|he|she|they|in)\b))"
        )
        self.task = _compiled(rf"(?P<mark>{_any_of(words.task_marks)})\s+")
        self.standing = _any_word(words.standing_marks)
        self.hypothetical = _any_word(words.hypotheticals)
        self.courtesy = _any_word(words.courtesies)
        self.report = _any_word(words.reports)
        self.exercise = _any_word(words.exercises)
        self.role_play = _any_word(words.role_plays)
        self.addressee = _any_word(words.addressees)
        refusals = "|".join(_spaced(part.replace("{clause}", CLAUSE)) for part in words.refusals)
        self.refusal = _compiled(refusals or _NEVER)
        self.preference = _any_word(words.preference_marks)
        self.procedure = _any_word(words.procedure_marks)
        self.is_bare = bool(words.task_marks)


@cache
def shipped_words() -> dict[str, SaveWords]:
    """The shipped word lists by language code."""
    data = files("recalld.models.policy").joinpath("data", "explicit_save.json").read_bytes()
    return msgspec.json.decode(data, type=dict[str, SaveWords])


@cache
def shipped_grammars() -> tuple[SaveGrammar, ...]:
    """The shipped grammars; English first."""
    return tuple(SaveGrammar(words) for words in shipped_words().values())


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _any_word(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return _compiled(rf"(?<![\w-])(?:{_any_of(phrases)})(?![\w-])")


def _any_of(phrases: tuple[str, ...]) -> str:
    """An alternation, longest phrase first; of nothing, a pattern that never matches."""
    ordered = sorted(phrases, key=len, reverse=True)
    return "|".join(_phrase(phrase) for phrase in ordered) or _NEVER


def _phrase(phrase: str) -> str:
    """Compile `save [this|that] to memory` to a pattern; a phrase starts with a word, not with a bracket."""
    compiled = ""
    for part in re.findall(r"\[[^\]]+\]|[^\s\[\]]+", phrase):
        if part.startswith("["):
            choices = "|".join(re.escape(choice) for choice in part[1:-1].split("|"))
            compiled += rf"(?:\s+(?:{choices}))?"
        else:
            compiled += (r"\s+" if compiled else "") + re.escape(part)
    return compiled


def _spaced(pattern: str) -> str:
    return pattern.replace(" ", r"\s+")
