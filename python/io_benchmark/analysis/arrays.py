# SPDX-License-Identifier: MPL-2.0
"""numpy's arrays, for histories, real tasks and predictions. Few comparisons import this and numpy."""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
# What follows from sums of arrays is rounded to this: numpy adds up in the order that suits the CPU, and so
# the digits behind these differ between machines. The same results have the same report on all of them.
LOG_DECIMALS = 9
