"""Nested TOML tables: look up, merge, and set, without ever changing one in place."""

from __future__ import annotations

import datetime as dt
import re
from typing import TypeAlias

TomlValue: TypeAlias = "str | int | float | bool | dt.datetime | dt.date | dt.time | list[TomlValue] | TomlTable | None"
"""What `tomllib` makes; None stands for an absent key."""
TomlTable: TypeAlias = dict[str, TomlValue]

_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


def lookup(table: TomlTable, key: str) -> TomlValue:
    """The value at a dotted path such as `access[0].uid`; None when the path leads nowhere."""
    value: TomlValue = table
    for name, index in _STEP.findall(key):
        match value:
            case dict():
                value = value.get(name)
            case list() if index and int(index) < len(value):
                value = value[int(index)]
            case _:
                return None
    return value


def merged(below: TomlTable, above: TomlTable) -> TomlTable:
    """A table with everything of both; where both have a value, `above` wins, table by table."""
    result = dict(below)
    for name, value in above.items():
        beneath = result.get(name)
        result[name] = merged(beneath, value) if isinstance(beneath, dict) and isinstance(value, dict) else value
    return result


def with_value(table: TomlTable, key: str, value: TomlValue) -> TomlTable:
    """A copy with one value set at a dotted path; a section that is not a table is left for the decoder to refuse."""
    section, _, name = key.rpartition(".")
    if not section:
        return {**table, name: value}
    if not isinstance(table.get(section, {}), dict):
        return table
    return merged(table, {section: {name: value}})
