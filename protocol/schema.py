"""The protocol as a JSON Schema: `python -m recalld.protocol.schema` prints it.

The messages are MessagePack on the wire; the schema describes the same maps.
"""

from __future__ import annotations

import json
import sys
import typing

import msgspec

from recalld.protocol.messages import Reply, Request
from recalld.protocol.version import PROTOCOL_VERSION


def schema_text() -> str:
    """The schema of both directions, as indented JSON with a final newline.

    `$defs/Request` and `$defs/Reply` are the unions; every message is a definition of its own.
    """
    classes = (*typing.get_args(Request), *typing.get_args(Reply))
    references, definitions = msgspec.json.schema_components(classes, ref_template="#/$defs/{name}")
    asked = len(typing.get_args(Request))
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"recalld wire protocol, version {PROTOCOL_VERSION}",
        "anyOf": [{"$ref": "#/$defs/Request"}, {"$ref": "#/$defs/Reply"}],
        "$defs": {
            "Request": {"anyOf": list(references[:asked])},
            "Reply": {"anyOf": list(references[asked:])},
            **{name: definitions[name] for name in sorted(definitions)},
        },
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
