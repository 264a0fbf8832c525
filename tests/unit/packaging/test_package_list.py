"""The package list of pyproject.toml is the tree, no more and no less."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("actors", "daemon", "models", "protocol", "systemd")


def setuptools_table() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]


def test_every_package_of_the_tree_is_listed_and_every_listed_one_exists() -> None:
    there = {
        "recalld." + ".".join(init.parent.relative_to(ROOT).parts)
        for folder in FOLDERS
        for init in (ROOT / folder).rglob("__init__.py")
    }
    listed = setuptools_table()["packages"]
    assert isinstance(listed, list)
    assert sorted(there) == sorted(listed)


def test_no_folder_with_modules_lacks_its_init() -> None:
    without = {
        str(module.parent.relative_to(ROOT))
        for folder in FOLDERS
        for module in (ROOT / folder).rglob("*.py")
        if not (module.parent / "__init__.py").exists()
    }
    assert without == set()


def test_the_top_level_folders_are_mapped_into_the_namespace() -> None:
    assert setuptools_table()["package-dir"] == {f"recalld.{folder}": folder for folder in FOLDERS}
    assert not (ROOT / "__init__.py").exists()
