"""Claims about the world in stored records: what could be checked, read strictly.

Guards: a person against being told that a record is wrong when it only spoke loosely. Cost: linear in the text.
Fails: towards no claim. A sentence that hedges, asks, plans or gives a range claims nothing that a look could settle,
and two sentences of a record that disagree about the same thing cancel each other.

English only: other languages give no claims.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from recalld.models.domain.world import Claim, ClaimKind, PullRequestState

TEXT_CHARS_MAX = 8_000
CLAIMS_MAX = 64
"""Claims of one decision that are looked at."""
SUBJECT_CHARS_MAX = 200

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")
_HEDGE = re.compile(
    r"\b(?:might|may|maybe|perhaps|probably|possibly|likely|should|could|would|if|unless|until|when|once|will|shall"
    r"|plan(?:s|ned)?|intend(?:s|ed)?|want(?:s|ed)?|used to|think(?:s)?|believe(?:s)?|seem(?:s|ed)?|supposed|apparently"
    r"|about to|going to|todo|either|or)\b|\?",
    re.IGNORECASE,
)
"""Words with which a sentence claims nothing that a look could settle."""
_TOKEN = r"(?P<quote>[`\"']?)(?P<subject>[^\s`\"'*?$~{}<>|,;]{1,200})[`\"']?"  # noqa: S105 - a pattern, no secret
_IS_THERE = r"(?:exists|is there|is present)"
_IS_GONE = (
    r"(?:does not exist|doesn't exist|is gone|is not there|isn't there|no longer exists"
    r"|(?:was|has been) (?:removed|deleted))"
)
_STATE = rf"(?:(?P<there>{_IS_THERE})|(?P<gone>{_IS_GONE}))"
_PATHS = re.compile(rf"\b(?P<noun>file|directory|folder)\s+{_TOKEN}\s+{_STATE}\b", re.IGNORECASE)
_ONE_MORE_PATH = re.compile(
    rf"\s*,?\s+(?:and|but|while|,)\s+(?:(?:the|so|also)\s+)*{_TOKEN}\s+(?:also\s+)?{_STATE}\b", re.IGNORECASE
)
"""What goes on after a path with another one of the same noun: "the file a.py exists and b.py was deleted"."""
_PATH_LIST = re.compile(
    r"\b(?P<noun>files|directories|folders)\s+(?P<list>[^\s,;]{1,200}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)[^\s,;]{1,200}){1,9})"
    r"\s+(?:(?P<there>(?:both |all )?exist|are (?:both |all )?(?:there|present))"
    r"|(?P<gone>do not exist|don't exist|are (?:both |all )?gone|are not there|aren't there|no longer exist"
    r"|(?:were|have been) (?:removed|deleted)))\b",
    re.IGNORECASE,
)
_LISTED = re.compile(rf"(?:\A|(?<=[\s,]))(?!and\b){_TOKEN}", re.IGNORECASE)
_BRANCH = re.compile(rf"\bbranch\s+{_TOKEN}\s+{_STATE}\b", re.IGNORECASE)
_MERGED = re.compile(
    rf"\bbranch\s+{_TOKEN}\s+(?:is|was|has been)\s+(?P<gone>not\s+)?(?:yet\s+)?merged"
    r"(?:\s+into\s+[`\"']?(?P<into>[\w./-]{1,100})[`\"']?)?",
    re.IGNORECASE,
)
_VERSION = r"(?P<version>\d{1,6}(?:\.\d{1,6}){1,3}(?:[-+.]?(?:a|b|rc|dev|post)\d{0,4})?)"
_PACKAGE = r"(?<![\w.-])[`\"']?(?P<subject>[A-Za-z][A-Za-z0-9._-]{0,80})"
"""Tried where a name can start, and not again at each of its letters: a long word would take that many times longer."""
_DEPENDENCY = (
    re.compile(rf"{_PACKAGE}\s*==\s*{_VERSION}(?![\w*])"),
    re.compile(
        rf"{_PACKAGE}[`\"']?\s+is\s+(?:pinned\s+(?:to|at)|locked\s+(?:to|at)|at\s+version)\s+[`\"']?{_VERSION}(?![\w*])",
        re.IGNORECASE,
    ),
    re.compile(rf"\bdepends\s+on\s+{_PACKAGE}[`\"']?\s+(?:version\s+)?{_VERSION}(?![\w*])", re.IGNORECASE),
)
_RANGE = re.compile(r"[<>~^!]=?\s*\d|\bor (?:later|newer|older|above)\b|\d\.[x*]\b|\+(?=\s|\Z)", re.IGNORECASE)
_PULL_REQUEST = re.compile(
    r"\b(?:PR|pull request)\s+#?(?P<subject>\d{1,9})\s+(?:is|was|has been)\s+(?P<gone>not\s+)?(?:still\s+|now\s+)?"
    r"(?P<state>open|merged|closed)\b",
    re.IGNORECASE,
)
_TRAILING = ".:"
_PATH_KINDS = {
    "file": ClaimKind.FILE_EXISTS,
    "files": ClaimKind.FILE_EXISTS,
    "directory": ClaimKind.DIRECTORY_EXISTS,
    "directories": ClaimKind.DIRECTORY_EXISTS,
    "folder": ClaimKind.DIRECTORY_EXISTS,
    "folders": ClaimKind.DIRECTORY_EXISTS,
}
_PATH_MARK = re.compile(r"/|\w\.\w")
_BRANCH_MARK = re.compile(r"[-_/.0-9]|^(?:main|master|develop|trunk)$")
"""What tells a name from a plain word: "the file cabinet is gone" speaks of furniture."""


class ReadRecords(msgspec.Struct, frozen=True, kw_only=True):
    """What some records claim.

    Attributes:
        claims: In the records' order and within a record in text order.
        read: Records that were read to their end.
        without_claims: Those of them in which nothing was found that could be checked.
    """

    claims: tuple[Claim, ...]
    read: int
    without_claims: int


def find_claims(records: Iterable[tuple[str, str]]) -> tuple[Claim, ...]:
    """The claims of some records; see `read_records`."""
    return read_records(records).claims


def read_records(records: Iterable[tuple[str, str]]) -> ReadRecords:
    """Read records for claims, until there are `CLAIMS_MAX` of them.

    Args:
        records: Id and text of each.
    """
    found: list[Claim] = []
    read = without_claims = 0
    for candidate_id, text in records:
        claims = tuple(_without_disputes(tuple(_claims_in(candidate_id, text[:TEXT_CHARS_MAX]))))
        found += (msgspec.structs.replace(claim, place=place) for place, claim in enumerate(claims, start=1))
        is_whole = len(text) <= TEXT_CHARS_MAX and len(found) <= CLAIMS_MAX
        read += is_whole
        without_claims += is_whole and not claims
        if len(found) >= CLAIMS_MAX:
            break
    claims = tuple(
        msgspec.structs.replace(claim, id=f"c{place}") for place, claim in enumerate(found[:CLAIMS_MAX], start=1)
    )
    return ReadRecords(claims=claims, read=read, without_claims=without_claims)


def pull_request_state(answer: str) -> PullRequestState | None:
    """The state in a probe's answer; None when it is anything but one of the states alone."""
    try:
        return PullRequestState(answer.strip().lower())
    except ValueError:
        return None


def _claims_in(candidate_id: str, text: str) -> Iterator[Claim]:
    for start, end in _sentences(text):
        if _HEDGE.search(text, start, end) is None:
            found = (_claim(candidate_id, each) for each in _subjects_in(text, start, end))
            yield from sorted(found, key=lambda claim: claim.start)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence starts and ends."""
    start = 0
    for gap in _SENTENCE_END.finditer(text):
        yield start, gap.start()
        start = gap.end()
    yield start, len(text)


class _Subject(msgspec.Struct, frozen=True, kw_only=True):
    """What a claim is about, and where in the text it stands."""

    kind: ClaimKind
    text: str
    start: int
    expected: str = ""
    is_negated: bool = False


def _subjects_in(text: str, start: int, end: int) -> Iterator[_Subject]:
    """What one sentence makes claims about, in no order."""
    yield from _paths_in(text, start, end)
    for found in _named(_BRANCH.finditer(text, start, end), _BRANCH_MARK):
        yield _subject(ClaimKind.BRANCH_EXISTS, found)
    for found in _named(_MERGED.finditer(text, start, end), _BRANCH_MARK):
        yield _subject(ClaimKind.BRANCH_MERGED, found, expected=(found["into"] or "").rstrip(_TRAILING))
    for found in _PULL_REQUEST.finditer(text, start, end):
        yield _subject(ClaimKind.PULL_REQUEST_STATE, found, expected=found["state"].lower())
    if _RANGE.search(text, start, end) is None:
        for pattern in _DEPENDENCY:
            for found in pattern.finditer(text, start, end):
                yield _Subject(
                    kind=ClaimKind.DEPENDENCY_VERSION,
                    text=found["subject"],
                    start=found.start("subject"),
                    expected=found["version"],
                )


def _paths_in(text: str, start: int, end: int) -> Iterator[_Subject]:
    """Files and directories: one with its noun, more that follow it, and lists."""
    for first in _PATHS.finditer(text, start, end):
        kind = _PATH_KINDS[first["noun"].lower()]
        found: re.Match[str] | None = first
        while found is not None:
            for each in _named((found,), _PATH_MARK):
                yield _subject(kind, each)
            found = _ONE_MORE_PATH.match(text, found.end(), end)
    for several in _PATH_LIST.finditer(text, start, end):
        kind, is_gone = _PATH_KINDS[several["noun"].lower()], several["gone"] is not None
        for each in _named(_LISTED.finditer(text, *several.span("list")), _PATH_MARK):
            yield _subject(kind, each, is_negated=is_gone)


def _named(matches: Iterable[re.Match[str]], mark: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Those whose subject is quoted, or looks like a name rather than a word."""
    return (found for found in matches if found["quote"] or mark.search(found["subject"].rstrip(_TRAILING)))


def _subject(kind: ClaimKind, found: re.Match[str], *, expected: str = "", is_negated: bool | None = None) -> _Subject:
    is_gone = found["gone"] is not None if is_negated is None else is_negated
    name = found["subject"].rstrip(_TRAILING) or found["subject"]
    return _Subject(kind=kind, text=name, start=found.start("subject"), expected=expected, is_negated=is_gone)


def _claim(candidate_id: str, subject: _Subject) -> Claim:
    return Claim(
        id="",
        candidate_id=candidate_id,
        kind=subject.kind,
        subject=subject.text,
        expected=subject.expected,
        is_negated=subject.is_negated,
        start=subject.start,
        end=subject.start + len(subject.text),
    )


def _without_disputes(claims: Sequence[Claim]) -> Iterator[Claim]:
    """Each thing a record claims once; none of what it claims in two ways."""
    said: dict[tuple[ClaimKind, str], set[tuple[str, bool]]] = {}
    for claim in claims:
        said.setdefault((claim.kind, claim.subject), set()).add((claim.expected, claim.is_negated))
    told: set[tuple[ClaimKind, str]] = set()
    for claim in claims:
        key = (claim.kind, claim.subject)
        if len(said[key]) == 1 and key not in told:
            told.add(key)
            yield claim
