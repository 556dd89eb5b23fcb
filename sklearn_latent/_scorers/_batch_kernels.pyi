# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from numpy.typing import NDArray

def collect(
    row_ptr: NDArray[np.integer],
    feature: NDArray[np.integer],
    values: NDArray[np.float64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    number: NDArray[np.int32],
    batch_ptr: NDArray[np.int32],
    batch_feature: NDArray[np.int32],
    batch_values: NDArray[np.float64],
    used: NDArray[np.int64],
) -> int: ...
def count_weights(used: NDArray[np.int64], pattern_ptr: NDArray[np.int64], ptr: NDArray[np.int64]) -> None: ...
def narrow(
    used: NDArray[np.int64],
    pattern_ptr: NDArray[np.int64],
    pattern_column: NDArray[np.int32],
    ptr: NDArray[np.int64],
    start: int,
    column: NDArray[np.int32],
    index: NDArray[np.int64],
) -> None: ...
def add_row_gradient(
    row_ptr: NDArray[np.int32],
    feature: NDArray[np.int32],
    values: NDArray[np.float64],
    delta: NDArray[np.float64],
    gradient: NDArray[np.float64],
) -> None: ...
def add_row_pattern_gradient(
    row_ptr: NDArray[np.int32],
    feature: NDArray[np.int32],
    values: NDArray[np.float64],
    pattern_ptr: NDArray[np.int64],
    pattern_column: NDArray[np.int32],
    delta: NDArray[np.float64],
    gradient: NDArray[np.float64],
) -> None: ...
