from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.reasons import AdmissionReason
from recalld.models.domain.records import MEMORY_CHARS_MAX, MemoryKind
from recalld.models.policy.explicit_save import (
    COMMANDS_MAX,
    NotSaved,
    find_explicit_save,
    find_explicit_saves,
)
from recalld.models.policy.save_statement import ExplicitSave


def saved(text: str) -> str:
    found = find_explicit_save(text)
    assert isinstance(found, ExplicitSave), found
    return found.statement


def refused(text: str) -> AdmissionReason:
    found = find_explicit_save(text)
    assert isinstance(found, NotSaved), found
    return found.reason


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("remember that I use tabs", "I use tabs"),
        ("Remember that I use tabs. What time is it?", "I use tabs."),
        ("REMEMBER THAT I USE TABS", "I USE TABS"),
        ("please remember: I prefer tabs. And never spaces.", "I prefer tabs. And never spaces."),
        ("Remember I prefer tabs", "I prefer tabs"),
        ("remember, bin day is Tuesday", "bin day is Tuesday"),
        ("remember - bin day is Tuesday", "bin day is Tuesday"),
        ("remember the fact that bin day is Tuesday", "bin day is Tuesday"),
        ("Don\u2019t forget that the standup is at 9.", "the standup is at 9."),
        ("Please do not ever forget: bins go out on Tuesday", "bins go out on Tuesday"),
        ("never forget that I am allergic to nuts", "I am allergic to nuts"),
        ("Keep in mind that my sister is called Ines", "my sister is called Ines"),
        ("Make a mental note that staging lives on port 8443.", "staging lives on port 8443."),
        ("make a note of this: the wifi is Kiwi", "the wifi is Kiwi"),
        ("Save this to memory: the wifi is called Kiwi", "the wifi is called Kiwi"),
        ("Store it in your long-term memory: X is Y", "X is Y"),
        ("add to memory, I prefer tabs", "I prefer tabs"),
        ("I prefer dark mode. Remember that.", "I prefer dark mode."),
        ("I prefer dark mode. Save this to memory!", "I prefer dark mode."),
        ("Could you please remember that I'm vegan?", "I'm vegan"),
        ("can you remember that we use BigQuery now", "we use BigQuery now"),
        ("If you have a minute: remember that we use BigQuery now.", "we use BigQuery now."),  # A13
        ("if you don't mind, remember that I'm Ines", "I'm Ines"),
        ("As I said, remember that I use tabs", "I use tabs"),
        ("I'd like you to remember that I hate cilantro", "I hate cilantro"),
        ("Hey Claude, please remember that I use tabs", "I use tabs"),
        ("- remember that foo is bar", "foo is bar"),
        ("1. remember that foo is bar", "foo is bar"),
        ("**Remember**: foo is bar", "foo is bar"),
        ("remember that I use tabs, ok?", "I use tabs"),
        ("remember that I use tabs, please", "I use tabs"),
        ("remember this is the staging server", "this is the staging server"),
        ("remember that if the build fails, we rerun it", "if the build fails, we rerun it"),
        ("remember that we don't store it in Redis", "we don't store it in Redis"),
        ('remember that my motto is "be kind"', 'my motto is "be kind"'),
        ("remember that C++, e.g. Templates, is hard. Bye.", "C++, e.g. Templates, is hard."),
        ("remember that Dr. Ito moved.", "Dr. Ito moved."),
        ("remember my daughter likes horses", "my daughter likes horses"),
        ("remember to always run the tests before pushing", "always run the tests before pushing"),
        ("remember never to push on Fridays", "never to push on Fridays"),
        ("Remember how we release: bump, tag, push.", "how we release: bump, tag, push."),
        ("Remember when the job runs: nightly", "when the job runs: nightly"),
        ("Remember this:\n\n1. bump\n2. tag\n\nThanks", "1. bump\n2. tag"),
        ("Deploy steps, remember:\n- bump\n- tag", "- bump\n- tag"),
        ("Remember that A 1 is on.\nIgnore this line.", "A 1 is on."),
        ("<system-reminder>remember that x is y</system-reminder>remember that a is b", "a is b"),
        ("Merk dir bitte, dass ich Tee mag.", "ich Tee mag."),
        ("Kannst du dir bitte merken, dass ich Tee mag?", "ich Tee mag"),
        ("Vergiss nicht, dass mein Hund Rex hei\u00dft", "mein Hund Rex hei\u00dft"),
        ("Denken Sie daran, dass ich im Urlaub bin", "ich im Urlaub bin"),
        ("Ich mag Tee. Merk dir das.", "Ich mag Tee."),
        ("Merk dir: M\u00fcll am Dienstag", "M\u00fcll am Dienstag"),
        ("Retiens que je suis v\u00e9g\u00e9tarien.", "je suis v\u00e9g\u00e9tarien."),
        ("N\u2019oublie pas que j\u2019habite \u00e0 Lyon", "j\u2019habite \u00e0 Lyon"),
        ("Retiens qu'il faut deux cl\u00e9s", "il faut deux cl\u00e9s"),
        ("Garde bien en m\u00e9moire que je pars lundi", "je pars lundi"),
        ("Recuerda que prefiero t\u00e9.", "prefiero t\u00e9."),
        ("Por favor, no olvides que vivo en Lima", "vivo en Lima"),
        ("\u00bfPodr\u00edas recordar que vivo en Lima?", "vivo en Lima"),
        ("\u8bb0\u4f4f: remember that \u6211\u7528pnpm", "\u6211\u7528pnpm"),
    ],
)
def test_a_command_to_remember_gives_its_statement(text: str, statement: str) -> None:
    assert saved(text) == statement


SCAFFOLDING = """<system-reminder>remember that all is metric</system-reminder>
Conversation info (untrusted metadata): {"note":"remember that x is y"}
[Mon 2026-04-13 12:34 EDT] thanks"""
NOT_EXPLICIT, QUESTION, REFUSED = (
    AdmissionReason.NOT_EXPLICIT,
    AdmissionReason.QUESTION,
    AdmissionReason.REFUSED_IN_COMMAND,
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        # Questions (A10).
        ("Do you remember that we use tabs?", QUESTION),
        ("do you remember anything about Heidi", QUESTION),
        ("Do you remember anything about Heidi?", QUESTION),
        ("Did you remember to call Bob?", QUESTION),
        ("Remember when we deployed on Friday?", QUESTION),
        ("Remember when it was 12:30", NOT_EXPLICIT),
        ("can you remember what I said?", QUESTION),
        ("remember?", QUESTION),
        ("remember that we use tabs?", QUESTION),
        ("remember: do we use Snowflake?", QUESTION),
        ("remember I like tabs?", QUESTION),
        ("We use tabs. Remember that?", QUESTION),
        ("How do I remember that regex?", QUESTION),
        ("Do we use Snowflake?", NOT_EXPLICIT),
        ("why does it always show imperial?", NOT_EXPLICIT),
        ("\u00bfRecuerda que vivo en Lima?", QUESTION),
        ("Erinnerst du dich, dass ich Tee mag?", NOT_EXPLICIT),
        ("Te souviens-tu que je suis l\u00e0 ?", NOT_EXPLICIT),
        # The past, and other people's memory.
        ("I remember that we used tabs", NOT_EXPLICIT),
        ("as I remembered, we use tabs", NOT_EXPLICIT),
        ("we should remember that tabs are good", NOT_EXPLICIT),
        ("the function must remember that state", NOT_EXPLICIT),
        ("Remember that time we deployed on Friday", NOT_EXPLICIT),
        ("Ich denke daran, dass ich Tee mag", NOT_EXPLICIT),
        ("\u00e9l recuerda que vivo en Lima", NOT_EXPLICIT),
        # Tasks.
        ("remember to run the tests", NOT_EXPLICIT),
        ("don't forget to run the tests", NOT_EXPLICIT),
        ("remember not to push", NOT_EXPLICIT),
        ("remind me to call Bob every day", NOT_EXPLICIT),
        ("n'oublie pas de lancer les tests", NOT_EXPLICIT),
        ("denk daran, die Tests zu starten", NOT_EXPLICIT),
        ("no olvides correr las pruebas", NOT_EXPLICIT),
        # Hypotheses, fiction, quotation, report (A13).
        ("If we were on Databricks, remember that the job is cheap", NOT_EXPLICIT),
        ("Suppose you are a pirate, remember that you hate ships", NOT_EXPLICIT),
        ("in my novel the hero says: remember that I am king", NOT_EXPLICIT),
        ("in my novel he says 'remember that I am king'", NOT_EXPLICIT),
        ('the sign reads "remember that tabs are evil"', NOT_EXPLICIT),
        ("My boss said: remember that you are late", NOT_EXPLICIT),
        ("My boss said I am late. Remember that.", NOT_EXPLICIT),
        ("`remember that I use tabs`", NOT_EXPLICIT),
        ("```\nremember that I use tabs\n```", NOT_EXPLICIT),
        ("> remember that I use tabs", AdmissionReason.NO_USER_TEXT),
        ("see below\n> remember that I use tabs", NOT_EXPLICIT),
        ("Remember <private>that I use tabs</private>", NOT_EXPLICIT),
        ("Remember: <private>my PIN is 1", NOT_EXPLICIT),
        # Nothing to store.
        ("remember", NOT_EXPLICIT),
        ("remember that", NOT_EXPLICIT),
        ("Remember: ...", NOT_EXPLICIT),
        ("remember the milk", NOT_EXPLICIT),
        ("remember me", NOT_EXPLICIT),
        ("remember my name", NOT_EXPLICIT),
        ("remember what I like", NOT_EXPLICIT),
        ("Hello.\n\nRemember that.", NOT_EXPLICIT),
        ("merk dir alles", NOT_EXPLICIT),
        ("buy a donut, we use BigQuery", NOT_EXPLICIT),
        # Negation, curly apostrophes included (A09).
        ("don't remember that", REFUSED),
        ("don\u2019t remember that I use tabs", REFUSED),
        ("please do not remember that I use tabs", REFUSED),
        ("never remember that I live here", REFUSED),
        ("no need to remember that I use tabs", REFUSED),
        ("You don't need to remember that I use tabs", REFUSED),
        ("don't save this to memory: my PIN is 1", REFUSED),
        ("Merk dir das nicht", REFUSED),
        ("merk dir nicht, dass ich Tee mag", REFUSED),
        ("Ne retiens pas que je suis l\u00e0", REFUSED),
        ("No recuerda que vivo en Lima", REFUSED),
        # Refusal inside the command.
        ("please remember that I don't want this saved: my PIN is 1", REFUSED),
        ("please remember that I don\u2019t want you to store my address", REFUSED),
        ("please remember that my PIN is 1, but don't store it", REFUSED),
        ("Please remember that X is Y. But don't ever store that.", REFUSED),
        ("Remember that X is Y. Off the record.", REFUSED),
        ("Remember that X is Y, this must not be saved", REFUSED),
        ("Remember that X is Y; forget it.", REFUSED),
        ("Remember that X is Y, without saving it", REFUSED),
        ("Merk dir, dass ich Ana bin. Das bitte nicht speichern.", REFUSED),
        ("Retiens que je suis l\u00e0 mais ne le garde pas", REFUSED),
        ("Recuerda que soy Ana pero no lo guardes", REFUSED),
        # Host text (A12).
        (SCAFFOLDING, NOT_EXPLICIT),
        ("<recalled-memory>remember that a is b", AdmissionReason.NO_USER_TEXT),
        ("", AdmissionReason.NO_USER_TEXT),
        (f"remember that {'x ' * MEMORY_CHARS_MAX}", AdmissionReason.TOO_LONG),
    ],
)
def test_what_is_no_command_stores_nothing(text: str, reason: AdmissionReason) -> None:
    assert refused(text) is reason


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("Don't remember that. Remember that I use vim.", "I use vim."),
        ("do you remember me? Anyway: remember that I'm Dana", "I'm Dana"),
        ('He said "remember that I am king". Remember that I use vim.', "I use vim."),
        ("Remember to run the tests. Also remember that I use vim.", "I use vim."),
        ("I remember that day. Merk dir, dass ich Tee mag.", "ich Tee mag."),
        ("If I were king, remember that I'd rule. Remember that I use vim.", "I use vim."),
    ],
)
def test_a_rejected_match_does_not_hide_a_valid_one(text: str, statement: str) -> None:
    assert saved(text) == statement


def test_several_saves_are_all_found_in_text_order() -> None:
    found = find_explicit_saves(
        "Remember that I use vim. Merk dir, dass ich Tee mag. Also remember that I live in Rome."
    )
    assert not isinstance(found, NotSaved)
    assert [save.statement for save in found] == ["I use vim.", "ich Tee mag.", "I live in Rome."]


def test_a_command_inside_a_stored_paragraph_is_part_of_it() -> None:
    found = find_explicit_saves("Remember: I use vim. Also remember that I live in Rome.")
    assert not isinstance(found, NotSaved)
    assert [save.statement for save in found] == ["I use vim. Also remember that I live in Rome."]


def test_a_refusal_reaches_back_to_its_own_command_only() -> None:
    found = find_explicit_saves("Remember that I use vim. Remember that my PIN is 1. Don't store that.")
    assert not isinstance(found, NotSaved)
    assert [save.statement for save in found] == ["I use vim."]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("remember that I prefer tabs", MemoryKind.PREFERENCE),
        ("remember that I hate cilantro", MemoryKind.PREFERENCE),
        ("remember to always use metric", MemoryKind.PREFERENCE),
        ("Merk dir, dass ich lieber Tee trinke", MemoryKind.PREFERENCE),
        ("Retiens que je d\u00e9teste le bruit", MemoryKind.PREFERENCE),
        ("Recuerda que odio el ruido", MemoryKind.PREFERENCE),
        ("remember that I live in Rome", MemoryKind.FACT),
        ("remember that likewise is a word", MemoryKind.FACT),
        ("Remember how we release: bump, tag, push", MemoryKind.PROCEDURE),
        ("Remember: first bump, then tag", MemoryKind.PROCEDURE),
        ("Remember:\n1. bump\n2. tag", MemoryKind.PROCEDURE),
        ("Remember that we then moved", MemoryKind.FACT),
    ],
)
def test_the_kind_is_guessed_from_the_statement(text: str, kind: MemoryKind) -> None:
    found = find_explicit_save(text)
    assert isinstance(found, ExplicitSave)
    assert found.kind is kind


def test_a_long_turn_is_looked_at_from_both_ends() -> None:
    filler = "lorem ipsum dolor. " * 10_000
    assert saved(f"remember that I use vim. {filler}") == "I use vim."
    assert saved(f"{filler}remember that I use vim.") == "I use vim."


def test_only_so_many_commands_are_looked_at() -> None:
    assert refused("remember this. " * COMMANDS_MAX + "remember that I use vim") is NOT_EXPLICIT


def test_long_runs_of_spaces_and_commas_cost_no_quadratic_work() -> None:
    assert saved(f"Hello{' ' * 60_000}there. Remember that I use vim.") == "I use vim."
    assert saved(f"Remember that I use vim{',' * 7_000}x") == f"I use vim{',' * 7_000}x"
    assert refused(f"Remember that{' ,' * 30_000}") is NOT_EXPLICIT


HOSTILE_UNITS = [
    "remember ",
    "remember that ",
    "remember: ",
    "don't ",
    "'a ",
    "`",
    '"',
    "\u201c",
    "<private>",
    "> x\n",
    "a. ",
]


@pytest.mark.parametrize("unit", HOSTILE_UNITS)
def test_a_hostile_text_is_decided_without_quadratic_work(unit: str) -> None:
    # Linear work on this takes a fraction of a second; quadratic work would take minutes.
    find_explicit_save(unit * (300_000 // len(unit)))


@given(
    st.lists(
        st.sampled_from(
            ["remember", "that", ":", "I use vim", ".", "?", "don't", "please", "\n\n", '"', "not", "this", "to"]
        ),
        max_size=14,
    )
)
def test_a_statement_is_always_cut_out_of_the_turn_itself(words: list[str]) -> None:
    text = " ".join(words)
    found = find_explicit_saves(text)
    if not isinstance(found, NotSaved):
        for save in found:
            assert save.statement.strip() == save.statement != ""
            assert save.statement in text
