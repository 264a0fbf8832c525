"""Versions of dependencies, from the lock files and requirements in a project's directory.

The first file that names the package decides. What no file pins stays open: it may be anything.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from recalld.daemon.probes.effort import Effort, line_spans, lines_of
from recalld.daemon.probes.project_files import ProjectFiles
from recalld.models.domain.world import FindingState

_LINE_BYTES_MAX: Final = 1_024
"""Bytes of a line that are read: the pin comes first, whatever follows it."""
_NAMED: Final = re.compile(r'name = "(?P<name>[^"]{1,200})"')
_VERSIONED: Final = re.compile(r'version = "(?P<version>[^"]{1,100})"')
"""How uv, Poetry and Cargo write a package: name, and on the next line its version."""
_PINNED: Final = re.compile(
    r"[ \t]*(?P<name>[A-Za-z0-9][A-Za-z0-9._-]{0,100})(?:\[[^\]]{0,200}\])?[ \t]*==[ \t]*"
    r"(?P<version>[\w.+!-]{1,100})(?![\w.+!*-])"
)
"""Tried at the start of a line only: no part of it can match the same characters as the part before."""
_SEPARATORS: Final = re.compile(r"[-_.]+")
_TOML_BYTES_MAX: Final = 65_536
_TOML_LINE_BYTES_MAX: Final = 2_048
"""Larger sections are not parsed: a key of many dots takes the square of its length, and nothing can stop a parser."""
_TOML_SECTIONS: Final = ("[project]", "[project.optional-dependencies]")


class _NodePackage(msgspec.Struct):
    version: str = ""


class _NodeLock(msgspec.Struct):
    packages: dict[str, _NodePackage] = {}


class _Project(msgspec.Struct):
    dependencies: tuple[str, ...] = ()
    optional_dependencies: dict[str, tuple[str, ...]] = msgspec.field(
        default_factory=dict, name="optional-dependencies"
    )


class _PyProject(msgspec.Struct):
    project: _Project = msgspec.field(default_factory=_Project)


def has_version(files: ProjectFiles, package: str, version: str, effort: Effort) -> FindingState:
    """Whether the project pins a package to a version.

    Args:
        files: The project.
        package: Its name, compared as Python packages are: case and separators do not matter.
        version: What it should be; fewer numbers than the pin has stand for all below them.
        effort: What reading may take.

    Raises:
        EffortSpentError: There is more to read than that.
    """
    wanted = _normal(package)
    for name, read in _SOURCES:
        content = files.read(name)
        if content is None:
            continue
        found = {pinned for other, pinned in read(content, effort) if _normal(other) == wanted}
        if len(found) == 1:
            return FindingState.YES if _is_within(found.pop(), version) else FindingState.NO
        if found:
            return FindingState.UNREADABLE  # several at once
    return FindingState.UNREADABLE


def _normal(name: str) -> str:
    return _SEPARATORS.sub("-", name).lower()


def _is_within(pinned: str, version: str) -> bool:
    base = pinned.partition("+")[0]  # without the label of a local build
    return version in {pinned, base} or base.startswith(f"{version}.")


def _locked(content: bytes, effort: Effort) -> Iterator[tuple[str, str]]:
    name: str | None = None
    for line in lines_of(content, effort, line_bytes_max=_LINE_BYTES_MAX):
        versioned = None if name is None else _VERSIONED.match(line)
        if name is not None and versioned is not None:
            yield name, versioned["version"]
        named = _NAMED.match(line)
        name = None if named is None else named["name"]


def _pinned(content: bytes, effort: Effort) -> Iterator[tuple[str, str]]:
    for line in lines_of(content, effort, line_bytes_max=_LINE_BYTES_MAX):
        if (found := _PINNED.match(line)) is not None:
            yield found["name"], found["version"]


def _node(content: bytes, effort: Effort) -> Iterator[tuple[str, str]]:
    try:
        lock = msgspec.json.decode(content, type=_NodeLock)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return
    for path, package in lock.packages.items():
        effort.spend()
        name = path.rpartition("node_modules/")[2]
        if name and package.version and path.count("node_modules/") == 1:
            yield name, package.version


def _declared(content: bytes, effort: Effort) -> Iterator[tuple[str, str]]:
    section = _project_section(content, effort)
    if section is None:
        return
    try:
        project = msgspec.convert(tomllib.loads(section.decode("utf-8")), _PyProject).project
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError, RecursionError):
        return
    declared = (*project.dependencies, *(each for group in project.optional_dependencies.values() for each in group))
    for line in declared:
        yield from _pinned(line.encode(), effort)


def _project_section(content: bytes, effort: Effort) -> bytes | None:
    """The lines of a `pyproject.toml` that may declare dependencies; None when they are more than is parsed.

    Tables of tools are left out. A line that only looks like a header, inside a text of several lines, cuts that text
    in two, which is no TOML any more: then nothing is said.
    """
    kept: list[bytes] = []
    size = 0
    is_wanted = False
    for start, past in line_spans(content, effort):
        line = content[start:past]
        if line.startswith(b"["):
            is_wanted = line.partition(b"#")[0].strip().decode("ascii", "replace") in _TOML_SECTIONS
        if is_wanted:
            size += len(line)
            if size > _TOML_BYTES_MAX or len(line) > _TOML_LINE_BYTES_MAX:
                return None
            kept.append(line)
    return b"".join(kept)


_SOURCES: Final[tuple[tuple[str, Callable[[bytes, Effort], Iterator[tuple[str, str]]]], ...]] = (
    ("uv.lock", _locked),
    ("poetry.lock", _locked),
    ("Cargo.lock", _locked),
    ("package-lock.json", _node),
    ("constraints.txt", _pinned),
    ("requirements.txt", _pinned),
    ("pyproject.toml", _declared),
)
