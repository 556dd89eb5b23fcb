# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from numpy.typing import NDArray

def learn_template(
    ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    rows: NDArray[np.int32],
    streams: NDArray[np.int32],
    kind: int,
    shift: int,
    slots: NDArray[np.int32],
    keys: NDArray[np.int32],
    capacity: int,
    n_features: int,
    first_sequence: int,
    local: NDArray[np.int32],
) -> tuple[int, int]: ...
def fill_slots(
    keys: NDArray[np.int32],
    width: int,
    n_features: int,
    shift: int,
    slots: NDArray[np.int32],
) -> None: ...
def find_features(
    ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    item_ptr: NDArray[np.int64],
    rows: NDArray[np.int32],
    streams: NDArray[np.int32],
    kinds: NDArray[np.uint8],
    shift: int,
    slot_ptr: NDArray[np.int64],
    slots: NDArray[np.int32],
    key_ptr: NDArray[np.int64],
    keys: NDArray[np.int32],
    column_ptr: NDArray[np.int64],
    local: NDArray[np.int32],
) -> None: ...
def count_entries(local: NDArray[np.int32], indptr: NDArray[np.int64]) -> None: ...
def fill_indices(
    local: NDArray[np.int32],
    column_ptr: NDArray[np.int64],
    indptr: NDArray[np.int32] | NDArray[np.int64],
    indices: NDArray[np.int32] | NDArray[np.int64],
) -> None: ...
