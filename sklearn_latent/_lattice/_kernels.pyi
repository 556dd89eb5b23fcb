# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from numpy.typing import NDArray

def row_factors(
    score: NDArray[np.float64],
    factor: NDArray[np.float64],
    shift: NDArray[np.float64],
    low: NDArray[np.float64],
) -> None: ...
def accumulate_fast(
    node_factor: NDArray[np.float64],
    node_shift: NDArray[np.float64],
    node_low: NDArray[np.float64],
    arc_factor: NDArray[np.float64],
    arc_shift: NDArray[np.float64],
    arc_low: NDArray[np.float64],
    arc_target: NDArray[np.int32],
    arc_ptr: NDArray[np.int64],
    dense: bool,
    state_label: NDArray[np.int32],
    label_ptr: NDArray[np.int32],
    label_state: NDArray[np.int32],
    clamp: NDArray[np.int32],
    offsets: NDArray[np.int64],
    weight: NDArray[np.float64],
    masses: bool,
    state_mass: NDArray[np.float64],
    arc_mass: NDArray[np.float64],
    log_sum: NDArray[np.float64],
    certified: NDArray[np.uint8],
    work: NDArray[np.float64],
    rows: NDArray[np.float64],
    turned: NDArray[np.float64],
) -> None: ...
def best_paths(
    node: NDArray[np.float64],
    arc: NDArray[np.float64],
    arc_target: NDArray[np.int32],
    arc_ptr: NDArray[np.int64],
    dense: bool,
    offsets: NDArray[np.int64],
    path: NDArray[np.int32],
    score: NDArray[np.float64],
    work: NDArray[np.float64],
) -> None: ...
