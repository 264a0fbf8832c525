"""Word lists shipped as data: one entry a line, `#` starts a comment."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def entries(name: str) -> tuple[str, ...]:
    """The entries of `data/<name>`, in file order, stripped, without comments and blank lines."""
    text = files("recalld.models.policy").joinpath("data", name).read_text(encoding="utf-8")
    stripped = (line.partition("#")[0].strip() for line in text.splitlines())
    return tuple(line for line in stripped if line)


@cache
def words(name: str) -> frozenset[str]:
    """All white-space separated words of `data/<name>`."""
    return frozenset(word for entry in entries(name) for word in entry.split())
