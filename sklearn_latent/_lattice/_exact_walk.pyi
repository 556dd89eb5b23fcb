# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from numpy.typing import NDArray

def accumulate(
    node: NDArray[np.float64],
    arc: NDArray[np.float64],
    arc_target: NDArray[np.int32],
    arc_ptr: NDArray[np.int64],
    state_label: NDArray[np.int32],
    label_ptr: NDArray[np.int32],
    label_state: NDArray[np.int32],
    clamp: NDArray[np.int32],
    offsets: NDArray[np.int64],
    sequences: NDArray[np.int64],
    weight: NDArray[np.float64],
    masses: bool,
    state_mass: NDArray[np.float64],
    arc_mass: NDArray[np.float64],
    log_sum: NDArray[np.float64],
    work: NDArray[np.float64],
) -> None: ...
def messages(
    node: NDArray[np.float64],
    arc: NDArray[np.float64],
    arc_target: NDArray[np.int32],
    arc_ptr: NDArray[np.int64],
    state_label: NDArray[np.int32],
    label_ptr: NDArray[np.int32],
    label_state: NDArray[np.int32],
    offsets: NDArray[np.int64],
    forward: NDArray[np.float64],
    backward: NDArray[np.float64],
    log_sum: NDArray[np.float64],
    work: NDArray[np.float64],
) -> None: ...
