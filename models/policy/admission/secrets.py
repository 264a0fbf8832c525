"""Secrets: passwords, keys, tokens and account numbers, taken out of a text before anything else sees it.

Guards: database, log, journal and embeddings against raw secrets. `redact` runs on the whole turn first. Cost: linear;
a detector runs only where its letters occur at all. Fails: towards redacting what says that it is a secret ("my
password is …") and towards leaving alone what only looks random: commit hashes, UUIDs and integrity hashes are no
secrets, and a sentence about keys is prose.

The patterns are our own: the general detector that was tried (detect-secrets, over single sentences) is made for source
files; its entropy checks report ordinary words of a sentence, and without them passwords given in prose are not found.
Formats of tokens are those that their issuers publish.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Final

import msgspec

from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy import word_lists
from recalld.models.policy.admission.finding import Finding, Scene
from recalld.models.policy.save_turn import cut_sent
from recalld.models.policy.stop_words import stop_words

PLACEHOLDER: Final = "[redacted]"
"""Stands for each secret."""
_NUMBER: Final = re.compile(r"\d[\d -]{2}")


class Redacted(msgspec.Struct, frozen=True, kw_only=True):
    """A text without its secrets.

    Attributes:
        text: With `PLACEHOLDER` for each.
        found: The kind of each, in text order, never the secret itself.
    """

    text: str
    found: tuple[str, ...] = ()


class _Detector(msgspec.Struct, frozen=True):
    """One kind of secret.

    Attributes:
        kind: Its name, for the ledger.
        letters: Lower-case letters one of which any text with such a secret has; empty: none is certain.
        pattern: Finds it; the group `secret` is what is taken out, or the whole match.
        is_secret: Whether what was found is one.
        is_numeric: It has a number of some digits.
        sign: What any text with such a secret has, as written: cheaper to look for than the secret.
        label: In lower case, what begins every match of the pattern: only there it is tried.
    """

    kind: str
    letters: tuple[str, ...]
    pattern: re.Pattern[str]
    is_secret: Callable[[str], bool]
    is_numeric: bool = False
    sign: re.Pattern[str] | None = None
    label: re.Pattern[str] | None = None

    def find(self, text: str, lowered: str) -> Iterator[re.Match[str]]:
        """Yield what looks like such secrets, in text order; `lowered` is the text in lower case."""
        if self.sign is not None and self.sign.search(text) is None:
            return
        if self.label is None or len(lowered) != len(text):
            yield from self.pattern.finditer(text)
            return
        end = 0
        for label in self.label.finditer(lowered):
            match = self.pattern.match(text, label.start()) if label.start() >= end else None
            if match is not None:
                yield match
                end = match.end()


def redact(text: str) -> Redacted:
    """Take the secrets out of a text. Idempotent; what has none comes back as it is.

    Of a text longer than `SENT_CHARS_MAX` characters head and tail are left: nothing else is looked at of any turn.
    """
    text = cut_sent(text)
    lowered = _lower_case(text)
    seen = {letters for letters in _LETTERS if letters in lowered}
    has_number = _NUMBER.search(text) is not None
    found: list[tuple[int, int, str]] = []
    for detector in _DETECTORS:
        if detector.letters and seen.isdisjoint(detector.letters):
            continue
        if detector.is_numeric and not has_number:
            continue
        for match in detector.find(text, lowered):
            start, end = match.span("secret")
            # A stop behind it ends the sentence: without it, what follows would be read as part of the secret's clause.
            end = start + len(text[start:end].rstrip(".,;"))
            if match["secret"] not in PLACEHOLDER and detector.is_secret(match["secret"]):
                found.append((start, end, detector.kind))
    if not found:
        return Redacted(text=text)
    kept: list[str] = []
    kinds: list[str] = []
    position = 0
    for start, end, kind in sorted(found, key=lambda each: each[0]):
        if start >= position:
            kept += (text[position:start], PLACEHOLDER)
            kinds.append(kind)
        position = max(position, end)
    return Redacted(text="".join((*kept, text[position:])), found=tuple(kinds))


def _lower_case(text: str) -> str:
    """In lower case, as patterns see a text that ignore case: for them, two letters of other scripts are s and i."""
    lowered = text.lower()
    return lowered if lowered.isascii() else lowered.replace("\u017f", "s").replace("\u0131", "i")


def find_secret(scene: Scene) -> Finding | None:
    """`secret` for a fact in whose clauses a secret was redacted, or whose own texts hold one."""
    candidate, sentence = scene.candidate, scene.sentence
    places = sentence.within(scene.start, scene.end)
    start = sentence.clauses[places[0]].start if places else scene.start
    end = sentence.clauses[places[-1]].end if places else scene.end
    around = scene.context.turn.text[min(start, scene.start) : max(end, scene.end) + len(PLACEHOLDER)]
    texts = (candidate.statement, candidate.value, candidate.quote, *candidate.cues, *candidate.asks)
    is_found = PLACEHOLDER in around or _holds_secret("\n\n".join(texts))
    return Finding(reason=AdmissionReason.SECRET) if is_found else None


def _holds_secret(text: str) -> bool:
    return PLACEHOLDER in text or bool(redact(text).found)


def _always(_secret: str) -> bool:
    return True


def _has_digit(secret: str) -> bool:
    return any(map(str.isdigit, secret))


def _is_made_up(secret: str) -> bool:
    """Whether a value behind "password is" looks like one: a digit, a symbol inside, or capitals inside."""
    bare = secret.strip("\"'`.,;:!?()")
    if bare.startswith(("$", "<", "{", "*")) or bare.casefold() in word_lists.words("admission/password_followers.txt"):
        return False
    return not bare.isalpha() or any(map(str.isupper, bare[1:]))


def _is_password(secret: str) -> bool:
    """Whether a value behind "password:" is one: anything but a word of a sentence about passwords."""
    bare = secret.strip("\"'`.,;:!?()")
    is_word = bare.casefold() in word_lists.words("admission/password_followers.txt")
    return bool(bare) and not is_word and not bare.startswith(("$", "<", "{", "*"))


def _is_token(secret: str) -> bool:
    """Whether a value behind "token:" is one: letters and digits mixed, and no address, path or version."""
    bare = secret.strip("\"'`.,;:!?()")
    has_letter = any(map(str.isalpha, bare))
    return has_letter and _has_digit(bare) and "/" not in bare[:8] and not bare.startswith(("$", "<", "{", "http"))


def _passes_luhn(secret: str) -> bool:
    """The check digit of payment cards (ISO/IEC 7812-1, annex B)."""
    digits = [int(each) for each in reversed(secret) if each.isdigit()]
    doubled = (2 * digit - 9 * (digit > 4) for digit in digits[1::2])
    return len(digits) >= 13 and (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _passes_mod_97(secret: str) -> bool:
    """The check digits of bank account numbers (ISO 13616, ISO/IEC 7064 MOD 97-10)."""
    bare = re.sub(r"\s", "", secret)
    turned = bare[4:] + bare[:4]
    return len(bare) >= 15 and int("".join(str(int(each, 36)) for each in turned)) % 97 == 1


def _is_word_salad(secret: str) -> bool:
    """Whether words are those of a passphrase: none of them joins a sentence ("is stored in the vault")."""
    return _joining_words().isdisjoint(secret.lower().split())


@cache
def _joining_words() -> frozenset[str]:
    return frozenset().union(*stop_words().values())


_BE: Final = r"\s?(?:\s(?:is|are|ist|lautet|est|es|son)\s|[:=])\s?"
_LABEL: Final = (
    r"(?:pass(?:word|wd|phrase|code)|pwd|passwort|kennwort|mot de passe|mdp|contrase\u00f1a|clave de acceso|wpa key)"
)
_KEY_LABEL: Final = (
    r"(?:(?:api|access|secret|private|signing|encryption|licen[cs]e|deploy)[ _-]?(?:key|token)|token|secret|bearer|"
    r"credential|schl\u00fcssel|cl\u00e9(?: d'api| api)?|clave(?: api)?)"
)
_CODE_LABEL: Final = (
    r"(?:(?:alarm|door|gate|entry|lock|safe|security|unlock|access|vault|voicemail|card|sim)[ -]?(?:code|pin)|"
    r"(?:\w+-)?pin|combination|kombination|geheimzahl|code (?:de l'alarme|secret|pin)|c\u00f3digo (?:secreto|pin))"
)
_PASSWORD_WORDS: Final = ("pass", "pwd", "kennw", "mot de", "mdp", "contrase", "clave de", "wpa key")
_KEY_WORDS: Final = (
    *("api", "access", "secret", "private", "signing", "encrypt", "licen", "deploy", "token", "bearer", "credential"),
    *("schl\u00fcssel", "cl\u00e9", "clave"),
)
_CODE_WORDS: Final = (
    *("alarm", "door", "gate", "entry", "lock", "safe", "security", "unlock", "access", "vault", "voicemail", "card"),
    *("sim", "pin", "combination", "kombination", "geheimzahl", "code ", "c\u00f3digo "),
)
"""How the labels above begin, each list of one; of a compound such as `sim-pin`, its last part."""
_IS: Final = r"(?:\s+\w+){0,3}?,?\s*(?:\s(?:is|are|was|ist|lautet|hei\u00dft|est|c'est|es)\s|[:=]|->|\u2192)\s*"
_GIVEN: Final = r"\s*(?:[:=]|->|\u2192)\s*"
_VALUE: Final = r"[\"'`\u201c\u201e\u00ab]?\s?(?P<secret>[^\s\"'`\u201d\u00bb,;]{3,200})"


def _detector(
    kind: str,
    letters: Iterable[str],
    pattern: str,
    is_secret: Callable[[str], bool] = _always,
    *,
    is_cased: bool = True,
    is_numeric: bool = False,
    sign: str = "",
    labels: Iterable[str] = (),
) -> _Detector:
    whole = pattern if "(?P<secret>" in pattern else f"(?P<secret>{pattern})"
    return _Detector(
        kind,
        tuple(letters),
        re.compile(whole, 0 if is_cased else re.IGNORECASE),
        is_secret,
        is_numeric,
        re.compile(sign) if sign else None,
        _label_heads(labels) if labels else None,
    )


def _label_heads(heads: Iterable[str]) -> re.Pattern[str]:
    """Where a word begins with any of some letters; first letters first, so that the search is a scan for them."""
    by_first: dict[str, list[str]] = {}
    for head in heads:
        by_first.setdefault(head[0], []).append(re.escape(head[1:]))
    branches = "|".join(f"(?<={first})(?:{'|'.join(rests)})" for first, rests in by_first.items())
    return re.compile(rf"[{''.join(by_first)}](?<!\w.)(?:{branches})")


_DETECTORS: Final = (
    _detector(
        "private_key",
        ("-----begin",),
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----(?s:.*?)(?:-----END [A-Z ]{0,60}-----|\Z)",
    ),
    _detector("aws_key", ("akia", "asia"), r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    _detector(
        "github_token",
        ("gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_"),
        r"\b(?:gh[oprsu]_[A-Za-z0-9]{20,255}|github_pat_\w{22,255})",
    ),
    _detector("gitlab_token", ("glpat-",), r"\bglpat-[\w-]{16,}"),
    _detector("slack_token", ("xox",), r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    _detector("slack_webhook", ("hooks.slack.com",), r"hooks\.slack\.com/services/(?P<secret>[\w/]{20,})"),
    _detector("stripe_key", ("k_live_", "k_test_", "whsec_"), r"\b(?:[prs]k_(?:live|test)|whsec)_[A-Za-z0-9]{10,}"),
    _detector("api_key", ("sk-",), r"(?<![\w-])sk-[A-Za-z0-9_-]{12,}", _has_digit),
    _detector("google_key", ("aiza", "ya29."), r"\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}"),
    _detector(
        "package_token", ("npm_", "pypi-", "hf_", "dckr_pat_"), r"\b(?:npm_|pypi-|hf_|dckr_pat_)[\w-]{16,}", _has_digit
    ),
    _detector("cloud_token", ("dop_v1_", "shpat_", "sg."), r"\b(?:dop_v1_|shpat_|SG\.)[\w.-]{20,}"),
    _detector(
        "prefixed_key",
        tuple(f"{sign}{word}" for sign in "_-" for word in ("live", "test", "fake", "prod")),
        r"(?<![\w-])[a-z]{2,8}[_-](?:live|test|fake|prod)[_-](?=[A-Za-z]*\d)[A-Za-z0-9]{6,}",
    ),
    _detector("prefixed_key", ("_fake_", "_key_", "_secret_"), r"\b[a-z]{2,6}_(?:fake|key|secret)_[A-Za-z0-9]{4,}"),
    _detector(
        "aws_key",
        ("aws",),
        r"\baws[ _-]?secret[\w -]{0,40}?\s?(?:\s(?:is|ist|est|es)\s|[:=])?\s*[\"'`]?"
        r"(?P<secret>(?<![\w/+])[A-Za-z0-9/+]{40}(?![\w/+]))",
        _has_digit,
        is_cased=False,
        sign=r"[A-Za-z0-9/+]{40}",
    ),
    _detector("twilio_key", ("sk",), r"\bSK[0-9a-f]{32}\b", sign=r"SK[0-9a-f]{8}"),
    _detector(
        "telegram_token",
        (),
        r"(?<![\w:])\d{8,10}:[A-Za-z0-9_-]{35}(?![\w-])",
        is_numeric=True,
        sign=r"\d{8}:[\w-]{8}|\d{9,10}:[\w-]{8}",
    ),
    _detector(
        "azure_key",
        ("accountkey", "sharedaccesskey"),
        r"\b(?:Account|SharedAccess)Key\s?=\s?(?P<secret>[A-Za-z0-9+/]{20,}={0,2})",
        is_cased=False,
    ),
    _detector(
        "hex_key",
        ("key", "schl\u00fcssel", "cl\u00e9", "clave"),
        r"(?:key|schl\u00fcssel|cl\u00e9|clave)(?:\s\w+)?\s?(?:\s(?:is|ist|lautet|est|es)\s|[:=])\s?[\"'`]?(?P<secret>[0-9a-f]{32,128})\b",
        is_cased=False,
        sign=r"(?i:[0-9a-f]{32})",
    ),
    _detector(
        "passphrase",
        ("passphrase", "pass phrase", "passwortsatz", "phrase de passe", "phrase secr\u00e8te", "frase de contrase"),
        rf"\b(?:pass ?phrase|passwortsatz|phrase (?:de passe|secr\u00e8te)|frase de contrase\u00f1a){_BE}"
        r"[\"'`\u201c\u201e]?(?P<secret>[^\W\d_]+(?:[ -][^\W\d_]+){2,11})",
        _is_word_salad,
        is_cased=False,
    ),
    _detector(
        "seed_phrase",
        (
            "seed",
            "mnemonic",
            "recovery phrase",
            "wiederherstellungs",
            "frase semilla",
            "frase de recup",
            "phrase de r\u00e9cup",
        ),
        r"\b(?:(?:wallet |my )?seed(?:[ -]?phrase|[ -]?words)?|mnemonic(?: phrase)?|recovery phrase|"
        r"wiederherstellungs(?:phrase|w\u00f6rter)|"
        r"frase (?:semilla|de recuperaci\u00f3n)|phrase de r\u00e9cup\u00e9ration)"
        rf"{_BE}[\"'`\u201c\u201e]?(?P<secret>[^\W\d_]{{3,12}}(?:[ ,]+[^\W\d_]{{3,12}}){{11,23}})",
        is_cased=False,
    ),
    _detector(
        "password",
        ("pass", "pwd", "kennwort", "mdp", "contrase", "clave"),
        rf"\b{_LABEL}(?:{_BE}|\s)[\"`\u201c\u201e\u00ab]\s?(?P<secret>[^\"`\u201d\u201c\u00bb\n]{{4,80}}?)\s?[\"`\u201d\u201c\u00bb]",
        _has_digit,
        is_cased=False,
        labels=_PASSWORD_WORDS,
    ),
    _detector(
        "login",
        ("login", "log-in", "credentials", "zugangsdaten", "anmeldung", "identifiant"),
        r"\b(?:log-?in|credentials|zugangsdaten|anmeldung|identifiants?)(?:\s\w+){0,3}?\s?(?:\s(?:is|are|ist|sind|lautet|est|sont|es|son)\s|[:=])\s?"
        r"\S{1,80}\s(?:with|and|mit|und|avec|et|con|y|/)\s(?P<secret>[^\s\"',;]{6,80})",
        _is_made_up,
        is_cased=False,
    ),
    _detector(
        "social_security_number",
        ("ssn", "social security"),
        r"\b(?:ssn|social security(?: number| no\.?)?)\W{1,3}(?:\w+\W{1,3}){0,3}?"
        r"(?P<secret>\d{3}[- ]?\d{2}[- ]?\d{4})\b",
        is_cased=False,
        is_numeric=True,
    ),
    _detector("web_token", ("eyj",), r"\beyJ[\w-]{8,}\.(?:[\w-]+(?:\.[\w-]*)?)?"),
    _detector("bearer", ("bearer",), r"\bbearer\s+(?P<secret>[\w.~+/-]{16,}=*)", _has_digit, is_cased=False),
    _detector(
        "url_password", ("://",), r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@]{0,100}:(?P<secret>[^\s@/]{1,200})@"
    ),
    _detector(
        "variable",
        ("token", "secret", "passw", "api_key", "apikey", "access_key"),
        r"\b[A-Z0-9_]{0,40}(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY)[A-Z0-9_]{0,40}\s?[=:]\s?"
        r"[\"']?(?P<secret>[^\s\"']{6,300})",
        _is_password,
        sign="[TSPA](?:(?<=T)OKEN|(?<=S)ECRET|(?<=P)ASSW|(?<=A)(?:PI_?KEY|CCESS_KEY))",
    ),
    _detector(
        "password",
        ("pass", "pwd", "kennwort", "mdp", "contrase", "clave", "wpa key"),
        rf"\b{_LABEL}{_GIVEN}{_VALUE}",
        _is_password,
        is_cased=False,
        labels=_PASSWORD_WORDS,
    ),
    _detector(
        "password",
        ("pass", "pwd", "kennwort", "mdp", "contrase", "clave", "wpa key"),
        rf"\b{_LABEL}{_IS}{_VALUE}",
        _is_made_up,
        is_cased=False,
        labels=_PASSWORD_WORDS,
    ),
    _detector(
        "password",
        ("passw", "kennwort"),
        rf"\b(?:my|our|mein|unser)\s(?:\w+\s){{0,2}}{_LABEL}\s(?:is|ist|lautet)\s(?P<secret>\w{{4,60}})(?=\s*(?:[.,;!\n]|\Z))",
        _is_password,
        is_cased=False,
    ),
    _detector("password", (" pw ",), rf"\bpw{_IS}{_VALUE}", _is_made_up),
    _detector(
        "token",
        ("key", "token", "secret", "bearer", "credential", "schl\u00fcssel", "cl\u00e9", "clave"),
        rf"\b{_KEY_LABEL}{_IS}{_VALUE}",
        _is_token,
        is_cased=False,
        labels=_KEY_WORDS,
    ),
    _detector("token", ("schl\u00fcssel",), r"schl\u00fcssel\s+(?P<secret>[\w-]{10,})", _is_token, is_cased=False),
    _detector(
        "code",
        ("code", "pin", "ombination", "geheimzahl", "c\u00f3digo"),
        rf"\b{_CODE_LABEL}{_IS}[\"'`]?(?P<secret>\d[\d -]{{2,20}}\d)",
        _has_digit,
        is_cased=False,
        is_numeric=True,
        labels=_CODE_WORDS,
    ),
    _detector(
        "wifi",
        ("wifi", "wi-fi", "wlan"),
        r"\b(?:wi-?fi|wlan)(?:\s+\w+){0,2}\s+(?:is|ist|est)\s+(?P<secret>(?=[^\s]*\d)[\w-]{8,60})",
        _is_token,
        is_cased=False,
    ),
    _detector(
        "card",
        (),
        r"(?<![\w-])[3-6]\d{3}[ -]?\d{4,6}[ -]?\d{4,5}(?:[ -]?\d{1,7})?(?![\w-])",
        _passes_luhn,
        is_numeric=True,
        sign=r"\d{4}[ -]?\d{4}",
    ),
    _detector(
        "bank_account",
        (),
        r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b",
        _passes_mod_97,
        is_numeric=True,
        sign=r"[A-Z](?<!\w.)[A-Z]\d{2} ?[A-Z0-9]{4}",
    ),
)
_LETTERS: Final = frozenset(letters for detector in _DETECTORS for letters in detector.letters)
