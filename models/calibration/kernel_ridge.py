"""Ridge regression in the dual, with the answers of a fit without any one group from the one fit on all rows.

With the kernel matrix K, a penalty per row on the diagonal D and targets y, the duals are a = Q·y, Q = (K + D)⁻¹.
Taking a group S out makes a' = a - Q[:, S]·Q[S, S]⁻¹·a[S], which is 0 on S: exactly what a fit on the other rows gives
(the block form of the leave-one-out formula; C. E. Rasmussen and C. K. I. Williams, 2006, 5.4.2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Kernel = NDArray[np.float32]
Places = NDArray[np.int64]


class KernelRidge:
    """A solved regression. Costs the third power of its rows in time, and some ten bytes a pair of them in memory."""

    def __init__(self, kernel: Kernel, penalties: Vector, targets: Vector) -> None:
        """Solve it.

        Args:
            kernel: Shape (rows, rows), symmetric, positive semi-definite. It is not changed.
            penalties: Shape (rows,), positive: what a row's own error costs, inversely.
            targets: Shape (rows,).
        """
        penalised = kernel.copy()
        penalised[np.diag_indices(len(kernel))] += penalties.astype(np.float32)
        self._inverse: Kernel = np.linalg.inv(penalised)
        self.duals: Vector = np.asarray(self._inverse @ targets.astype(np.float32), dtype=np.float64)

    def without(self, group: Places) -> Vector:
        """The duals of the fit that has not seen the rows of a group: shape (rows,), 0 on the group."""
        if not len(group):
            return self.duals
        inner = self._inverse[np.ix_(group, group)].astype(np.float64)
        change = np.linalg.solve(inner, self.duals[group])
        result: Vector = self.duals - self._inverse[:, group] @ change
        result[group] = 0.0
        return result
