# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from numpy.typing import NDArray

def label_search(
    node_factor: NDArray[np.float64],
    arc_factor: NDArray[np.float64],
    label_ptr: NDArray[np.int32],
    label_state: NDArray[np.int32],
    n_best: int,
    max_expansions: int,
    epsilon: float,
    labels: NDArray[np.int32],
    log_weight: NDArray[np.float64],
    max_order: int = 0,
    patience: int = -1,
    budget: int = 300_000,
    beam_width: int = 16,
) -> tuple[int, float, int, int]: ...
def label_search_batch(
    node: NDArray[np.float64],
    arc_factor: NDArray[np.float64],
    arc_shift: NDArray[np.float64],
    label_ptr: NDArray[np.int32],
    offsets: NDArray[np.int64],
    n_best: int,
    max_search: int,
    free_expansions: int,
    epsilon: float,
    max_order: int,
    patience: int,
    budget: int,
    least_factor: float,
    served: NDArray[np.uint8],
    labels: NDArray[np.int32],
    log_weight: NDArray[np.float64],
    gap: NDArray[np.float64],
    proven: NDArray[np.uint8],
    n_expanded: NDArray[np.int64],
) -> None: ...
