from __future__ import annotations

import msgspec
import pytest

from recalld.models.policy.explicit_save import NotSaved, find_explicit_saves
from recalld.models.policy.save_grammar import SaveGrammar, SaveWords, shipped_words
from recalld.models.policy.save_statement import ExplicitSave

PROBES: dict[str, dict[str, str]] = {
    "en": {
        "commands": "remember that x is y",
        "complementisers": "remember that x y z",
        "objects": "remember this: x",
        "fillers": "remember for later that x is y",
        "leads": "please remember that x is y",
        "requests": "could you remember that x is y",
        "negators_before": "never remember that x is y",
        "questions": "do you remember that",
        "wh_words": "remember how we bake: flour",
        "reminiscences": "remember that time we moved",
        "task_marks": "remember to run the tests always",
        "standing_marks": "remember to run the tests every day",
        "hypotheticals": "if so, remember that x is y",
        "courtesies": "if you can, remember that x is y",
        "reports": "Bob said, remember that x is y",
        "exercises": "translate this, remember that x is y",
        "role_plays": "Pretend to be Bob. Remember that x is y",
        "addressees": "Let's play a game.\n\nRemember that you are y",
        "refusals": "remember that x is y, off the record",
        "preference_marks": "remember that I love tea",
        "procedure_marks": "remember: first x, then y",
    },
    "de": {
        "commands": "merk dir, dass x y ist",
        "complementisers": "merk dir, dass x y ist",
        "objects": "merk dir das: x",
        "fillers": "merk dir bitte, dass x y ist",
        "leads": "bitte merk dir, dass x y ist",
        "requests": "kannst du dir merken, dass x y ist",
        "negators_before": "niemals dir merken, dass x y ist",
        "negators_after": "merk dir nicht, dass x y ist",
        "questions": "warum merk dir, dass x y ist",
        "wh_words": "merk dir wie man backt: Mehl",
        "hypotheticals": "falls ja, merk dir, dass x y ist",
        "courtesies": "wenn du kannst, merk dir, dass x y ist",
        "reports": "Bob sagte, merk dir, dass x y ist",
        "exercises": "übersetze das, merk dir, dass x y ist",
        "role_plays": "Es war einmal ein x. Merk dir, dass x y ist",
        "addressees": "Rollenspiel!\n\nMerk dir, dass du x bist",
        "refusals": "merk dir, dass x y ist, das bitte nicht speichern",
        "preference_marks": "merk dir, dass ich Tee mag",
        "procedure_marks": "merk dir: zuerst x, danach y",
    },
    "fr": {
        "commands": "retiens que x est y",
        "complementisers": "retiens que x est y",
        "objects": "retiens ceci: x",
        "fillers": "retiens bien que x est y",
        "leads": "merci retiens que x est y",
        "requests": "peux-tu retenir que x est y",
        "negators_before": "ne retiens que x",
        "negators_after": "retiens pas que x est y",
        "questions": "pourquoi retiens que x est y",
        "wh_words": "retiens comment cuire : farine",
        "hypotheticals": "supposons, retiens que x est y",
        "courtesies": "si tu peux, retiens que x est y",
        "reports": "Bob a dit, retiens que x est y",
        "exercises": "par exemple, retiens que x est y",
        "role_plays": "Faisons semblant. Retiens que x est y",
        "addressees": "Jouons à un jeu.\n\nRetiens que tu es x",
        "refusals": "retiens que x est y, ne le garde pas",
        "preference_marks": "retiens que j'adore x",
        "procedure_marks": "retiens: d'abord x, ensuite y",
    },
    "es": {
        "commands": "recuerda que x es y",
        "complementisers": "recuerda que x es y",
        "objects": "recuerda esto: x",
        "fillers": "recuerda por favor que x es y",
        "leads": "oye recuerda que x es y",
        "requests": "puedes recordar que x es y",
        "negators_before": "nunca recuerda que x es y",
        "questions": "por qu\u00e9 recuerda que x es y",
        "wh_words": "recuerda c\u00f3mo hornear: harina",
        "hypotheticals": "supongamos, recuerda que x es y",
        "courtesies": "si puedes, recuerda que x es y",
        "reports": "Bob dijo, recuerda que x es y",
        "exercises": "por ejemplo, recuerda que x es y",
        "role_plays": "Juguemos a un juego. Recuerda que x es y",
        "addressees": "Juguemos a un juego.\n\nRecuerda que eres x",
        "refusals": "recuerda que x es y, no lo guardes",
        "preference_marks": "recuerda que odio x",
        "procedure_marks": "recuerda: primero x, despu\u00e9s y",
    },
}
"""For each list of each language, a turn that comes out differently without the list."""


def outcome(text: str, words: SaveWords) -> tuple[ExplicitSave, ...] | NotSaved:
    return find_explicit_saves(text, [SaveGrammar(words)])


def test_every_list_that_holds_words_has_a_probe() -> None:
    for language, words in shipped_words().items():
        filled = {field for field in SaveWords.__struct_fields__ if getattr(words, field)}
        assert filled == set(PROBES[language]), language


@pytest.mark.parametrize(
    ("language", "field"), [(language, field) for language in PROBES for field in PROBES[language]]
)
def test_emptying_a_list_changes_what_happens(language: str, field: str) -> None:
    words = shipped_words()[language]
    emptied = msgspec.structs.replace(words, **{field: ()})
    assert outcome(PROBES[language][field], words) != outcome(PROBES[language][field], emptied)


@pytest.mark.parametrize("language", PROBES)
def test_every_command_of_the_data_is_understood_before_a_colon(language: str) -> None:
    words = shipped_words()[language]
    grammar = SaveGrammar(words)
    for command in words.commands:
        spoken = command.replace("[dir]", "dir").replace("[", "").replace("]", "")
        spoken = " ".join(part.split("|")[0] for part in spoken.split())
        found = find_explicit_saves(f"{spoken}: x ist y", [grammar])
        assert not isinstance(found, NotSaved), command
        assert found[0].statement == "x ist y", command


def test_optional_words_may_be_left_out() -> None:
    for text in ("save to memory: x", "save this to memory: x", "save  that in your long-term memory: x"):
        assert not isinstance(outcome(text, shipped_words()["en"]), NotSaved), text
