from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from wire_examples import REPLIES, REQUESTS, VECTORS

from recalld.protocol.schema import schema_text

COMMITTED = Path(__file__).parents[3] / "docs" / "wire_v1.schema.json"


def test_the_committed_schema_is_the_one_that_the_messages_make() -> None:
    assert COMMITTED.read_text() == schema_text(), "run: python -m recalld.protocol.schema > docs/wire_v1.schema.json"


def test_the_schema_is_a_valid_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_text()))


@pytest.mark.parametrize("name", [*REQUESTS, *REPLIES])
def test_every_golden_vector_fits_the_schema_of_its_direction(name: str) -> None:
    schema = json.loads(schema_text())
    direction = "Request" if name in REQUESTS else "Reply"
    validator = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{direction}", "$defs": schema["$defs"]})
    message = json.loads((VECTORS / f"{name}.json").read_text())
    validator.validate(message)
    assert not validator.is_valid({**message, "type": "nonsense"})
