# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from numpy.typing import NDArray

def label_sums(
    node: NDArray[np.float64],
    arc_factor: NDArray[np.float64],
    arc_shift: NDArray[np.float64],
    arc_low: NDArray[np.float64],
    label_ptr: NDArray[np.int32],
    label_state: NDArray[np.int32],
    codes: NDArray[np.int32],
    offsets: NDArray[np.int64],
    log_sum: NDArray[np.float64],
    certified: NDArray[np.uint8],
    work: NDArray[np.float64],
    factor: NDArray[np.float64],
) -> None: ...
