"""Injection: what is built to be obeyed by the assistant in somebody else's interest, or to be found by every question.

Guards: later sessions, in which a stored sentence would speak with the user's voice. Cost: a look at the statement, its
cues and asks. Fails: closed; from the user's own mouth such a sentence waits for their yes, from anywhere else it is
dropped. Standing preferences ("from now on use metric") are ordinary and pass: what counts is an order to forget
orders, to send things to an address or to write them into one, to run what a shell fetches, to hide something from the
user, a control token, or a string of questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.cue_words import Cue
from recalld.models.policy.admission.finding import Finding, Scene
from recalld.models.policy.admission.sentence import Sentence
from recalld.models.policy.admission.statement_cues import statement_cues
from recalld.models.policy.save_turn import QUESTION_MARKS

QUESTIONS_MAX: Final = 1
"""Questions that a statement may hold; more make it answer everything."""
ASK_QUESTIONS_MAX: Final = 2
"""Question marks of one ask; see `ask_guard`."""
CONTROL_TOKEN: Final = re.compile(
    r"\[/?(?:CLS|SEP|PAD|MASK|UNK|INST|SYS)\]|</?s>|<(?:pad|unk|mask)>|<\|[^|<>\n]{1,40}\|>|<</?SYS>>|"
    r"[\U000e0020-\U000e007f\u202a-\u202e\u2066-\u2069]",
    re.IGNORECASE,
)
"""Control tokens of models, and characters that no reader sees: tags and turned writing directions."""
_ADDRESS: Final = re.compile(r"https?://|\bwww\.|\bftp://|[\w.+-]{1,64}@[\w-]{1,63}\.\w", re.IGNORECASE)
_REMOTE_IMAGE: Final = re.compile(r"!\[[^\]\n]*\]\(")
"""An image of Markdown: showing it tells its address whatever is written into that."""
_FILLED_ADDRESS: Final = re.compile(r"[\w-]\.[a-z]{2,}(?:/[^\s?]*)?\?[\w.-]+=", re.IGNORECASE)
"""An address with a query, which takes along what is filled in."""
_COMMAND: Final = re.compile(
    r"\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b|\|\s*(?:sudo\s+)?(?:python3?|perl|node|ruby|iex)\b|\brm\s+-\w*[rf]|"
    r"\bbase64\s+(?:-d|--decode)\b|\beval\s*[\"'$(`]|\bchmod\s+(?:-R\s+)?777\b|\bIEX\b",
    re.IGNORECASE,
)
"""Commands of a shell that run what they fetch or decode, or that destroy."""
_OWN_MOUTH: Final = frozenset({Generator.RULE, Generator.EXPLICIT, Generator.CONFIRMED})


def find_injection(scene: Scene) -> Finding | None:
    """`injection` for what tells the assistant to act against its user, or is stuffed to be found."""
    evidence = next(_signs(scene), None)
    if evidence is None:
        return None
    is_own = scene.candidate.generator in _OWN_MOUTH
    return Finding(
        reason=AdmissionReason.INJECTION,
        disposition=Disposition.PROPOSE if is_own else Disposition.DROP,
        evidence=(evidence,) if evidence else (),
    )


def _signs(scene: Scene) -> Iterator[str]:
    candidate = scene.candidate
    quote = scene.context.turn.text[scene.start : scene.end]
    for text in (candidate.statement, quote, candidate.value, *candidate.cues, *candidate.asks):
        if CONTROL_TOKEN.search(text) is not None:
            yield ""
    if _questions(candidate.statement) > QUESTIONS_MAX or any(
        _questions(ask) > ASK_QUESTIONS_MAX for ask in candidate.asks
    ):
        yield ""
    if _is_carrying(candidate.statement) or _is_carrying(quote):
        quoted = [scene.sentence.clauses[place] for place in scene.sentence.within(scene.start, scene.end)]
        is_order = any(each.has(Cue.STANDING, Cue.IMPERATIVES) for each in quoted)
        if is_order and not any(each.has(Cue.PROHIBITIONS) for each in quoted):
            yield ""
    yield from _orders(scene.sentence)
    has_address = _ADDRESS.search(candidate.statement) is not None
    yield from (words for cue, words in statement_cues(candidate.statement) if _is_order(cue, has_address=has_address))


def _is_carrying(text: str) -> bool:
    """Whether following an order with these words would carry words away, or run what nobody has read."""
    return any(sign.search(text) is not None for sign in (_REMOTE_IMAGE, _FILLED_ADDRESS, _COMMAND))


def _questions(text: str) -> int:
    return sum(map(text.count, QUESTION_MARKS))


def _orders(sentence: Sentence) -> Iterator[str]:
    has_address = _ADDRESS.search(sentence.text, sentence.start, sentence.end) is not None
    for clause in sentence.clauses:
        for each in clause.cues:
            if _is_order(each.cue, has_address=has_address):
                yield sentence.words(each)


def _is_order(cue: Cue, *, has_address: bool) -> bool:
    return cue in {Cue.OVERRIDES, Cue.CONCEALMENTS} or (has_address and cue is Cue.SENDINGS)
