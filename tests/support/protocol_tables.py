"""The message tables of docs/protocol.md, made from the schema and from what the source says of each field.

`python tests/support/protocol_tables.py` refreshes them.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import json
import sys
import typing
from pathlib import Path

from recalld.protocol import (
    audit_items,
    decide_items,
    drift_items,
    items,
    portable_items,
    replies,
    requests,
    stats_items,
)
from recalld.protocol.messages import Reply, Request
from recalld.protocol.schema import schema_text

Schema = dict[str, typing.Any]

PAGE = Path(__file__).parents[2] / "docs" / "protocol.md"
BEGIN = "<!-- tables: made by tests/support/protocol_tables.py -->"
END = "<!-- end of tables -->"


def tables() -> str:
    """Every message and every part of one, as Markdown."""
    definitions: dict[str, Schema] = json.loads(schema_text())["$defs"]
    requests = [message.__name__ for message in typing.get_args(Request)]
    replies = [message.__name__ for message in typing.get_args(Reply)]
    parts = [name for name in definitions if name not in {*requests, *replies, "Request", "Reply"}]
    groups = (("Requests", requests), ("Replies", replies), ("Parts of messages", parts))
    return "\n".join(_group(title, names, definitions) for title, names in groups)


def page_with(tables_text: str, page: str) -> str:
    """The page with its tables replaced."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{tables_text}\n{END}{after}"


def _group(title: str, names: list[str], definitions: dict[str, Schema]) -> str:
    return f"## {title}\n\n" + "\n".join(_table(name, definitions[name]) for name in names)


def _table(name: str, definition: Schema) -> str:
    tag = definition["properties"].get("type", {}).get("enum", [None])[0]
    heading = f"### `{tag}`" if tag else f"### {name}"
    description = " ".join(definition.get("description", "").split())
    meanings = _meanings()
    rows = [
        f"| `{field}` | {_type(schema)} | {_default(field, schema, definition)} "
        f"| {meanings.get((name, field)) or _description(schema)} |"
        for field, schema in definition["properties"].items()
        if field != "type"
    ]
    table = "\n".join(["| field | type | default | meaning |", "|---|---|---|---|", *rows]) if rows else "No fields."
    return f"{heading}\n\n{description}\n\n{table}\n"


@functools.cache
def _meanings() -> dict[tuple[str, str], str]:
    """The string below each field of each message, by class and field."""
    found: dict[tuple[str, str], str] = {}
    modules = (requests, replies, items, portable_items, decide_items, stats_items, drift_items, audit_items)
    for module in modules:
        for node in ast.parse(inspect.getsource(module)).body:
            if isinstance(node, ast.ClassDef):
                found |= {(node.name, field): text for field, text in _fields_with_text(node)}
    return found


def _fields_with_text(node: ast.ClassDef) -> list[tuple[str, str]]:
    return [
        (field.target.id, " ".join(text.value.value.split()))
        for field, text in itertools.pairwise(node.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    ]


def _description(schema: Schema) -> str:
    own = schema.get("description", "")
    choices = [_description(choice) for choice in schema.get("anyOf", [])]
    return own or " ".join(choice for choice in choices if choice)


def _default(field: str, schema: Schema, definition: Schema) -> str:
    if field in definition.get("required", []):
        return "*required*"
    default = schema["default"]
    return "its defaults" if isinstance(default, dict) and default else f"`{json.dumps(default)}`"


def _type(schema: Schema) -> str:  # noqa: PLR0911 - one return for each form of a schema
    if "anyOf" in schema:
        return " or ".join(_type(choice) for choice in schema["anyOf"])
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "allOf" in schema:
        return " and ".join(_type(choice) for choice in schema["allOf"])
    if "enum" in schema:
        return " / ".join(f"`{value}`" for value in schema["enum"])
    kind = schema.get("type", "any")
    if "prefixItems" in schema:
        return f"array of exactly {len(schema['prefixItems'])}: {_type(schema['prefixItems'][0])}"
    if kind == "array":
        return f"array of {_type(schema['items'])}{_limits(schema)}"
    if kind == "object":
        return f"map of string to {_type(schema.get('additionalProperties', {}))}"
    return f"{kind}{_limits(schema)}"


def _limits(schema: Schema) -> str:
    low = schema.get("minimum", schema.get("minLength", schema.get("minItems")))
    high = schema.get("maximum", schema.get("maxLength", schema.get("maxItems")))
    if low is None and high is None:
        return ""
    unit = {"string": " characters", "array": " items"}.get(schema["type"], "")
    return f", {low if low is not None else 0} to {high}{unit}"


if __name__ == "__main__":
    PAGE.write_text(page_with(tables(), PAGE.read_text()))
    sys.stdout.write(f"refreshed {PAGE}\n")
