# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from numpy.typing import NDArray

def gather(x: NDArray[np.float64], index: NDArray[np.int64], factor: float, out: NDArray[np.float64]) -> None: ...
def averaged_step(
    x: NDArray[np.float64],
    rest: NDArray[np.float64],
    index: NDArray[np.int64],
    grad: NDArray[np.float64],
    length: float,
    share: float,
) -> None: ...
def scaled_step(
    x: NDArray[np.float64],
    rest: NDArray[np.float64],
    squares: NDArray[np.float64],
    last: NDArray[np.float64],
    index: NDArray[np.int64],
    grad: NDArray[np.float64],
    rate: float,
    shrink: float,
    ahead: float,
    now: float,
    n_samples: float,
) -> None: ...
def scaled_prior(
    x: NDArray[np.float64],
    rest: NDArray[np.float64],
    squares: NDArray[np.float64],
    last: NDArray[np.float64],
    rate: float,
    shrink: float,
    ahead: float,
    now: float,
) -> None: ...
def adam_step(
    x: NDArray[np.float64],
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    grad: NDArray[np.float64],
    shrink: float,
    rate: float,
    correction: float,
) -> None: ...
def adaptive_step(
    x: NDArray[np.float64],
    length: NDArray[np.float64],
    count: NDArray[np.float64],
    last: NDArray[np.float64],
    index: NDArray[np.int64],
    grad: NDArray[np.float64],
    shrink: float,
    now: float,
    n_samples: float,
) -> None: ...
def slow_down(
    length: NDArray[np.float64], count: NDArray[np.float64], period: float, slow: float, fast: float
) -> None: ...
