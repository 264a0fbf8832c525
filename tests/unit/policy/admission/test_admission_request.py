from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason

DROPPED = [
    "please call me tomorrow",
    "call me when done",
    "use tabs in this file",
    "Answer this one in Spanish",
    "Make it shorter",
    "could you rename the function",
    "Miles, just this once.",
    "don't touch the header",
    "Send me the list",
    "I need a summary",
    "wait until Friday",
    "translate: {I live in Paris}",
    "Translate to German: {my name is Pavel}.",
    "Fix the grammar: {we uses Redis}",
    "Schreib mir eine Mail",
    "Kannst du die Datei umbenennen",
    "nur diesmal bitte metrisch",
    "Ajoute une ligne au fichier",
    "Traduis : {je vis à Colmar}",
    "pour une fois, en anglais",
    "Escribe un correo",
    "Traduce: {vivo en Vigo}",
    "For this report, always use tabs.",
    "In this chat, always answer in Latin.",
    "In diesem Chat immer auf Latein antworten, bitte antworte kurz",
    "Dans cette conversation, réponds toujours en latin",
    "En esta conversación, responde siempre en latín",
    "Write an email to HR saying {I work at Google} and my name is Bob.",
    "draft a letter that says {my name is Anna} and I live in Oslo",
    "Fix the header, the one above",
    "Fix the build; it is broken",
]
KEPT = [
    "Call me Dana.",
    "from now on use metric",
    "always run the linter",
    "Stop opening with a compliment, forever",
    "Use tabs in every C file",
    "never commit to main",
    "when I paste a log, start with the cause",
    "Could you speak more plainly with me in general",
    "explain lifetimes in parse_frame {im a php guy new to rust}",
    "Squash merges only",
    "I translate books for a living",
    "In this repo, always use tabs",
    "Let us stay clear of NoSQL.",
    "Write the python with type hints; the cluster is stuck on 3.8",
    "Write it for the old python, the cluster has nothing newer",
    "Quick question: our warehouse is Snowflake",
    "Write a regex for our ids: {our ids are letters and a number}",
    "Test names are full sentences here",
    "Antworte mir immer auf Deutsch",
    "Nenn mich Jo",
    "Tutoie-moi",
    "Réponds toujours en français",
    "Llámame Paz",
    "Responde siempre en español",
]


@pytest.mark.parametrize("marked", DROPPED)
def test_a_request_for_once_is_dropped_as_such(marked: str) -> None:
    found = ruling(marked)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.REQUEST)


@pytest.mark.parametrize("marked", KEPT)
def test_what_only_looks_like_a_request_for_once_is_kept(marked: str) -> None:
    assert ruling(marked).disposition is Disposition.RECORD
