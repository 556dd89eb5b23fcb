# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from numpy.typing import NDArray

LANES_WORK: bool
LANES_PAY: bool
LANES: int

def lane_factors(
    score: NDArray[np.float64],
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    group_ptr: NDArray[np.int64],
    nothing: NDArray[np.float64],
    factor: NDArray[np.float64],
    low: NDArray[np.float64],
    unit: NDArray[np.float64],
) -> None: ...
def lane_walk(
    factor: NDArray[np.float64],
    low: NDArray[np.float64],
    unit: NDArray[np.float64],
    arc_factor: NDArray[np.float64],
    turned: NDArray[np.float64],
    out_ptr: NDArray[np.int64],
    target: NDArray[np.int32],
    in_ptr: NDArray[np.int64],
    source: NDArray[np.int32],
    arc_shift: float,
    arc_low: float,
    state_label: NDArray[np.int32],
    clamp: NDArray[np.int32],
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    group_ptr: NDArray[np.int64],
    weight: NDArray[np.float64],
    masses: bool,
    state_mass: NDArray[np.float64],
    arc_mass: NDArray[np.float64],
    log_sum: NDArray[np.float64],
    certified: NDArray[np.uint8],
    work: NDArray[np.float64],
    codes: NDArray[np.int64],
) -> None: ...
def follow(
    node: NDArray[np.float64],
    codes: NDArray[np.int32],
    offsets: NDArray[np.int64],
    arc_target: NDArray[np.int32],
    arc_ptr: NDArray[np.int64],
    state_label: NDArray[np.int32],
    label_ptr: NDArray[np.int32],
    label_state: NDArray[np.int32],
    path: NDArray[np.int32],
    move: NDArray[np.int64],
) -> bool: ...
def path_walk(
    node: NDArray[np.float64],
    arc: NDArray[np.float64],
    path: NDArray[np.int32],
    move: NDArray[np.int64],
    offsets: NDArray[np.int64],
    weight: NDArray[np.float64],
    masses: bool,
    state_mass: NDArray[np.float64],
    arc_mass: NDArray[np.float64],
    log_sum: NDArray[np.float64],
) -> None: ...
