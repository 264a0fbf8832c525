"""The units are valid, keep to what the code promises, and their hardening leaves the models working."""

import configparser
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from recalld.daemon.config import Environment, Overrides, ServerMode, load_settings
from recalld.daemon.exit_codes import ExitCode

REPOSITORY = Path(__file__).resolve().parents[3]
UNITS = REPOSITORY / "systemd"
ANALYZE = shutil.which("systemd-analyze")
needs_systemd = pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is not installed")
SERVICES = (UNITS / "recalld.service", UNITS / "user" / "recalld.service")
SOCKETS = (UNITS / "recalld.socket", UNITS / "user" / "recalld.socket")


def settings_of(unit: Path) -> dict[str, list[str]]:
    """Directives of all sections; each may stand several times."""
    found: dict[str, list[str]] = {}
    for line in unit.read_text(encoding="utf-8").splitlines():
        if "=" in line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


def installed_copy(folder: Path, kind: str) -> list[str]:
    """Copies of a service and its socket whose program exists on this machine, as `verify` wants it."""
    source = UNITS if kind == "system" else UNITS / "user"
    copies = []
    for name in ("recalld.service", "recalld.socket"):
        text = (source / name).read_text(encoding="utf-8")
        text = re.sub(r"^ExecStart=\S+", f"ExecStart={sys.executable}", text, flags=re.MULTILINE)
        (folder / name).write_text(text, encoding="utf-8")
        copies.append(str(folder / name))
    return copies


@needs_systemd
@pytest.mark.integration
@pytest.mark.parametrize("kind", ["system", "user"])
def test_systemd_accepts_the_units_without_a_word(tmp_path: Path, kind: str) -> None:
    units = installed_copy(tmp_path, kind)
    # A user manager is not needed to parse: only %h and %t differ, and verify resolves them for either kind.
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@needs_systemd
@pytest.mark.integration
def test_the_exposure_of_the_system_service_is_low(tmp_path: Path) -> None:
    unit, _ = installed_copy(tmp_path, "system")
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", unit],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-400:]


@pytest.mark.parametrize("unit", SERVICES, ids=["system", "user"])
def test_a_service_does_not_restart_on_what_only_a_person_can_mend(unit: Path) -> None:
    settings = settings_of(unit)
    never = {ExitCode.USAGE, ExitCode.NO_PERMISSION, ExitCode.CONFIG}
    assert {int(code) for code in settings["RestartPreventExitStatus"][0].split()} == never
    assert settings["Restart"] == ["on-failure"]


@pytest.mark.parametrize("unit", SERVICES, ids=["system", "user"])
def test_a_service_is_told_ready_watched_and_bounded(unit: Path) -> None:
    settings = settings_of(unit)
    assert settings["Type"] == ["notify"]
    assert settings["NotifyAccess"] == ["main"]
    assert settings["UMask"] == ["0077"]
    for name in ("WatchdogSec", "TimeoutStopSec", "MemoryMax", "LimitNOFILE"):
        assert settings[name], name
    assert " serve" in settings["ExecStart"][0]


def test_sockets_are_never_wider_than_the_daemon_would_make_them() -> None:
    system, user = (settings_of(unit) for unit in SOCKETS)
    assert (system["SocketMode"], system["DirectoryMode"]) == (["0660"], ["0750"])
    assert (user["SocketMode"], user["DirectoryMode"]) == (["0600"], ["0700"])


def test_the_sockets_lie_where_clients_look_for_them(tmp_path: Path) -> None:
    user = Environment(variables={"XDG_RUNTIME_DIR": "/run/user/7"}, uid=7, login="x", home=tmp_path)
    empty = tmp_path / "empty.toml"
    empty.touch()
    path = load_settings(user, Overrides(config_path=empty)).server.socket_path
    assert settings_of(SOCKETS[1])["ListenStream"] == [str(path).replace("/run/user/7", "%t")]
    shipped = load_settings(user, Overrides(config_path=UNITS / "recalld.toml"))
    assert settings_of(SOCKETS[0])["ListenStream"] == [str(shipped.server.socket_path)]
    assert shipped.server.mode is ServerMode.SYSTEM


def test_state_and_runtime_directories_are_those_of_the_shipped_configuration() -> None:
    service = settings_of(SERVICES[0])
    shipped = tomllib.loads((UNITS / "recalld.toml").read_text(encoding="utf-8"))
    assert shipped["storage"]["data_dir"] == f"/var/lib/{service['StateDirectory'][0]}"
    assert Path(shipped["server"]["socket_path"]).parent == Path("/run", service["RuntimeDirectory"][0])
    assert service["StateDirectoryMode"] == ["0700"]
    assert service["RuntimeDirectoryMode"] == ["0750"]


def test_tmpfiles_and_units_agree_on_directories_and_modes() -> None:
    lines = [
        line.split()
        for line in (UNITS / "recalld.tmpfiles.conf").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    assert {(line[1], line[2], line[4]) for line in lines} == {
        ("/run/recalld", "0750", "recalld"),
        ("/var/lib/recalld", "0700", "recalld"),
        ("/var/lib/recalld/models", "0700", "recalld"),
    }


def test_every_shipped_file_is_in_the_distribution() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["recalld.systemd"]
    shipped = [file for file in UNITS.rglob("*") if file.is_file() and file.suffix not in {".py", ".pyc"}]
    assert shipped
    for file in shipped:
        assert any(file.relative_to(UNITS).match(pattern) for pattern in patterns), file


def test_units_have_no_duplicate_scalar_directives() -> None:
    for unit in (*SERVICES, *SOCKETS):
        parser = configparser.RawConfigParser(strict=True, delimiters=("=",), comment_prefixes=("#",))
        text = unit.read_text(encoding="utf-8")
        # SystemCallFilter= is a list that each line adds to
        parser.read_string("\n".join(line for line in text.splitlines() if not line.startswith("SystemCallFilter=")))


_SCORE_WITHOUT_WRITABLE_CODE = """
import ctypes, mmap, sys
libc = ctypes.CDLL(None, use_errno=True)
PR_SET_MDWE, REFUSE_EXEC_GAIN = 65, 1
if libc.prctl(PR_SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0) != 0:
    sys.exit(42)
try:
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
except OSError:
    pass
else:
    sys.exit(43)
from pathlib import Path
from recalld.models.inference.manifest import MS_MARCO_L12
from recalld.models.inference.cross_encoder import CrossEncoder
from recalld.models.inference.onnx_session import NeverStop
folder = Path(sys.argv[1]) / MS_MARCO_L12.id
encoder = CrossEncoder.load(folder / "model.onnx", folder / "tokenizer.json")
stop = NeverStop()
right = encoder.score("Is Mei in on Fridays?", "Mei works from Monday to Thursday.", stop)
wrong = encoder.score("Is Mei in on Fridays?", "The lamp stands in the hall.", stop)
sys.exit(0 if right > wrong else 44)
"""


@pytest.mark.integration
@pytest.mark.model
def test_a_pair_is_scored_while_writable_code_is_refused(model_dir: Path) -> None:
    assert settings_of(SERVICES[0])["MemoryDenyWriteExecute"] == ["yes"]
    done = subprocess.run(
        [sys.executable, "-c", _SCORE_WITHOUT_WRITABLE_CODE, str(model_dir)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode == 42:
        pytest.skip("this kernel cannot refuse writable code to a process (PR_SET_MDWE came with Linux 6.3)")
    assert done.returncode == 0, done.stderr
