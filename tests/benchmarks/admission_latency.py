"""Time the heuristics of the write path on turns of about 2,000 characters, and on hostile turns of 200 KB.

    python tests/benchmarks/admission_latency.py --turns 400

The stages are those that every observed turn goes through before anything is asked of a model or the store: secrets
are redacted, the turn is prepared, facts are found by the rules, and the policy rules on them. Three kinds of turns:

* normal: sentences of one language, chosen from a seed among those below; a few of them state something;
* dense: put together from the rules' own examples, so that they state far more than people do;
* hostile: 200 KB of one thing over and over, of which the figure is the best of three.

It is processor time of one thread, because these machines are shared.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import msgspec

from recalld.actors.supervisor.latency import percentile
from recalld.models.policy.admission.context import AdmissionContext
from recalld.models.policy.admission.pipeline import rule_all
from recalld.models.policy.admission.secrets import redact
from recalld.models.policy.save_turn import prepare_turn
from recalld.models.policy.statements.find import find_stated
from recalld.models.policy.statements.grammar import LANGUAGES
from recalld.models.policy.statements.rule_book import rule_book
from recalld.models.policy.turn_warmup import prepare_turns

TURN_CHARS = 2_000
HOSTILE_CHARS = 200_000
REPEATS = 3
SEED = 20_261_130
SAID_AT_MS = 1_776_254_400_000
STATING_SHARE = 0.1
"""Share of a normal turn's sentences that state something."""
STAGES = ("redact", "prepare_turn", "find_stated", "rule_all")
STACK = "stack"
FILLER = {
    "en": (
        "I have been at this for a while and the log doesn't tell me much.",
        "Could you have a look at the attached function and say what you would change?",
        "It fails in about one run of ten, mostly in the morning when the machines are busy.",
        "The second half of the report still has to be written, and the tables need their headings.",
        "Yesterday we moved the cron job to 04:30, but the backup of 2026-11-28 is missing all the same.",
        "Here's what it prints: `connection reset by peer`, and then nothing for 30 seconds.",
        "My sister says the soup needs more salt; what else could I try?",
        "Please keep the summary short, because Dana has to read it before the meeting.",
    ),
    "de": (
        "Ich sitze jetzt seit einer Stunde daran, und im Protokoll steht nichts Brauchbares.",
        "K\u00f6nntest du dir die Funktion ansehen und sagen, was du \u00e4ndern w\u00fcrdest?",
        "Etwa jeder zehnte Lauf schl\u00e4gt fehl, meistens morgens, wenn viel los ist.",
        "Die zweite H\u00e4lfte des Berichts fehlt noch, und die Tabellen brauchen \u00dcberschriften.",
        "Gestern hat Thilo die Konfiguration ge\u00e4ndert, aber das \u201eBackup\u201c fehlt trotzdem.",
        "Schreib mir bitte zwei, drei S\u00e4tze f\u00fcr die Kollegen, m\u00f6glichst freundlich.",
    ),
    "fr": (
        "Je cherche depuis une heure et le journal ne m'apprend pas grand-chose.",
        "Peux-tu regarder cette fonction et me dire ce que tu changerais ?",
        "\u00c7a \u00e9choue une fois sur dix, surtout le matin quand les machines sont occup\u00e9es.",
        "Il reste \u00e0 r\u00e9diger la seconde moiti\u00e9 du rapport, et les tableaux n'ont pas de titres.",
        "Hier, l'\u00e9quipe a d\u00e9plac\u00e9 la t\u00e2che \u00e0 4 h 30, mais la sauvegarde manque toujours.",
    ),
    "es": (
        "Llevo una hora con esto y el registro no me dice gran cosa.",
        "\u00bfPuedes mirar esta funci\u00f3n y decirme qu\u00e9 cambiar\u00edas?",
        "Falla una de cada diez veces, sobre todo por la ma\u00f1ana, cuando hay m\u00e1s carga.",
        "Falta la segunda mitad del informe, y las tablas necesitan t\u00edtulos.",
        "Ayer movimos la tarea a las 4:30, pero la copia de seguridad sigue sin aparecer.",
    ),
}
STATING = {
    "en": (
        "I work at Initech.",
        "We use BigQuery for the reports.",
        "My wife is allergic to nuts.",
        "From now on answer in metric units.",
        "I no longer use vim.",
    ),
    "de": ("Ich arbeite bei Initech.", "Wir nutzen BigQuery.", "Ich wohne in Lemgo.", "Nenn mich bitte Ana."),
    "fr": ("Je travaille chez Initech.", "Nous utilisons BigQuery.", "J'habite \u00e0 Lyon."),
    "es": ("Trabajo en Initech.", "Usamos BigQuery.", "Vivo en Madrid."),
}
HOSTILE = {
    "statements": "and we use BigQuery ",
    "statements in lines": "we use Redis\n",
    "statements asked": "we use BigQuery? ",
    "thousand clauses": "I live in Rome, ",
    "names": "Redis, ",
    "triggers": "always use never ",
    "I use": "I use ",
    "my": "my ",
    "openings": "ok so btw, ",
    "commas": ", ",
    "conditions": "if we use Redis and ",
    "values": "I'm allergic to a, ",
    "one letter": "a",
    "one letter words": "a b c d ",
    "one value": "I'm allergic to " + "a b c d " * 25_000,
    "German": "wir nutzen Redis und ",
    "French": "nous utilisons Redis et ",
    "Spanish": "usamos Redis y ",
    "accents": "\u00e9\u00e8 \u00fc",
    "other scripts": "\u4f60\u597d \u0645\u0631\u062d\u0628\u0627 ",
    "emoji": "\U0001f600 ",
    "zero width": "a\u200bb ",
    "ligatures": "\ufdfa",
    "nested brackets": "[",
    "mixed brackets": "([{<",
    "tags": "<a>",
    "closing tags": "</a>",
    "elements": "<div>a</div>\n",
    "escaped brackets": "&lt;",
    "quotes": '"',
    "single quotes": " 'a",
    "backticks": "`a",
    "fences": "```\n",
    "stars": "*",
    "links": "https://a.b/c?d=e ",
    "capitals": "KEY TOKEN ",
    "questions": "what? ",
    "stops": ". ",
    "lines": "a\n",
    "paragraphs": "- a\n\n",
    "quoted lines": "> a\n",
    "tables": "| a\n",
    "indented lines": "    a\n",
    "transcript": "user: a\n",
    "shell": "$ ls\n",
    "notes": "[a b\n",
    "time stamps": "[2024-01-01 10:00] ",
    "digits": "1 2 3 4 ",
    "cards": "4111 ",
    "accounts": "DE12 3456 ",
    "passwords": "my password is ",
    "bearers": "bearer ",
    "refusals": "don't remember ",
    "suppositions": "suppose ",
}


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """Milliseconds of one turn."""

    p50: float
    p95: float
    max: float


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured.

    Attributes:
        turns: How many normal turns, and as many dense ones, of about `TURN_CHARS` characters.
        facts: Facts found in a normal and in a dense turn, on average.
        normal: Times of normal turns for each stage and for all of them.
        dense: The same of dense turns.
        worst: The hostile turn that took longest.
        hostile: Milliseconds of each hostile turn for all stages, the longest first.
    """

    turns: int
    facts: dict[str, float]
    normal: dict[str, Spread]
    dense: dict[str, Spread]
    worst: str
    hostile: dict[str, float]


class Timed(msgspec.Struct, frozen=True, kw_only=True):
    """Milliseconds of each stage on one turn, in the order of `STAGES`, and the facts that were found."""

    ms: tuple[float, ...]
    facts: int


def main(arguments: Sequence[str]) -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=400, help="normal turns to time (default: 400)")
    print(json.dumps(msgspec.to_builtins(measure(parser.parse_args(arguments).turns)), indent=2))


def measure(count: int) -> Figures:
    """Time normal, dense and hostile turns, with everything loaded before."""
    prepare_turns()
    chance = random.Random(SEED)
    timed = {
        kind: [run_stages(make(chance)) for _ in range(count)]
        for kind, make in (("normal", normal_turn), ("dense", dense_turn))
    }
    hostile = {
        name: min(sum(run_stages(text).ms) for _ in range(REPEATS)) for name, text in hostile_turns(HOSTILE_CHARS)
    }
    slowest_first = sorted(hostile, key=hostile.__getitem__, reverse=True)
    return Figures(
        turns=count,
        facts={kind: sum(each.facts for each in turns) / count for kind, turns in timed.items()},
        normal=_spreads(timed["normal"]),
        dense=_spreads(timed["dense"]),
        worst=slowest_first[0],
        hostile={name: hostile[name] for name in slowest_first},
    )


def normal_turn(chance: random.Random) -> str:
    """Sentences of one language."""
    language = chance.choice(LANGUAGES)
    return _filled(lambda: [chance.choice((STATING if chance.random() < STATING_SHARE else FILLER)[language])])


def dense_turn(chance: random.Random) -> str:
    """Statements, what tempts, and filler between them."""
    rules = rule_book(chance.choice(LANGUAGES)).rules

    def pieces() -> list[str]:
        rule = chance.choice(rules).rule
        return [chance.choice((*rule.matches, *rule.misses)), *chance.choices(FILLER["en"], k=4)]

    return _filled(pieces)


def hostile_turns(chars: int) -> Iterator[tuple[str, str]]:
    """The hostile turns, each by its name."""
    for name, text in HOSTILE.items():
        yield name, (text * (chars // len(text) + 1))[:chars]


def run_stages(text: str) -> Timed:
    """Read one turn, and rule on what is found."""
    clock = time.thread_time
    began = clock()
    said = redact(text).text
    redacted = clock()
    turn = prepare_turn(said)
    prepared = clock()
    candidates = find_stated(turn)
    found = clock()
    rule_all(candidates, AdmissionContext(turn=turn, said=said, at_ms=SAID_AT_MS, now_ms=SAID_AT_MS))
    marks = (began, redacted, prepared, found, clock())
    spent = tuple((end - start) * 1e3 for start, end in pairwise(marks))
    return Timed(ms=spent, facts=len(candidates))


def _filled(pieces: Callable[[], list[str]]) -> str:
    said: list[str] = []
    while sum(map(len, said)) < TURN_CHARS:
        said += pieces()
    return " ".join(said)[:TURN_CHARS]


def _spreads(turns: Sequence[Timed]) -> dict[str, Spread]:
    times = {name: [each.ms[place] for each in turns] for place, name in enumerate(STAGES)}
    times[STACK] = [sum(each.ms) for each in turns]
    return {name: _spread(sorted(each)) for name, each in times.items()}


def _spread(ordered: Sequence[float]) -> Spread:
    return Spread(p50=percentile(ordered, 0.50), p95=percentile(ordered, 0.95), max=ordered[-1])


if __name__ == "__main__":
    main(sys.argv[1:])
