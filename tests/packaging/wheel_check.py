"""Build the wheel, install it in a clean environment, and run it there: the demo, the clients, the type marker.

The environment holds the wheel and the dependencies that it declares, and nothing of this checkout. It works offline:
the dependencies are the ones already installed for development, and a check makes sure that the declared ones suffice.

Run it with `make wheel-check`.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
import zipfile
from email import message_from_bytes
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("actors", "daemon", "models", "protocol", "systemd")
DRAWING = frozenset(
    f"recalld/daemon/evaluation/{name}.py"
    for name in ("figure", "plot", "audit_plot", "calibration_plot", "drill_plot", "replay_plot", "stats_plot")
)
BUILTIN = """
from recalld.daemon.evaluation.sets import builtin_sets
from recalld.models.lab.comparators import shipped_comparators
assert len(builtin_sets()) == 8 and shipped_comparators().features
"""
LIGHT_IMPORTS = """
import sys
from pathlib import Path
from recalld.protocol.client import Client
from recalld.protocol.requests import Recall
heavy = {"onnxruntime", "tokenizers", "numpy", "aiosqlite", "structlog", "uvloop", "anyio"} & set(sys.modules)
assert not heavy, heavy
recalled = Client("/nonexistent/recalld.sock").recall(Recall(user="u", session="s", text="hello"))
assert recalled.mode == "unavailable", recalled
from recalld.protocol.client import AsyncClient
heavy = {"onnxruntime", "tokenizers", "numpy", "aiosqlite", "structlog", "uvloop"} & set(sys.modules)
assert not heavy, heavy
"""


def build_wheel(target: Path) -> Path:
    # From a copy: a build in place leaves folders behind, and would pick up what an older build left there.
    source = target.parent / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__"))
    run(
        *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"),
        *("--no-index", "--wheel-dir", str(target), str(source)),
    )
    (wheel,) = target.glob("recalld-*.whl")
    return wheel


def check_content(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {"/".join(name.split("/")[:2]) for name in names if name.startswith("recalld/")}
    assert tops == {f"recalld/{folder}" for folder in FOLDERS}, tops
    for needed in (
        *(f"recalld/{folder}/py.typed" for folder in ("actors", "daemon", "models", "protocol")),
        "recalld/systemd/recalld.service",
        "recalld/systemd/user/recalld.socket",
        "recalld/models/calibration/data/default.json",
        "recalld/models/calibration/data/sources/freiberufler/turns.jsonl",
        "recalld/models/lab/data/comparators.json",
        "recalld/daemon/demo/data/memories.jsonl",
    ):
        assert needed in names, f"{needed} is not in the wheel"
    assert any(name.endswith("licenses/LICENSE") for name in names), "the licence is not in the wheel"


def clean_environment(folder: Path, *, wheel: Path, dependencies: tuple[str, ...] | None) -> Path:
    """A new environment with the wheel; with all installed distributions, or with copies of the named ones alone."""
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    run(
        *(sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"),
        str(wheel),
    )
    installed = Path(sysconfig.get_path("purelib"))
    site = next((folder / "lib").glob("python*")) / "site-packages"
    if dependencies is None:
        # A path in a .pth file is added without its own .pth files, so the editable checkout does not come along.
        (site / "dependencies.pth").write_text(f"{installed}\n", encoding="utf-8")
    else:
        for name in dependencies:
            (site / name).symlink_to(installed / name)
    return python


def check_declared(wheel: Path) -> None:
    """Every distribution that a module of the wheel imports is declared in pyproject.toml by itself.

    Optional ones count for the modules that import them late and do without.
    """
    archive = zipfile.ZipFile(wheel)
    (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    lines = message_from_bytes(archive.read(metadata)).get_all("Requires-Dist", [])
    declared = {_name_of(line) for line in lines if "extra ==" not in line}
    optional = {_name_of(line) for line in lines if re.search(r"extra == ['\"]plot['\"]", line)}
    owners = packages_distributions()
    for name in archive.namelist():
        if name.endswith(".py"):
            for top in imported(ast.parse(archive.read(name))) - sys.stdlib_module_names - {"recalld"}:
                used = {owner.lower() for owner in owners.get(top, [top])}
                allowed = declared | optional if name in DRAWING else declared
                assert used & allowed, f"{name} imports {top}, which pyproject.toml does not declare"


def _name_of(requirement: str) -> str:
    return re.split(r"[\s;<>=!~\[(]", requirement, maxsplit=1)[0].lower()


def imported(tree: ast.Module) -> set[str]:
    """Top-level names of all absolute imports, wherever they stand."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


def run(*command: str) -> str:
    with tempfile.TemporaryDirectory() as elsewhere:
        done = subprocess.run(
            command,
            cwd=elsewhere,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}},
        )
    if done.returncode:
        output = f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        sys.exit(f"{' '.join(command[:4])} … ended with {done.returncode}\n{output}")
    return done.stdout


def main() -> None:
    models = os.environ.get("RECALLD_TEST_MODELS")
    if not models:
        sys.exit("set RECALLD_TEST_MODELS to a directory with verified models; `make wheel-check` does")
    with tempfile.TemporaryDirectory(prefix="recalld-wheel-") as scratch:
        folder = Path(scratch)
        wheel = build_wheel(folder / "dist")
        check_content(wheel)
        full = clean_environment(folder / "full", wheel=wheel, dependencies=None)
        check_declared(wheel)
        version = run(str(full.parent / "recalld"), "--version").strip()
        lines = run(str(full.parent / "recalld"), "demo", "--json", "--model-dir", models).splitlines()
        summary = json.loads(lines[-1])["summary"]
        assert summary["degraded_events"] == 1, summary
        run(str(full), "-c", BUILTIN)
        bare = clean_environment(
            folder / "bare",
            wheel=wheel,
            dependencies=("msgspec", "anyio", "idna", "typing_extensions.py"),
        )
        run(str(bare), "-c", LIGHT_IMPORTS)
    print(f"{wheel.name}: {version} installs, {len(lines) - 1} demo turns run, clients import without heavy packages")


if __name__ == "__main__":
    main()
