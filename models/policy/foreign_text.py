"""Foreign text: what in a user's message is probably not the user's own word, told by structure alone.

Guards: the store against commands that a program, a document or somebody quoted put into a message. Cost: linear.
Fails: closed. Host text that is known by name is gone already (`host_text`); this is about what no list can name:
any element in angle brackets, transcripts with role labels, bracketed notes, pasted mail, fenced-off documents. For a
recall these words stay, because there a mistake only costs a search.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

import msgspec

from recalld.models.policy import word_lists
from recalld.models.policy.markup import Tag, find_tags, level_brackets
from recalld.models.policy.protected_spans import mask_code_and_quotes
from recalld.models.policy.speaker_labels import speaker_starts

NOTE_WORDS = frozenset(["tool", "result", "output", "quoted", "forwarded", "transcript", "system", "assistant"])
"""Words of a bracketed note that announces foreign text of unknown length."""
TAGS_MAX = 1_000
"""Tags in a message that are looked at: a page of markup has fewer."""
TRANSCRIPT_USERS = ("user", "human")
"""Labels of the user in a transcript: they begin one in the first line, or where another role speaks as well."""

_Span = tuple[int, int]
_UNSEEN = re.compile(r"<!--.*?(?:-->|\Z)|<\|[^|\n]{1,60}\|>.*", re.DOTALL)
"""Comments, which no reader of the rendered text sees, and the control tokens of chat models with all that follows."""
_DECORATION = r"[ \t#*_\[({|=~-]*"
_LABEL_END = r"(?:[ \t_-]+(?:message|reply|response|turn|says|said))?[ \t\])}*_|=~-]*(?:[:\uff1a]|$)"
_WROTE = re.compile(r"(?:on|am|le|el)\b.{0,200}\b(?:wrote|schrieb|\u00e9crit|escribi\u00f3)\b.{0,80}:$")
_RULE = re.compile(r"[ \t]*(?:<{3,}|-{3,}|={3,}|\*{4,}|_{3,}|#{7,})[ \t]*\w")
_RULE_ENDS = (">>", "--", "==", "**", "__", "##")
"""A ruled line with words in it: `-----Original Message-----`, `<<<BEGIN DOCUMENT>>>`."""
_SHELL = re.compile(r"[ \t]*[$\u276f\u279c][ \t]+[A-Za-z./]")
_NOTE = re.compile(r"[ \t]*[\[\u3010\uff3b](?![xX]\])/?(?P<word>[^\W\d]+)")
_NOTE_CLOSED = re.compile(r"[\[\u3010\uff3b]/(?P<word>[^\W\d]+)")
_NOTE_END = re.compile(r"[\]\u3011\uff3d](?P<link>\(|: *<?https?:)?")
_CLOCK = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:[ \t]?[AaPp]\.?[Mm]\.?)?"
_DATE = r"(?:\d{1,4}[-./]\d{1,2}[-./]\d{1,4},?[ \t]+)?"
_NAME = r"[^\W\d_a-z][\w.'\u2019-]{0,30}(?:[ \t]+[^\W\d_a-z][\w.'\u2019-]{0,30}){0,2}"
_CHAT_LINE = re.compile(
    rf"[ \t]*(?:\[[ \t]*{_DATE}{_CLOCK}[ \t]*\]|\([ \t]*{_DATE}{_CLOCK}[ \t]*\)|{_DATE}{_CLOCK})"
    rf"[ \t,-]*{_NAME}[ \t]*:(?=\s)|"
    rf"[ \t]*{_NAME}[ \t]*(?:,|\[|\()[ \t]*{_DATE}{_CLOCK}[ \t]*[\])]?[ \t]*:(?=\s)|"
    rf"[ \t]*{_NAME}(?:[ \t]*[,\[(][ \t]*|[ \t]{{2,}}){_DATE}{_CLOCK}[ \t]*[\])]?[ \t]*$"
)
"""A line of a chat's log: a time and a name, in either order, and a colon, or nothing else in the line."""
_OWN_CHAT_LINE = re.compile(
    rf"[ \t]*[\[(]?[ \t]*{_DATE}{_CLOCK}[ \t]*[\])]?[ \t,-]*(?:Me|I|Ich|Moi|Je|Yo)[ \t]*:(?=\s)"
)
"""Such a line of the user's."""
_DOCUMENT_HEAD = re.compile(
    r"[ \t]*#{1,6}[ \t]+(?:(?i:readme|changelog|contributing|licen[cs]e|release notes)\b[^\n]*|"
    r"[\w./-]+\.(?:md|rst|txt|adoc))[ \t#]*$"
)
"""A heading that names a file: a document was pasted."""
_PATCH_HEAD = re.compile(r"(?:diff --git |@@ -\d|(?:\+\+\+|---) [ab]/)")
_ADDED, _REMOVED = re.compile(r"\+[ \t]*[^\W\d]"), re.compile(r"-[ \t]*[^\W\d]")
"""Lines of a patch. A list with dashes alone is a list."""
_CODE_LINE = re.compile(r"(?m)^(?: {4}| {0,3}\t|[ \t]*[|\u00a6\u2502\u2503]).*")
"""Indented code, and lines of a table or with a bar for a quotation mark."""
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n|\Z")


class ForeignSpans(msgspec.Struct, frozen=True, kw_only=True):
    """Half-open ranges of a text.

    Attributes:
        sections: Belong to somebody else: no command in them counts, and no statement may reach into them.
        asides: No command in them counts; the user's own statement may quote them.
    """

    sections: tuple[_Span, ...] = ()
    asides: tuple[_Span, ...] = ()

    def hold(self, position: int) -> bool:
        """Whether what starts at `position` is foreign."""
        return any(start <= position < end for start, end in (*self.sections, *self.asides))

    def cut_into(self, start: int, end: int) -> bool:
        """Whether the text between two positions reaches into a section."""
        return any(start < section_end and section_start < end for section_start, section_end in self.sections)


class OwnText(msgspec.Struct, frozen=True, kw_only=True):
    """What is left of a text.

    Attributes:
        is_cut: Whether its end was left out because there were too many tags.
    """

    text: str
    is_cut: bool = False


def remove_foreign_elements(text: str) -> OwnText:
    """The text without elements that start a line, without comments, and without what a lost element leaves behind.

    An element that starts a line and never ends takes the rest of the text with it; one that ends without having
    begun, everything before it. Elements of HTML are excepted from both, because people write of them. From the tag
    after `TAGS_MAX` others on, everything is left out.
    """
    levelled = level_brackets(text)
    if "<" not in levelled:
        return OwnText(text=text)
    spans = [found.span() for found in _UNSEEN.finditer(levelled)]
    masked = mask_code_and_quotes(levelled)
    tags = find_tags(masked, TAGS_MAX + 1)
    is_cut = len(tags) > TAGS_MAX
    if is_cut:
        spans.append((tags.pop().start, len(text)))
    elements, unclosed, unopened = _pair_tags(tags)
    spans += [(first.start, last.end) for first, last in elements if _starts_line(masked, first.start)]
    spans += [(tag.start, len(text)) for tag in unclosed if _starts_line(masked, tag.start) and not _is_html(tag)]
    spans += [(0, _line_end(masked, tag.end)) for tag in unopened if not _is_html(tag)]
    kept: list[str] = []
    position = 0
    for start, end in _merged(spans):
        kept.append(text[position:start])
        position = end
    return OwnText(text="\n\n".join((*kept, text[position:])), is_cut=is_cut)


def find_foreign_spans(text: str) -> ForeignSpans:
    """What is foreign in a text whose elements at line starts have been removed."""
    levelled = level_brackets(text)
    masked = mask_code_and_quotes(levelled) if "<" in levelled else ""
    elements, unclosed, unopened = _pair_tags(find_tags(masked))
    asides = [(first.start, last.end) for first, last in elements]
    loose = [*(tag for tag in unclosed if not tag.is_glued and not _is_html(tag)), *unopened]
    asides += [(tag.start, _line_end(masked, tag.end)) for tag in loose]
    asides += [found.span() for found in _CODE_LINE.finditer(text)]
    return ForeignSpans(sections=_merged(_sections(text)), asides=_merged(asides))


def _pair_tags(tags: Iterable[Tag]) -> tuple[list[tuple[Tag, Tag]], list[Tag], list[Tag]]:
    """Elements as pairs of tags, opening tags without an end, and closing tags without a beginning."""
    elements: list[tuple[Tag, Tag]] = []
    unopened: list[Tag] = []
    waiting: dict[str, list[Tag]] = {}
    for tag in tags:
        if tag.is_empty:
            continue
        same = waiting.setdefault(tag.name, [])
        if not tag.is_closing:
            same.append(tag)
        elif same:
            elements.append((same.pop(), tag))
        else:
            unopened.append(tag)
    return elements, [tag for same in waiting.values() for tag in same], unopened


def _is_html(tag: Tag) -> bool:
    return tag.name in word_lists.words("html_elements.txt")


def _starts_line(text: str, position: int) -> bool:
    return not text[text.rfind("\n", 0, position) + 1 : position].strip()


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _merged(spans: Iterable[_Span]) -> tuple[_Span, ...]:
    """In order, overlapping ones as one."""
    merged: list[_Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _sections(text: str) -> Iterator[_Span]:
    """Yield the sections in order. What reaches to the end of the text ends the search."""
    lines = list(_lines(text))
    fences = [(start, end) for start, end in lines if _is_rule(text[start:end])]
    if fences:
        yield fences[0][0], fences[-1][1] if len(fences) > 1 else len(text)
    labelled = _transcript_start(text, lines)
    closed = {found["word"].casefold(): found.end() for found in _NOTE_CLOSED.finditer(text)}
    patches = _patch_starts(text, lines)
    speakers = speaker_starts(text, lines)
    own = [start for start, end in lines if speakers.get(start) or _OWN_CHAT_LINE.match(text, start, end)]
    own_starts = frozenset(own)
    reached = 0
    for start, end in lines:
        if start == labelled or _DOCUMENT_HEAD.match(text, start, end) or _is_opener(text[start:end]):
            yield start, len(text)
            return
        if start < reached or start in own_starts:
            continue
        if speakers.get(start) is False or _CHAT_LINE.match(text, start, end) is not None:
            ends = _paragraph_end(text, end)
            following = bisect_right(own, start)
            reached = min(ends, own[following]) if following < len(own) else ends
        elif start in patches or _SHELL.match(text, start, end) is not None:
            reached = _paragraph_end(text, end)
        else:
            reached = _note_end(text, start, end, closed)
        if reached > start:
            yield start, reached


def _patch_starts(text: str, lines: list[_Span]) -> frozenset[int]:
    """Where paragraphs begin to be a patch: at its head, or at the first sign of one with added and removed lines."""
    starts: set[int] = set()
    added = removed = -1
    for start, end in lines:
        if _PATCH_HEAD.match(text, start, end) is not None:
            starts.add(start)
        elif not text[start:end].strip():
            added = removed = -1
        elif added < 0 and _ADDED.match(text, start, end) is not None:
            added = start
        elif removed < 0 and _REMOVED.match(text, start, end) is not None:
            removed = start
        if added >= 0 and removed >= 0:
            starts.add(min(added, removed))
    return frozenset(starts)


def _lines(text: str) -> Iterator[_Span]:
    start = 0
    for line in text.split("\n"):
        yield start, start + len(line)
        start += len(line) + 1


@cache
def _labels() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Labels of others, and of the user."""
    others = "|".join(map(re.escape, word_lists.entries("roles.txt"))) or "(?!)"
    users = "|".join(TRANSCRIPT_USERS)
    return (
        re.compile(rf"{_DECORATION}(?:{others}){_LABEL_END}", re.IGNORECASE),
        re.compile(rf"{_DECORATION}(?:{users}){_LABEL_END}", re.IGNORECASE),
    )


def _transcript_start(text: str, lines: list[_Span]) -> int:
    """Where a transcript begins; -1 where there is none."""
    others, users = _labels()
    by_others = next((start for start, end in lines if others.match(text, start, end)), -1)
    by_users = next((start for start, end in lines if users.match(text, start, end)), -1)
    if by_users < 0 or (by_others < 0 and text[:by_users].strip()):
        return by_others
    return by_users if by_others < 0 else min(by_users, by_others)


def _is_rule(line: str) -> bool:
    return _RULE.match(line) is not None and line.rstrip().endswith(_RULE_ENDS)


def _is_opener(line: str) -> bool:
    plain = line.lstrip(" \t#*_[({|=~-").casefold()
    return plain.startswith(word_lists.entries("foreign_openers.txt")) or _WROTE.match(plain.rstrip()) is not None


def _note_end(text: str, start: int, line_end: int, closed: Mapping[str, int]) -> int:
    """Where the section ends that a bracketed note begins; `start` where the line begins with none.

    Args:
        text: The text.
        start: Where the line starts.
        line_end: Where it ends.
        closed: The end of the last closing note (`[/quote]`) by its first word.
    """
    note = _NOTE.match(text, start, line_end)
    if note is None:
        return start
    closing = _NOTE_END.search(text, note.end())
    if closing is None:
        return len(text)
    if closing["link"] is not None:
        return start
    last = closed.get(note["word"].casefold(), 0)
    if last > closing.end():
        return _line_end(text, last)
    said = set(re.findall(r"\w+", text[start : closing.end()].casefold()))
    return len(text) if said & NOTE_WORDS else _paragraph_end(text, closing.end())


def _paragraph_end(text: str, position: int) -> int:
    found = _PARAGRAPH_END.search(text, position)
    return len(text) if found is None else found.start()
