"""What is wrong with a message, as a sentence that names the field and the remedy.

msgspec says "Expected `str` of length <= 120 - at `$.cues[0]`"; a person is told "cues[0]: is longer than 120
characters; shorten it".
"""

from __future__ import annotations

import re
import typing

from recalld.protocol.closed_values import values_of

_FAULT_CHARS_MAX = 200
"""msgspec quotes what the peer sent, which may be a whole frame: more than twice this is cut in the middle."""

_FAULT = re.compile(r"(?P<what>.*?)(?: - at `(?P<key>key` in `)?\$\.?(?P<path>[^`]*)`)?", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(\w+)`")
_UNKNOWN_KEY = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_UNKNOWN_VALUE = re.compile(r"Invalid (?:enum )?value (.*)", re.DOTALL)
_WRONG_TYPE = re.compile(r"Expected `([^`]+)`, got `([^`]+)`")

_BEYOND_LIMIT = (
    (re.compile(r"Expected `str` of length <= (\d+)"), "is longer than {} characters; shorten it"),
    (re.compile(r"Expected `str` of length >= 1"), "is empty; give at least 1 character"),
    (re.compile(r"Expected `array` of length <= (\d+)"), "has more than {} entries; send fewer"),
    (re.compile(r"Expected `array` of length (\d+)(?:, got \d+)?"), "has not exactly {0} entries; send {0}"),
    (re.compile(r"Expected `object` of length <= (\d+)"), "has more than {} entries; send fewer"),
    (re.compile(r"Expected `int` >= (-?\d+)"), "is too small; give at least {}"),
    (re.compile(r"Expected `int` <= (-?\d+)"), "is too large; give at most {}"),
)

_TYPE_NAMES = {
    "str": "text",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "array": "an array",
    "object": "a map",
    "bytes": "binary data",
    "None": "null",
}


def missing_field(fault: str) -> str | None:
    """The path of the field that msgspec misses, such as `parts[0].role`; None when its message says something else."""
    what, path = _parts(fault)
    found = _MISSING.fullmatch(what)
    if found is None:
        return None
    return f"{path}.{found[1]}" if path else found[1]


def is_unknown_key(fault: str) -> bool:
    """Whether msgspec met a key that it has no field for; it does so only where it was told to forbid them."""
    return _UNKNOWN_KEY.fullmatch(_parts(fault)[0]) is not None


def describe(fault: str) -> str:
    """The sentence for one of msgspec's messages."""
    what, path = _parts(_shortened(fault))
    key = _UNKNOWN_KEY.fullmatch(what)
    if key is not None:
        return f"{f'{path}.' if path else ''}{key[1]}: there is no such field; correct its name, or leave it out"
    return f"{path or 'the message'}: {_remedy(what, path)}"


def describe_missing(paths: typing.Sequence[str], paths_max: int = 10) -> str:
    """The sentence for fields that are missing; at least one path is given, and at most `paths_max` are named."""
    if len(paths) == 1:
        return f"{paths[0]}: is missing; give it"
    *most, last = paths[:paths_max]
    more = len(paths) - paths_max
    named = f"{', '.join([*most, last])} and {more} more" if more > 0 else f"{', '.join(most)} and {last}"
    return f"{named}: are missing; give them"


def _parts(fault: str) -> tuple[str, str]:
    """What is wrong, and the path of the field without msgspec's `$.`; empty for the message as a whole."""
    found = _FAULT.fullmatch(fault)
    if found is None:
        return fault, ""
    path = found["path"] or ""
    return found["what"], path if found["key"] is None else f"a key of {path or 'the message'}"


def _shortened(fault: str) -> str:
    if len(fault) <= 2 * _FAULT_CHARS_MAX:
        return fault
    return f"{fault[:_FAULT_CHARS_MAX]} … {fault[-_FAULT_CHARS_MAX:]}"


def _remedy(what: str, path: str) -> str:
    for pattern, sentence in _BEYOND_LIMIT:
        found = pattern.fullmatch(what)
        if found is not None:
            return sentence.format(*found.groups())
    wrong_type = _WRONG_TYPE.fullmatch(what)
    if wrong_type is not None:
        return f"is {_named(wrong_type[2])}; give {_named(wrong_type[1])}"
    unknown = _UNKNOWN_VALUE.fullmatch(what)
    if unknown is None:
        return what
    if path == "type":
        return f"{unknown[1]} is no such message in this version of the protocol; send another, or update the server"
    allowed = values_of(path)
    return f"{unknown[1]} is not one of its values{'; give one of ' if allowed else ''}{', '.join(allowed)}"


def _named(types: str) -> str:
    """`int | null` becomes "an integer or null"."""
    return " or ".join(_TYPE_NAMES.get(name, name) for name in types.split(" | "))
