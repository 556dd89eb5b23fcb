# SPDX-License-Identifier: BSD-3-Clause
from typing import Any

import numpy as np
from numpy.typing import NDArray

def store_pair(
    step: float,
    direction: NDArray[np.float64],
    grad: NDArray[np.float64],
    before: NDArray[np.float64],
    s: NDArray[Any],
    y: NDArray[Any],
    slot: int,
    n_used: int,
    dots: NDArray[np.float64],
    first: int,
    last: int,
) -> None: ...
def project(
    grad: NDArray[np.float64],
    s: NDArray[Any],
    y: NDArray[Any],
    n_used: int,
    dots: NDArray[np.float64],
    first: int,
    last: int,
) -> None: ...
def combine(
    grad: NDArray[np.float64],
    of_grad: float,
    s: NDArray[Any],
    y: NDArray[Any],
    of_s: NDArray[np.float64],
    of_y: NDArray[np.float64],
    x: NDArray[np.float64],
    step: float,
    direction: NDArray[np.float64],
    trial: NDArray[np.float64],
    sums: NDArray[np.float64],
    first: int,
    last: int,
) -> None: ...
def move(
    x: NDArray[np.float64],
    step: float,
    direction: NDArray[np.float64],
    trial: NDArray[np.float64],
    first: int,
    last: int,
) -> None: ...
def slope(
    grad: NDArray[np.float64],
    direction: NDArray[np.float64],
    sums: NDArray[np.float64],
    first: int,
    last: int,
) -> None: ...
