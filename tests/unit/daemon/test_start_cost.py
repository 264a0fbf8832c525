"""What a start of the daemon loads before it is ready, and what it leaves for later."""

from __future__ import annotations

import gc
import subprocess
import sys

from recalld.daemon.settled_memory import settle_memory

SCRIPT = """
import sys
import recalld.daemon.app
print(*sorted({"onnxruntime", "tokenizers"} & sys.modules.keys()))
"""


def test_the_daemon_gets_ready_without_the_library_that_only_models_need() -> None:
    ended = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.split() == []


def test_settled_memory_is_out_of_the_collectors_sight_and_new_garbage_is_not() -> None:
    kept: list[list[object]] = [[]]
    settle_memory()
    try:
        assert not any(each is kept for each in gc.get_objects())
        circle: list[object] = []
        circle.append(circle)
        assert any(each is circle for each in gc.get_objects())
    finally:
        gc.unfreeze()
