# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from numpy.typing import NDArray

def enclosing_simplex(member: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> float: ...
