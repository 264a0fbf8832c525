from __future__ import annotations

import pytest
from admission_policy import candidate, context, ruling
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.pipeline import rule_on
from recalld.models.policy.admission.secrets import PLACEHOLDER, redact
from recalld.models.policy.save_turn import SENT_CHARS_MAX

MIXED = "A1b2C3d4E5f6G7h8J9k0"
JWT = "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiJhIn0." + "c2lnbmF0dXJl"
PEM = "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE " + "KEY-----"
SECRETS = [
    ("aws_key", "our key is {} ok", "AKIA" + "ABCDEFGHIJKLMNOP"),
    ("github_token", "push with {} please", "ghp" + "_" + MIXED + MIXED[:16]),
    ("github_token", "use {}", "github" + "_pat_" + MIXED + MIXED),
    ("gitlab_token", "we log in with {} now", "glpat" + "-" + MIXED),
    ("slack_token", "bot: {}", "xoxb" + "-1234567890-abcdefghij"),
    ("slack_webhook", "post to https://hooks.slack.com/services/{}", "T000/B000/" + MIXED),
    ("stripe_key", "charge with {}", "sk" + "_live_" + MIXED),
    ("api_key", "the model key {} goes there", "sk" + "-proj-" + MIXED),
    ("google_key", "maps: {}", "AIza" + MIXED + MIXED[:15]),
    ("package_token", "publish with {}", "npm" + "_" + MIXED),
    ("cloud_token", "droplets use {}", "dop" + "_v1_" + MIXED),
    ("prefixed_key", "ours is {}; where does it go", "tlx" + "-live-" + "9f2c77e0b1"),
    ("prefixed_key", "weather key {}", "wx" + "_key_" + "77ab10de93"),
    ("web_token", "header {}", JWT),
    ("bearer", "Authorization: Bearer {}", MIXED),
    ("private_key", "here:\n{}\nthanks", PEM),
    ("url_password", "connect to postgres://app:{}@db.local/prod", "hunter22"),
    ("variable", "export DEPLOY_TOKEN={}", MIXED),
    ("password", "password: {}", "swordfish"),
    ("password", "my password is {}.", "swordfish"),
    ("password", "the router passphrase is {} I think", "gravel-Otter-9"),
    ("password", "my sudo pw on rig3 is {} run it", "kolibri!7"),
    ("password", "Das Passwort lautet {}", "Eule-77-Blau"),
    ("password", "Le mot de passe du wifi, c'est `{}`", "Chouette-1987!"),
    ("password", "la contrase\u00f1a es {}", "buho-99-Azul"),
    ("token", "api key: {}", "ab12cd34ef56"),
    ("token", "our access token is {}", "q9w8e7r6t5"),
    ("token", "Wir nehmen den Schl\u00fcssel {}", "zz-7fQ2mmX0aL"),
    ("code", "the alarm code of our practice is {}", "550913"),
    ("code", "Meine Karten-PIN lautet {}", "7734"),
    ("code", "the vpn pin i use is {} then", "48201"),
    ("wifi", "Wifi here is {}", "kiwi-7781-lamp"),
    ("card", "pay with {} today", "4111 1111 1111 1111"),
    ("aws_key", "our aws secret access key {} ok", "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"),
    ("twilio_key", "the Twilio key is {} now", "SK" + "0123456789abcdef" * 2),
    ("telegram_token", "the bot runs with {} now", "123456789:" + "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1"),
    ("azure_key", "AccountName=foo;AccountKey={}", "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50u" + "SRZ6IFsu=="),
    ("hex_key", "my hexkey key is {}", "0123456789abcdef" * 3),
    ("passphrase", "my passphrase is {}.", "correct horse battery staple"),
    (
        "seed_phrase",
        "my seed phrase is {}",
        "legal winner thank year wave sausage worth useful legal winner thank yellow",
    ),
    ("seed_phrase", "mi frase semilla es {}", "uno dos tres cuatro cinco seis siete ocho nueve diez once doce"),
    ("password", 'my password is "{}" ok', "two words99"),
    ("password", 'Mein Passwort "{}" gilt', "zwei worte99"),
    ("password", "mon mot de passe est « {} »", "deux mots99"),
    ("login", "my login is bob with {}", "Sommer2026!"),
    ("login", "mein Login ist bob mit {}", "Sommer2026!"),
    ("social_security_number", "my SSN is {} ok", "123-45-6789"),
    ("bank_account", "send it to {}", "DE89 3704 0044 0532 0130 00"),
]
PROSE = [
    "We rotate keys every 90 days.",
    "We prefer a risk-based approach to secrets.",
    "Ticket task-4821-review is mine.",
    "desk-size-matters-1234567890",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke it",
    "id 123e4567-e89b-12d3-a456-426614174000",
    "integrity sha512-abc123def456abc123def456abc123def456abc123def456abc123def456abcd==",
    "The password is required.",
    "the password is stored in 1Password",
    "password: required",
    "password policy: fourteen characters",
    "The token is 15 minutes valid",
    "token: the unit that models count in",
    "API keys are kept in Vault, never in code",
    "the key is to keep answers short",
    "set TOKEN=$DEPLOY_TOKEN in the shell",
    "our zip code is 75011",
    "error code is 5001",
    "the order number is 4111 1111 1111 1112",
    "call 555 0100 2234 please",
    "GB00 AAAA is a section",
    "https://docs.example.org/auth?page=2",
    "http://localhost:8080/health",
    "secret santa is on Friday",
    "my passphrase is stored in the vault",
    "the seed is planted in March",
    "our login is SSO with Okta",
    'the password field says "Enter password"',
    "aws secrets are rotated by the platform team",
    "SSN is short for social security number",
    "the key is in the drawer",
    "I live at number 12, code name Delta",
]


@pytest.mark.parametrize(("kind", "sentence", "secret"), SECRETS)
def test_a_secret_is_taken_out_and_only_the_secret(kind: str, sentence: str, secret: str) -> None:
    found = redact(sentence.format(secret))

    assert secret not in found.text
    assert kind in found.found
    assert PLACEHOLDER in found.text
    assert found.text.startswith(sentence.partition("{")[0][:6])


@pytest.mark.parametrize("text", PROSE)
def test_prose_that_mentions_secrets_survives(text: str) -> None:
    found = redact(text)

    assert (found.text, found.found) == (text, ())


@pytest.mark.parametrize(("kind", "sentence", "secret"), SECRETS)
def test_redacting_twice_changes_nothing(kind: str, sentence: str, secret: str) -> None:
    once = redact(sentence.format(secret)).text

    assert redact(once).text == once


@given(st.text(max_size=300))
def test_redacting_never_fails_and_is_idempotent(text: str) -> None:
    once = redact(text).text

    assert redact(once).text == once


def test_what_is_found_names_kinds_in_text_order_and_never_the_secret() -> None:
    found = redact("my password is swordfish. key " + "AKIA" + "ABCDEFGHIJKLMNOP")

    assert found.found == ("password", "aws_key")


def test_a_secret_in_the_tail_of_a_long_turn_is_found_and_its_middle_left_out() -> None:
    found = redact("x" * SENT_CHARS_MAX + " my password is swordfish.")

    assert "swordfish" not in found.text
    assert len(found.text) <= SENT_CHARS_MAX + 20


@pytest.mark.parametrize(
    "marked", ["my password is swordfish.", "{We always log in with ghp_" + MIXED + MIXED[:16] + "} and get a 403"]
)
def test_a_fact_with_a_redacted_secret_in_it_is_dropped(marked: str) -> None:
    text = marked.replace("{", "").replace("}", "")
    scene = context(text)
    found = rule_on(candidate(scene.turn.text.partition(" and ")[0]), scene)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.SECRET)


def test_a_secret_that_only_a_models_statement_holds_drops_it() -> None:
    found = ruling("{we log in with a token}", generator=Generator.MODEL, statement="The token is glpat" + "-" + MIXED)

    assert found.reason is AdmissionReason.SECRET


def test_an_explicit_save_of_a_secret_is_dropped_too() -> None:
    scene = context("remember that my password is swordfish.")
    quote = scene.turn.text.removeprefix("remember that ")

    assert rule_on(candidate(quote, generator=Generator.EXPLICIT), scene).reason is AdmissionReason.SECRET


def test_a_secret_in_another_sentence_leaves_a_fact_alone() -> None:
    assert ruling("My password is swordfish. {I live in Turin}.").disposition is Disposition.RECORD
