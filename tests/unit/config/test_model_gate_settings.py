"""A model gate that could find nothing, or would send words or keys where they can be read, is refused at the start."""

from pathlib import Path

import pytest

from recalld.daemon.config import ConfigError, Environment, Overrides, Settings, load_settings

GATE = '[admission]\nposition = "balanced"\nmodel_gate = "endpoint"\n'


def load(tmp_path: Path, toml: str) -> Settings:
    path = tmp_path / "recalld.toml"
    path.write_text(toml, encoding="utf-8")
    environment = Environment(variables={}, uid=1000, login="ines", home=tmp_path)
    return load_settings(environment, Overrides(config_path=path))


def endpoint(url: str, key: str = "") -> str:
    return f'{GATE}[admission.endpoint]\nurl = "{url}"\nmodel = "small"\n{key}'


KEY = 'api_key_file = "~/key"\n'


def test_no_model_is_asked_unless_one_is_configured(tmp_path: Path) -> None:
    assert load(tmp_path, "").admission.model_gate == "off"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://models.example/v1", KEY),
        ("http://127.0.0.1:8080/v1", KEY),
        ("http://[::1]:8080/v1", KEY),
        ("http://localhost:11434/v1", KEY),
        ("http://gpu-box.lan/v1", ""),
    ],
)
def test_an_address_over_https_or_of_this_machine_or_without_a_key_is_taken(tmp_path: Path, url: str, key: str) -> None:
    settings = load(tmp_path, endpoint(url, key))
    assert settings.admission.endpoint.url == url
    assert settings.admission.endpoint.api_key_file == (tmp_path / "key" if key else None)


@pytest.mark.parametrize(
    ("url", "key", "words"),
    [
        ("http://gpu-box.lan/v1", KEY, "unencrypted"),
        ("http://127.0.0.1.evil.example/v1", KEY, "unencrypted"),
        ("https://ines:hunter2@models.example/v1", "", "holds a name or a password"),
        ("https://models.example/v1?key=hunter2", "", "has a query"),
        ("https://models.example/v1#x", "", "fragment"),
        ("ftp://models.example/v1", "", "is no address"),
        ("models.example/v1", "", "is no address"),
        ("https://models.example:99999/v1", "", "is no address"),
        ("https://[::1/v1", "", "is no address"),
    ],
)
def test_any_other_address_is_refused_by_name_and_never_shown(tmp_path: Path, url: str, key: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, endpoint(url, key))
    assert f"admission.endpoint.url: {words}" in caught.value.message or words in caught.value.message
    assert "admission.endpoint.url" in caught.value.message
    assert "hunter2" not in caught.value.message


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        (GATE, "admission.endpoint.url is missing"),
        (f'{GATE}[admission.endpoint]\nurl = "https://m.example/v1"\n', "admission.endpoint.model is missing"),
        ('[admission]\nmodel_gate = "runtime"\n', 'set admission.position to "balanced"'),
    ],
)
def test_what_is_missing_is_named_with_the_remedy(tmp_path: Path, toml: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, toml)
    assert words in caught.value.message
