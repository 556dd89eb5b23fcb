# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from numpy.typing import NDArray

def path_search(
    node: NDArray[np.float64],
    arc: NDArray[np.float64],
    state_label: NDArray[np.int32],
    label_ptr: NDArray[np.int32],
    label_state: NDArray[np.int32],
    log_sum: float,
    n_paths: int,
    alpha: float,
    max_expansions: int,
    labels: NDArray[np.int32],
) -> tuple[float, float, int, int, int]: ...
