# SPDX-License-Identifier: MPL-2.0
"""numpy's arrays, for histories, real tasks and predictions. Few comparisons import this and numpy."""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
