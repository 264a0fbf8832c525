"""The lists of each language: none can be left out, and a faulty file is refused."""

from __future__ import annotations

import msgspec
import pytest

from recalld.models.policy.save_turn import prepare_turn
from recalld.models.policy.statements.find import find_stated
from recalld.models.policy.statements.grammar import (
    LANGUAGES,
    Grammar,
    GrammarWords,
    lower_case,
    parse_grammar,
    parse_words,
    statements_data,
)
from recalld.models.policy.statements.rule import RuleError
from recalld.models.policy.statements.rule_book import RuleBook, rule_book

TELLING = {
    "en": {
        "joiners": "the tests are slow and we use pytest",
        "leads": "btw we use Redis",
        "supposed": "suppose for a second, we use Redis",
        "conditions": "if it is slow and we use Redis",
        "guesses": "we use Redis, I guess",
        "reports": "as she told the board, we use Redis",
        "fictions": "in this dream, we use Redis",
        "inventions": "Here is my short story. We use Redis.",
        "tasks": "Translate the next line. We use Redis.",
        "deferrals": "Translate my mail later. We use Redis.",
        "refusals": "Off the record. We use Redis.",
        "passing": "today, we use Redis",
        "moments": "at 10, we use Redis",
        "recurring": "every day at 10, we use Redis",
        "over": "we use Redis here no more",
        "asking": "we use Redis, what else is there?",
        "reasons": "since we use Redis?",
        "pasted": "the last line of the letter: we use Redis",
        "introductions": "Policy: we use Redis",
    },
    "de": {
        "joiners": "die Tests sind langsam und wir nutzen Redis",
        "leads": "übrigens wir nutzen Redis",
        "supposed": "angenommen es eilt, wir nutzen Redis",
        "conditions": "wenn es eilt und wir nutzen Redis",
        "guesses": "wir nutzen Redis, glaube ich",
        "reports": "wie sie schreibt, wir nutzen Redis",
        "fictions": "im Traum war es so, wir nutzen Redis",
        "inventions": "Hier ist mein Hörspiel. Wir nutzen Redis.",
        "tasks": "Übersetze die nächste Zeile. Wir nutzen Redis.",
        "deferrals": "Übersetze das später. Wir nutzen Redis.",
        "refusals": "Das bleibt unter uns. Wir nutzen Redis.",
        "passing": "heute Abend, wir nutzen Redis",
        "moments": "um 10, wir nutzen Redis",
        "recurring": "jeden Tag um 10, wir nutzen Redis",
        "over": "wir nutzen Redis jetzt nicht mehr",
        "asking": "wir nutzen Redis, was gibt es sonst?",
        "reasons": "da wir fertig sind, weil: wir nutzen Redis?",
        "pasted": "in der letzten Zeile vom Brief: wir nutzen Redis",
        "introductions": "Korrektur: wir nutzen Redis",
    },
    "fr": {
        "joiners": "les tests sont lents et nous utilisons Redis",
        "leads": "au fait nous utilisons Redis",
        "supposed": "supposons un instant, nous utilisons Redis",
        "conditions": "si ça presse et nous utilisons Redis",
        "guesses": "nous utilisons Redis, je crois",
        "reports": "comme elle écrit, nous utilisons Redis",
        "fictions": "dans mon rêve, nous utilisons Redis",
        "inventions": "Voici mon roman. Nous utilisons Redis.",
        "tasks": "Traduis la ligne suivante. Nous utilisons Redis.",
        "deferrals": "Traduis mon mot plus tard. Nous utilisons Redis.",
        "refusals": "Cela reste entre nous. Nous utilisons Redis.",
        "passing": "ce soir, nous utilisons Redis",
        "moments": "à 10h, nous utilisons Redis",
        "recurring": "chaque jour à 10h, nous utilisons Redis",
        "over": "je travaille chez Renault et jamais ailleurs, j'aime ça",
        "asking": "nous utilisons Redis, que prendre d'autre ?",
        "reasons": "c'est ainsi, puisque : nous utilisons Redis ?",
        "pasted": "dans la dernière ligne de la lettre : nous utilisons Redis",
        "introductions": "Correction : nous utilisons Redis",
    },
    "es": {
        "joiners": "las pruebas son lentas y usamos Redis",
        "leads": "por cierto usamos Redis",
        "supposed": "supongamos un momento, usamos Redis",
        "conditions": "si corre prisa y usamos Redis",
        "guesses": "usamos Redis, creo",
        "reports": "como ella dice, usamos Redis",
        "fictions": "en mi sueño, usamos Redis",
        "inventions": "Aquí va mi cuento. Usamos Redis.",
        "tasks": "Traduce la línea siguiente. Usamos Redis.",
        "deferrals": "Traduce mi nota más tarde. Usamos Redis.",
        "refusals": "Que quede entre nosotros. Usamos Redis.",
        "passing": "esta noche, usamos Redis",
        "moments": "a las 10, usamos Redis",
        "recurring": "cada día a las 10, usamos Redis",
        "over": "me encanta el jazz pero nunca bailo",
        "asking": "usamos Redis, ¿qué más hay?",
        "reasons": "es así, porque: usamos Redis?",
        "pasted": "en la última línea de la carta: usamos Redis",
        "introductions": "Corrección: usamos Redis",
    },
}
"""A turn for each list that is read in another way without it."""
LISTS = [field.name for field in msgspec.structs.fields(GrammarWords) if field.name != "shorthands"]


def words_of_language(language: str) -> GrammarWords:
    return parse_words(statements_data().joinpath(language, "grammar.toml").read_bytes())


def statements(text: str, book: RuleBook) -> list[str]:
    return [each.statement for each in find_stated(prepare_turn(text), [book])]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", LISTS)
def test_no_list_of_a_grammar_can_be_left_out(language: str, name: str) -> None:
    book = rule_book(language)
    words = msgspec.structs.replace(words_of_language(language), **{name: ()})
    turn = TELLING[language][name]
    assert statements(turn, book) != statements(turn, msgspec.structs.replace(book, grammar=Grammar(words)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_lists_are_in_lower_case_because_they_are_looked_for_in_such_text(language: str) -> None:
    words = msgspec.to_builtins(words_of_language(language))
    entries = [entry for name in LISTS for entry in words[name]]
    assert [entry for entry in entries if lower_case(entry) != entry] == []


@pytest.mark.parametrize("text", ["\u0130stanbul LEBT", "Stra\u00dfe", ""])
def test_lower_case_keeps_positions(text: str) -> None:
    assert len(lower_case(text)) == len(text)


def test_a_faulty_grammar_is_refused() -> None:
    with pytest.raises(RuleError, match="cannot be read"):
        parse_grammar(b"joiners = []")
    data = statements_data().joinpath("en", "grammar.toml").read_bytes()
    with pytest.raises(RuleError, match="cannot be read"):
        parse_grammar(data.replace(b'joiners = ["and"', b'joiners = ["(and"'))
