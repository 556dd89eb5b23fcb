# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from numpy.typing import NDArray

def add_scores(
    row_ptr: NDArray[np.int32] | NDArray[np.int64],
    feature: NDArray[np.int32] | NDArray[np.int64],
    values: NDArray[np.float64],
    weight: NDArray[np.float64],
    score: NDArray[np.float64],
) -> None: ...
def add_pattern_scores(
    row_ptr: NDArray[np.int32] | NDArray[np.int64],
    feature: NDArray[np.int32] | NDArray[np.int64],
    values: NDArray[np.float64],
    pattern_ptr: NDArray[np.int64],
    pattern_column: NDArray[np.int32],
    weight: NDArray[np.float64],
    score: NDArray[np.float64],
) -> None: ...
def add_gradient(
    feature: NDArray[np.int64],
    feature_ptr: NDArray[np.int64],
    token: NDArray[np.int32],
    values: NDArray[np.float64],
    delta: NDArray[np.float64],
    gradient: NDArray[np.float64],
    first: int,
    last: int,
) -> None: ...
def add_pattern_gradient(
    feature: NDArray[np.int64],
    feature_ptr: NDArray[np.int64],
    token: NDArray[np.int32],
    values: NDArray[np.float64],
    pattern_ptr: NDArray[np.int64],
    pattern_column: NDArray[np.int32],
    delta: NDArray[np.float64],
    gradient: NDArray[np.float64],
    first: int,
    last: int,
) -> None: ...
def mark_seen(
    row_ptr: NDArray[np.int32] | NDArray[np.int64],
    feature: NDArray[np.int32] | NDArray[np.int64],
    values: NDArray[np.float64],
    seen_ptr: NDArray[np.int64],
    seen_column: NDArray[np.int32],
    seen: NDArray[np.uint8],
) -> None: ...
def transpose(
    row_ptr: NDArray[np.int32] | NDArray[np.int64],
    feature: NDArray[np.int32] | NDArray[np.int64],
    values: NDArray[np.float64],
    feature_ptr: NDArray[np.int64],
    token: NDArray[np.int32],
    values_out: NDArray[np.float64],
) -> None: ...
def halve(
    row_ptr: NDArray[np.int32] | NDArray[np.int64],
    feature: NDArray[np.int32] | NDArray[np.int64],
    values: NDArray[np.float64],
    row: NDArray[np.int32],
    first_ptr: NDArray[np.int32] | NDArray[np.int64],
    first_feature: NDArray[np.int32] | NDArray[np.int64],
    first_values: NDArray[np.float64],
    second_ptr: NDArray[np.int32] | NDArray[np.int64],
    second_feature: NDArray[np.int32] | NDArray[np.int64],
    second_values: NDArray[np.float64],
) -> None: ...
def count_chosen(feature: NDArray[np.int32] | NDArray[np.int64], row: NDArray[np.int32]) -> int: ...
