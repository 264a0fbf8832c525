from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason

DROPPED = [
    "Do you remember anything about Heidi?",
    "do we use Snowflake?",
    "do {we use Snowflake} at all?",
    "Do we use Snowflake",
    "why does it always show imperial?",
    "isn\u2019t it true that {we use Redshift}?",
    "{we're on Snowflake}? no, we're on BigQuery",
    "we use Redis, right?",
    "always show imperial?",
    "My lead is Farouk, or isn't he?",
    "what did I say about tabs",
    "Wohnen wir in Köln?",
    "Nutzen wir Snowflake?",
    "Est-ce que {nous utilisons Snowflake} ?",
    "on utilise quoi comme base ?",
    "¿Usamos Snowflake?",
    "¿Vivo en Vigo?",
    "Which editor do I prefer?",
]
KEPT = [
    "we're on Snowflake? no, {we're on BigQuery}",
    "Since I'm vegetarian, what could I cook tonight?",
    "{Since I'm vegetarian}, what could I cook tonight?",
    "As a nurse on nights I sleep till noon, any ideas for blinds?",
    "{Vegetarian}, allergic to sesame: lunch ideas?",
    "could you always answer in French?",
    "Do we use Kafka? {We use RabbitMQ}.",
    "the straight-line method, which is {the only one our manual permits}",
    "Wie koche ich das, {ich bin Veganer}?",
    "Comme je suis végétarienne, qu'est-ce que je cuisine ?",
    "Como soy celíaca, ¿qué puedo pedir?",
]


@pytest.mark.parametrize("marked", DROPPED)
def test_a_question_is_dropped_as_such(marked: str) -> None:
    found = ruling(marked)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.QUESTION)


@pytest.mark.parametrize("marked", KEPT)
def test_what_only_looks_like_a_question_is_kept(marked: str) -> None:
    assert ruling(marked).disposition is Disposition.RECORD
