"""Default places follow the XDG rules, and never lie where others can write."""

from pathlib import Path

from recalld.daemon.config.environment import Environment
from recalld.daemon.config.paths import default_config_paths, default_paths

HOME = Path("/home/ines")


def environment(uid: int = 1000, **variables: str) -> Environment:
    return Environment(variables=variables, uid=uid, login="ines", home=HOME)


def test_the_socket_lives_in_the_runtime_directory() -> None:
    paths = default_paths(environment(XDG_RUNTIME_DIR="/run/user/1000"), is_system=False)
    assert paths.socket_path == Path("/run/user/1000/recalld/recalld.sock")


def test_without_a_runtime_directory_the_socket_stays_below_the_home_directory() -> None:
    paths = default_paths(environment(), is_system=False)
    assert paths.socket_path == HOME / ".local/state/recalld/run/recalld.sock"


def test_data_and_models_follow_the_xdg_variables() -> None:
    paths = default_paths(environment(XDG_STATE_HOME="/state", XDG_DATA_HOME="/data"), is_system=False)
    assert paths.data_dir == Path("/state/recalld")
    assert paths.model_dir == Path("/data/recalld/models")


def test_data_and_models_have_places_without_any_variable() -> None:
    paths = default_paths(environment(), is_system=False)
    assert paths.data_dir == HOME / ".local/state/recalld"
    assert paths.model_dir == HOME / ".local/share/recalld/models"


def test_a_relative_xdg_variable_is_ignored_as_its_specification_says() -> None:
    variables = dict.fromkeys(("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), "relative")
    assert default_paths(environment(**variables), is_system=False) == default_paths(environment(), is_system=False)
    assert default_config_paths(environment(**variables)) == default_config_paths(environment())


def test_root_gets_the_system_paths_whatever_the_variables_say() -> None:
    paths = default_paths(environment(uid=0, XDG_RUNTIME_DIR="/run/user/0", XDG_STATE_HOME="/s"), is_system=False)
    assert paths.socket_path == Path("/run/recalld/recalld.sock")
    assert paths.data_dir == Path("/var/lib/recalld")
    assert paths.model_dir == Path("/var/lib/recalld/models")
    assert default_config_paths(environment(uid=0)) == (Path("/etc/recalld/recalld.toml"),)


def test_an_account_looks_for_its_own_file_first_and_then_for_the_machines() -> None:
    assert default_config_paths(environment(XDG_CONFIG_HOME="/c")) == (
        Path("/c/recalld/recalld.toml"),
        Path("/etc/recalld/recalld.toml"),
    )
