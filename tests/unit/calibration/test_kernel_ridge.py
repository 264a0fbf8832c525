from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from recalld.models.calibration.kernel_ridge import KernelRidge

ROWS = 40


@pytest.fixture
def kernel() -> NDArray[np.float32]:
    points = np.random.default_rng(3).normal(size=(ROWS, 4))
    return np.exp(-((points[:, None] - points[None]) ** 2).sum(axis=2)).astype(np.float32)


def solve(kernel: NDArray[np.float32], penalties: NDArray[np.float64], targets: NDArray[np.float64]) -> list[float]:
    return list(np.linalg.solve(kernel.astype(np.float64) + np.diag(penalties), targets))


def test_the_duals_solve_the_penalised_system_and_leave_the_kernel_alone(kernel: NDArray[np.float32]) -> None:
    penalties, targets = np.linspace(0.1, 1.0, ROWS), np.sin(np.arange(ROWS))
    before = kernel.copy()
    assert KernelRidge(kernel, penalties, targets).duals == pytest.approx(solve(kernel, penalties, targets), abs=1e-4)
    assert (kernel == before).all()


@pytest.mark.parametrize("group", [[0], [3, 4, 17], list(range(0, ROWS, 2))])
def test_without_a_group_is_what_a_fit_on_the_other_rows_gives(kernel: NDArray[np.float32], group: list[int]) -> None:
    penalties, targets = np.linspace(0.1, 1.0, ROWS), np.cos(np.arange(ROWS))
    others = [place for place in range(ROWS) if place not in group]
    duals = KernelRidge(kernel, penalties, targets).without(np.asarray(group))
    assert duals[others] == pytest.approx(
        solve(kernel[np.ix_(others, others)], penalties[others], targets[others]), abs=1e-3
    )
    assert not duals[group].any()


def test_without_nobody_is_the_fit_itself(kernel: NDArray[np.float32]) -> None:
    ridge = KernelRidge(kernel, np.full(ROWS, 0.2), np.ones(ROWS))
    assert (ridge.without(np.asarray([], dtype=np.int64)) == ridge.duals).all()
