from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import time
from recalld.models.policy.admission.context import AdmissionContext
from recalld.models.policy.turn_facts import read_turn
from recalld.models.policy.turn_rulings import rule_turn
from recalld.models.policy.turn_warmup import prepare_turns

def spent(work):
    began_s = time.process_time()
    work()
    return time.process_time() - began_s

def read(text):
    facts = read_turn(text)
    rule_turn(facts.candidates, AdmissionContext(turn=facts.turn, at_ms=1, now_ms=1))

loading_s = spent(prepare_turns)
for text in (
    "I live in Bern, and we always deploy on Tuesdays.",
    "Wir sind nicht auf Redshift, aber ich wohne in Bern.",
    "J'habite \u00e0 Lyon, et nous n'utilisons pas Databricks.",
    "Vivo en Madrid y no usamos Snowflake.",
):
    assert spent(lambda: read(text)) < loading_s / 5, text
"""


def test_after_the_warm_up_no_turn_of_any_language_pays_for_loading() -> None:
    ended = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
