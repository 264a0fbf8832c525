"""docs/operating.md says what the code does: keys, defaults, checks and exit codes."""

import re
from pathlib import Path

import pytest

from recalld.daemon.config.reference import KeyReference, all_keys
from recalld.daemon.doctor.registry import CHECKS
from recalld.daemon.exit_codes import DoctorExit, ExitCode

REPOSITORY = Path(__file__).resolve().parents[3]
PAGE = (REPOSITORY / "docs" / "operating.md").read_text(encoding="utf-8")


def rows_of(heading: str) -> list[list[str]]:
    """Cells of the table under a heading, without its header."""
    _, _, rest = PAGE.partition(f"\n{heading}\n")
    body = re.split(r"\n#{2,3} ", rest)[0]
    rows = [line.strip("|").split("|") for line in body.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def heading_of(key: KeyReference) -> str:
    section = key.key.rpartition(".")[0]
    return f"### `[[{section[:-2]}]]`" if section.endswith("[]") else f"### `[{section}]`"


@pytest.mark.parametrize("key", all_keys(), ids=lambda key: key.key)
def test_every_key_is_documented_with_its_default_and_meaning(key: KeyReference) -> None:
    rows = {row[0].strip("`"): row for row in rows_of(heading_of(key))}
    row = rows[key.key.rpartition(".")[2]]
    assert row[1].replace("`", "") == key.kind
    assert row[3] == key.description
    if key.default:
        assert row[2] == f"`{key.default}`"
    else:
        assert not row[2].startswith("`")


def test_no_key_is_documented_that_does_not_exist() -> None:
    documented = {
        f"{heading.strip('[]')}{'[]' if heading.startswith('[[') else ''}.{row[0].strip('`')}"
        for heading in re.findall(r"^### `(\[+[a-z_.]+\]+)`$", PAGE, re.MULTILINE)
        for row in rows_of(f"### `{heading}`")
    }
    assert documented == {key.key for key in all_keys()}


def test_every_check_of_the_doctor_has_a_row_in_order() -> None:
    rows = rows_of("## Doctor")
    assert [row[0] for row in rows] == [check.name for check in CHECKS]
    deep = [row[0] for row in rows if "with `--deep`" in row[1]]
    assert deep == [check.name for check in CHECKS if check.is_deep]


def test_every_exit_code_has_a_row() -> None:
    assert [int(row[0]) for row in rows_of("## Exit codes")] == sorted(ExitCode)
    for code in DoctorExit:
        assert f"{code.value} " in PAGE.partition("`recalld doctor` has its own:")[2].split("\n")[0]
