"""Settings come from flags, environment, file and defaults, in that order; what is wrong is said with its remedy."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.daemon.config import ConfigError, Environment, Overrides, ServerMode, Settings, load_settings
from recalld.models.inference.manifest import DEFAULT_MODEL_IDS

UID = 1000


def environment(home: Path, **variables: str) -> Environment:
    return Environment(variables=variables, uid=UID, login="ines", home=home)


def load(tmp_path: Path, toml: str, **variables: str) -> Settings:
    path = tmp_path / "recalld.toml"
    path.write_text(toml, encoding="utf-8")
    return load_settings(environment(tmp_path, **variables), Overrides(config_path=path))


def refusal(tmp_path: Path, toml: str, **variables: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, toml, **variables)
    return caught.value.message


def test_without_any_file_the_defaults_are_in_force(tmp_path: Path) -> None:
    settings = load_settings(environment(tmp_path))
    assert settings.recall.envelope_ms == 300
    assert settings.recall.gate_ms == 60
    assert settings.recall.reserve_ms == 15
    assert settings.recall.threshold is None
    assert settings.server.mode is ServerMode.USER
    assert settings.models.auto_provision


def test_a_value_in_the_file_replaces_the_default_and_leaves_its_neighbours(tmp_path: Path) -> None:
    settings = load(tmp_path, "[recall]\ngate_ms = 40\nthreshold = 0.3\n")
    assert settings.recall.gate_ms == 40
    assert settings.recall.threshold == 0.3
    assert settings.recall.envelope_ms == 300


def test_the_environment_wins_over_the_file_and_a_flag_over_both(tmp_path: Path) -> None:
    toml = '[storage]\ndata_dir = "/from/file"\n'
    assert load(tmp_path, toml).storage.data_dir == Path("/from/file")
    assert load(tmp_path, toml, RECALLD_DATA_DIR="/from/env").storage.data_dir == Path("/from/env")
    (tmp_path / "recalld.toml").write_text(toml)
    by_flag = load_settings(
        environment(tmp_path, RECALLD_DATA_DIR="/from/env", RECALLD_CONFIG=str(tmp_path / "recalld.toml")),
        Overrides(data_dir=Path("/from/flag")),
    )
    assert by_flag.storage.data_dir == Path("/from/flag")


def test_each_of_the_three_paths_has_its_variable_and_its_flag(tmp_path: Path) -> None:
    by_variable = load_settings(
        environment(tmp_path, RECALLD_SOCKET="/e/s", RECALLD_DATA_DIR="/e/d", RECALLD_MODEL_DIR="/e/m")
    )
    by_flag = load_settings(
        environment(tmp_path), Overrides(socket_path=Path("/f/s"), data_dir=Path("/f/d"), model_dir=Path("/f/m"))
    )
    for settings, root in ((by_variable, "/e"), (by_flag, "/f")):
        assert settings.server.socket_path == Path(root, "s")
        assert settings.storage.data_dir == Path(root, "d")
        assert settings.models.dir == Path(root, "m")


@pytest.mark.parametrize(
    ("written", "meant"), [("here", "cwd/here"), ("~/there", "home/there"), ("../up", "cwd/../up")]
)
def test_a_path_means_the_same_in_a_flag_and_in_a_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str, meant: str
) -> None:
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    home = tmp_path / "home"
    by_flag = load_settings(
        environment(home),
        Overrides(socket_path=Path(written), data_dir=Path(written), model_dir=Path(written)),
    )
    by_variable = load_settings(
        environment(home, RECALLD_SOCKET=written, RECALLD_DATA_DIR=written, RECALLD_MODEL_DIR=written)
    )
    assert by_flag == by_variable
    assert by_flag.storage.data_dir == tmp_path / meant


@pytest.mark.parametrize("written", ["c.toml", "~/c.toml"])
def test_a_configuration_file_is_found_the_same_way_by_flag_and_by_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.toml").write_text("[recall]\nmax_items = 7\n")
    by_flag = load_settings(environment(tmp_path), Overrides(config_path=Path(written)))
    by_variable = load_settings(environment(tmp_path, RECALLD_CONFIG=written))
    assert by_flag.recall.max_items == by_variable.recall.max_items == 7


@pytest.mark.parametrize("by", ["--data-dir", "RECALLD_DATA_DIR"])
def test_the_home_of_somebody_else_is_refused_and_no_directory_of_that_name(tmp_path: Path, by: str) -> None:
    said = Overrides(data_dir=Path("~other/x")) if by == "--data-dir" else Overrides()
    variables = {} if by == "--data-dir" else {by: "~other/x"}
    with pytest.raises(ConfigError) as caught:
        load_settings(environment(tmp_path, **variables), said)
    assert caught.value.message.startswith(by)


def test_a_relative_path_from_a_directory_that_is_gone_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(ConfigError, match="--data-dir: here is relative, but the working directory is gone"):
        load_settings(environment(tmp_path), Overrides(data_dir=Path("here")))


def test_an_empty_variable_is_an_unset_one(tmp_path: Path) -> None:
    settings = load_settings(environment(tmp_path, RECALLD_SOCKET="", RECALLD_CONFIG=""))
    assert settings == load_settings(environment(tmp_path))


def test_a_tilde_means_the_home_directory(tmp_path: Path) -> None:
    assert load(tmp_path, '[models]\ndir = "~/models"\n').models.dir == tmp_path / "models"


def test_an_unknown_key_is_refused_with_the_nearest_name_and_the_file(tmp_path: Path) -> None:
    message = refusal(tmp_path, "[recall]\nthresold = 0.5\n")
    assert str(tmp_path / "recalld.toml") in message
    assert "unknown key recall.thresold" in message
    assert "did you mean recall.threshold?" in message


def test_an_unknown_section_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    assert "did you mean recall?" in refusal(tmp_path, "[recal]\ngate_ms = 3\n")


def test_a_key_in_the_wrong_section_is_pointed_to_its_own(tmp_path: Path) -> None:
    assert "did you mean storage.data_dir?" in refusal(tmp_path, '[recall]\ndata_dir = "/x"\n')


def test_an_unknown_key_like_nothing_known_is_still_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, "[recall]\nzzzz = 1\n")
    assert "unknown key recall.zzzz" in message
    assert "remove it" in message


def test_an_unknown_key_in_an_access_rule_is_named_with_its_position(tmp_path: Path) -> None:
    message = refusal(tmp_path, '[[access]]\nuid = 1\nusers = ["a"]\n[[access]]\nuid = 2\nuser = ["b"]\n')
    assert "access[1].user" in message
    assert "did you mean access[].users?" in message


@pytest.mark.parametrize("threshold", ["0", "1", "1.5", "-0.1", "nan", "inf", '"0.5"', "true", "2.3e2"])
def test_a_threshold_outside_the_open_unit_interval_is_refused_and_never_clamped(
    tmp_path: Path, threshold: str
) -> None:
    message = refusal(tmp_path, f"[recall]\nthreshold = {threshold}\n")  # R15
    assert "recall.threshold" in message
    assert "between 0 and 1, both excluded" in message


@given(st.floats(min_value=0, max_value=1, exclude_min=True, exclude_max=True, allow_subnormal=False))
def test_every_threshold_inside_the_open_unit_interval_is_taken_as_it_is(
    tmp_path_factory: pytest.TempPathFactory, threshold: float
) -> None:
    settings = load(tmp_path_factory.mktemp("config"), f"[recall]\nthreshold = {threshold!r}\n")
    assert settings.recall.threshold == threshold


def test_a_value_of_the_wrong_type_names_key_value_and_remedy(tmp_path: Path) -> None:
    message = refusal(tmp_path, '[recall]\nmax_items = "five"\n')
    assert "recall.max_items" in message
    assert "expected int, got str" in message
    assert "Memories handed over at most" in message


def test_a_value_out_of_range_is_shown(tmp_path: Path) -> None:
    message = refusal(tmp_path, "[server]\nconnections_max = 0\n")
    assert "server.connections_max: expected int >= 1, got 0" in message


def test_connections_kept_for_administrators_must_leave_some_for_the_others(tmp_path: Path) -> None:
    message = refusal(tmp_path, '[server]\nmode = "system"\nconnections_max = 16\n')
    assert "server.connections_kept = 16 leaves none of server.connections_max = 16" in message
    alone = load(tmp_path, "[server]\nconnections_max = 16\n")  # in user mode there is nobody else
    assert alone.server.connections_max == 16


def test_a_word_outside_a_closed_list_names_the_list(tmp_path: Path) -> None:
    message = refusal(tmp_path, '[recall]\ngate = "maybe"\n')
    assert "'maybe'" in message
    assert '"on"' in message


def test_a_mode_that_there_is_not_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    recall_message = refusal(tmp_path, '[recall]\nmode = "shadow"\n')
    assert "recall.mode" in recall_message
    assert '"shadow_inject" and "shadow_silent"' in recall_message
    write_message = refusal(tmp_path, '[admission]\nmode = "shadow_silent"\n')
    assert "admission.mode" in write_message
    assert '"enforce" does' in write_message


def test_a_window_of_drift_that_is_smaller_than_the_minimum_is_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, "[drift]\nwindow = 100\n")
    assert "drift.window = 100 is less than drift.decisions_min = 200" in message
    assert load(tmp_path, "[drift]\nwindow = 100\ndecisions_min = 50\n").drift.window == 100


def test_a_section_that_is_no_table_is_refused(tmp_path: Path) -> None:
    for section in ("recall", "storage"):
        assert f"{section}: expected object, got int" in refusal(tmp_path, f"{section} = 3\n", RECALLD_DATA_DIR="/x")


@pytest.mark.parametrize("value", ['"relative/dir"', '""', "3", '"~other/x"', '"/with\\u0000nul"'])
def test_a_path_that_is_not_absolute_is_refused(tmp_path: Path, value: str) -> None:
    message = refusal(tmp_path, f"[storage]\ndata_dir = {value}\n")
    assert "storage.data_dir" in message
    assert "absolute path" in message


def test_a_bad_value_from_the_environment_is_blamed_on_the_variable_and_not_on_the_file(tmp_path: Path) -> None:
    message = refusal(tmp_path, "", RECALLD_SOCKET="~other/recalld.sock")
    assert message.startswith("RECALLD_SOCKET (server.socket_path)")
    assert "recalld.toml" not in message


def test_an_inner_deadline_may_not_reach_the_outer_one(tmp_path: Path) -> None:
    message = refusal(tmp_path, "[recall]\nenvelope_ms = 70\n")
    assert "recall.gate_ms + recall.reserve_ms is 75" in message
    assert load(tmp_path, "[recall]\nenvelope_ms = 75\n").recall.envelope_ms == 75


def test_a_file_that_is_not_toml_names_file_and_line(tmp_path: Path) -> None:
    message = refusal(tmp_path, "[recall]\ngate = on\n")
    assert str(tmp_path / "recalld.toml") in message
    assert "line 2" in message
    assert "quotes" in message


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "latin1.toml"
    path.write_bytes(b'[storage]\ndata_dir = "/caf\xe9"\n')
    with pytest.raises(ConfigError, match="not UTF-8 at byte"):
        load_settings(environment(tmp_path), Overrides(config_path=path))


def test_a_deeply_nested_file_is_refused_and_does_not_crash(tmp_path: Path) -> None:
    assert "recalld.toml" in refusal(tmp_path, f"a = {'[' * 5_000}{']' * 5_000}\n")


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    assert "not a configuration file" in refusal(tmp_path, "#" * 1_100_000)


def test_a_directory_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_settings(environment(tmp_path), Overrides(config_path=tmp_path))


@pytest.mark.parametrize("by", ["--config", "RECALLD_CONFIG"])
def test_a_file_named_on_purpose_must_exist(tmp_path: Path, by: str) -> None:
    missing = tmp_path / "missing.toml"
    variables = {"RECALLD_CONFIG": str(missing)} if by == "RECALLD_CONFIG" else {}
    overrides = Overrides(config_path=missing) if by == "--config" else Overrides()
    with pytest.raises(ConfigError) as caught:
        load_settings(environment(tmp_path, **variables), overrides)
    assert str(missing) in caught.value.message
    assert by in caught.value.message


def test_the_file_in_the_xdg_config_directory_is_found_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "xdg" / "recalld" / "recalld.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[recall]\nmax_items = 7\n")
    assert load_settings(environment(tmp_path, XDG_CONFIG_HOME=str(tmp_path / "xdg"))).recall.max_items == 7
    assert load_settings(environment(tmp_path)).recall.max_items == 5


def test_system_mode_in_the_file_moves_the_default_paths(tmp_path: Path) -> None:
    settings = load(tmp_path, '[server]\nmode = "system"\n', XDG_RUNTIME_DIR="/run/user/1000")
    assert settings.server.socket_path == Path("/run/recalld/recalld.sock")
    assert settings.storage.data_dir == Path("/var/lib/recalld")
    assert settings.models.dir == Path("/var/lib/recalld/models")


def test_access_rules_are_read(tmp_path: Path) -> None:
    (rule,) = load(tmp_path, '[[access]]\nuid = 1001\nusers = ["team", "team/ops"]\n').access
    assert rule.uid == 1001
    assert rule.users == ("team", "team/ops")


@pytest.mark.parametrize("users", ["[]", '[""]', '"team"', "[1]"])
def test_an_access_rule_names_at_least_one_user(tmp_path: Path, users: str) -> None:
    message = refusal(tmp_path, f"[[access]]\nuid = 1\nusers = {users}\n")
    assert "access[0].users" in message
    assert "Names of recalld users" in message


def test_a_model_that_is_not_on_the_allowlist_cannot_be_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, '[models]\ncross_encoder = "ms-marco-minilm-l-12-v2"\n')
    assert "models.cross_encoder" in message
    assert "did you mean ms-marco-minilm-l-12-v2-int8?" in message
    assert "choose one of: bge-small-en-v1.5-int8" in refusal(tmp_path, '[models]\nembedder = "zzz"\n')


def test_a_model_in_the_wrong_role_is_refused(tmp_path: Path) -> None:
    assert "is no embedder" in refusal(tmp_path, '[models]\nembedder = "ms-marco-minilm-l-12-v2-int8"\n')


def test_the_default_models_are_on_the_allowlist(tmp_path: Path) -> None:
    models = load_settings(environment(tmp_path)).models
    assert (models.cross_encoder, models.embedder) == DEFAULT_MODEL_IDS
