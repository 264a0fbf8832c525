from __future__ import annotations

from pathlib import Path

import pytest

from recalld.models.inference.cores import usable_cores


def cores(tmp_path: Path, *, allowed: int, group: str = "", quotas: dict[str, str] | None = None) -> int:
    root = tmp_path / "cgroup"
    for relative, content in (quotas or {}).items():
        folder = root / relative
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cpu.max").write_text(content)
    own = tmp_path / "own"
    own.write_text(f"0::/{group}\n")
    return usable_cores(affinity=lambda: set(range(allowed)), cgroup_root=root, self_cgroup=own)


def test_without_a_quota_the_affinity_mask_decides(tmp_path: Path) -> None:
    assert cores(tmp_path, allowed=3) == 3


def test_half_a_core_still_gives_one_thread(tmp_path: Path) -> None:
    assert cores(tmp_path, allowed=8, group="app", quotas={"app": "50000 100000"}) == 1


def test_a_quota_is_rounded_down_because_throttled_threads_wait_together(tmp_path: Path) -> None:
    assert cores(tmp_path, allowed=8, group="app", quotas={"app": "290000 100000"}) == 2


def test_a_quota_of_a_group_further_up_counts_too(tmp_path: Path) -> None:
    quotas = {"a/b/c": "max 100000", "a/b": "400000 100000", "a": "200000 100000"}
    assert cores(tmp_path, allowed=8, group="a/b/c", quotas=quotas) == 2


def test_the_quota_at_the_mount_counts_inside_a_container(tmp_path: Path) -> None:
    assert cores(tmp_path, allowed=8, group="", quotas={"": "100000 100000"}) == 1


def test_a_quota_above_the_affinity_mask_gives_no_more(tmp_path: Path) -> None:
    assert cores(tmp_path, allowed=2, group="app", quotas={"app": "1600000 100000"}) == 2


@pytest.mark.parametrize("content", ["", "max", "what 100000", "100000 0", "100000"])
def test_a_quota_that_makes_no_sense_is_none(tmp_path: Path, content: str) -> None:
    assert cores(tmp_path, allowed=4, group="app", quotas={"app": content}) == 4


def test_a_path_outside_of_our_namespace_reads_nothing_above_the_mount(tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text("100000 100000")
    assert cores(tmp_path, allowed=4, group="../outside") == 4


def test_a_machine_with_only_version_1_groups_or_none_has_no_quota(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("4:cpu,cpuacct:/app\n")
    assert usable_cores(affinity=lambda: {0, 1}, cgroup_root=tmp_path, self_cgroup=own) == 2
    assert usable_cores(affinity=lambda: {0, 1}, cgroup_root=tmp_path, self_cgroup=tmp_path / "absent") == 2


def test_this_machine_gives_at_least_one_core() -> None:
    assert usable_cores() >= 1
