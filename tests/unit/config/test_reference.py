"""The reference is read off the settings, so it knows every key."""

import msgspec
import pytest

from recalld.daemon.config.reference import all_keys, find_key, nearest_key
from recalld.daemon.config.settings import Settings
from recalld.daemon.config.tables import lookup, merged, with_value


def test_every_key_says_what_it_means() -> None:
    for key in all_keys():
        assert key.description.endswith("."), key.key
        assert key.kind, key.key


def test_every_section_of_the_settings_has_keys() -> None:
    sections = {key.key.split(".")[0].removesuffix("[]") for key in all_keys()}
    assert sections == {field.encode_name for field in msgspec.structs.fields(Settings)}


@pytest.mark.parametrize(
    ("key", "kind", "default"),
    [
        ("recall.threshold", "number", ""),
        ("recall.gate", '"off" or "on"', '"on"'),
        ("server.mode", '"user" or "system"', '"user"'),
        ("models.auto_provision", "true or false", "true"),
        ("recall.envelope_ms", "number", "300"),
        ("actors.index_bytes_max", "integer", "536870912"),
        ("server.socket_path", "path", ""),
        ("access[].users", "list of text", ""),
    ],
)
def test_a_key_is_described_in_words(key: str, kind: str, default: str) -> None:
    reference = find_key(key)
    assert reference is not None
    assert (reference.kind, reference.default) == (kind, default)


def test_a_key_inside_an_array_is_found_by_its_index() -> None:
    assert find_key("access[12].uid") == find_key("access[].uid") is not None


def test_an_unknown_key_is_not_found() -> None:
    assert find_key("recall.nothing") is None


@pytest.mark.parametrize(
    ("section", "name", "nearest"),
    [
        ("recall", "gate_msec", "recall.gate_ms"),
        ("", "loging", "log"),
        ("", "server_", "server"),
        ("access[3]", "usr", "access[].users"),
        ("log", "data_dirs", "storage.data_dir"),
        ("log", "q", None),
    ],
)
def test_the_nearest_key_is_looked_for_near_by_first(section: str, name: str, nearest: str | None) -> None:
    assert nearest_key(section, name) == nearest


def test_tables_are_merged_without_changing_either() -> None:
    below = {"a": {"x": 1, "y": 2}, "b": 1}
    above = {"a": {"x": 3}, "b": {"z": 1}}
    assert merged(below, above) == {"a": {"x": 3, "y": 2}, "b": {"z": 1}}
    assert below == {"a": {"x": 1, "y": 2}, "b": 1}
    assert above == {"a": {"x": 3}, "b": {"z": 1}}


def test_a_value_is_set_at_the_top_and_in_a_section() -> None:
    assert with_value({}, "a", 1) == {"a": 1}
    assert with_value({"s": {"x": 1}}, "s.y", 2) == {"s": {"x": 1, "y": 2}}
    assert with_value({"s": 3}, "s.y", 2) == {"s": 3}


@pytest.mark.parametrize(
    ("key", "value"), [("a.b", 1), ("l[1].u", 5), ("l[9].u", None), ("a.b.c", None), ("nothing", None), ("l.u", None)]
)
def test_looking_up_a_path_that_leads_nowhere_gives_none(key: str, value: int | None) -> None:
    assert lookup({"a": {"b": 1}, "l": [{"u": 4}, {"u": 5}]}, key) == value
