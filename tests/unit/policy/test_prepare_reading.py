"""Whatever a first turn would read from files has been read before it comes."""

from __future__ import annotations

import subprocess
import sys

_SCRIPT = """
import pathlib
from recalld.models.domain.recall import RecallQuery
from recalld.models.policy.query_reading import prepare_reading, read_verdict, turn_of
from recalld.models.policy.temporal import find_intervals
from recalld.models.policy.turn_gate import decide

prepare_reading()
opened = []
read_text, read_bytes = pathlib.Path.read_text, pathlib.Path.read_bytes
pathlib.Path.read_text = lambda self, *a, **k: opened.append(self.name) or read_text(self, *a, **k)
pathlib.Path.read_bytes = lambda self: opened.append(self.name) or read_bytes(self)
for text in ("where is my key", "was haben wir gestern entschieden", "qu'a-t-on convenu hier", "que acordamos ayer",
             "\u6771\u4eac\u306f", "\u7ba1\u7406", "and what about it", "thanks", "2 + 2", "/help", "why?"):
    for turns in (None, (), ("it takes an hour",)):
        query = RecallQuery(user="u", session="", text=text, turns=turns, time_zone="UTC", deadline_s=1.0)
        verdict = decide(turn_of(query, now_ms=1_790_000_000_000), find_times=find_intervals)
        read_verdict(verdict, text, is_unconditional=False, is_search=False)
print(sorted(set(opened)))
"""


def test_no_turn_opens_a_file_after_the_preparation() -> None:
    ended = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.strip() == "[]"
