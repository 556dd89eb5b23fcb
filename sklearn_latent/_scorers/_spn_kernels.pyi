# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from numpy.typing import NDArray

Real = NDArray[np.float32] | NDArray[np.float64]

def layers_up(
    leaf: Real,
    inner: Real,
    bias: Real,
    root: Real,
    n_layers: int,
    n_products: int,
    n_states: int,
    use_max: bool,
    keep: bool,
) -> None: ...
def layers_down(leaf: Real, inner: Real, root: Real, n_layers: int, n_products: int, n_states: int) -> None: ...
def spread(shared: Real, leaf: Real, n_roots: int) -> None: ...
def collect(leaf: Real, shared: Real, n_roots: int) -> None: ...
def sums(
    ptr: NDArray[np.int32],
    index: NDArray[np.int32],
    value: Real,
    rows: Real,
    out: Real,
    work: Real,
    more: bool,
) -> None: ...
def add_places(
    root: NDArray[np.float64], column: NDArray[np.int64], owner: NDArray[np.int64], out: NDArray[np.float64]
) -> None: ...
def collect_places(
    delta: NDArray[np.float64], column: NDArray[np.int64], owner: NDArray[np.int64], out: Real
) -> None: ...
