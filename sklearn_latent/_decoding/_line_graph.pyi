# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from numpy.typing import NDArray

def label_graph(
    node_factor: NDArray[np.float64],
    arc_factor: NDArray[np.float64],
    label_ptr: NDArray[np.int32],
    log_least: float,
    order: int,
    budget: int,
) -> dict: ...
