"""A runtime that only wants the client must not need what the daemon needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("onnxruntime", "tokenizers", "numpy", "aiosqlite", "structlog", "uvloop", "click", "rich", "huggingface_hub")
OURS = ("recalld.daemon", "recalld.actors", "recalld.models")

SCRIPT = """
import importlib.abc, sys

class Block(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if any(name == blocked or name.startswith(blocked + ".") for blocked in {blocked!r}):
            raise ImportError("blocked: " + name)
        return None

sys.meta_path.insert(0, Block())
from recalld.protocol.client import {client}
print({client}.__name__)
"""


@pytest.mark.parametrize(
    ("client", "blocked"), [("Client", (*HEAVY, *OURS, "anyio", "trio")), ("AsyncClient", (*HEAVY, *OURS, "trio"))]
)
def test_a_client_is_importable_without_the_daemons_dependencies(client: str, blocked: tuple[str, ...]) -> None:
    script = SCRIPT.format(client=client, blocked=blocked)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == f"{client}\n", done.stderr


def test_the_package_has_no_other_names() -> None:
    from recalld.protocol import client

    with pytest.raises(AttributeError, match="Telepath"):
        client.Telepath  # noqa: B018 - reading the name is the test
