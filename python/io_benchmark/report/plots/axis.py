# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The axis of a workload's figure: times in a unit that suits them, or operations per second."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from io_benchmark.analysis.model import Integers
from io_benchmark.number_text import TIME_UNITS, digits, tick, times
from io_benchmark.results.workload import NS_PER_S


@dataclass(frozen=True)
class Axis:
    """An axis of times, or of operations per second in the unit `rate`."""

    rate: str = ""

    def values(self, times_ns: Integers) -> NDArray[np.float64]:
        """Return times, or rates."""
        known: NDArray[np.float64] = np.maximum(times_ns, 1).astype(np.float64)
        return NS_PER_S / known if self.rate else known

    def place(self, time_ns: float) -> float:
        """Return where a time is among the values."""
        return NS_PER_S / time_ns if self.rate and time_ns > 0 else time_ns

    def tick(self, value: float) -> str:
        if not self.rate:
            return _time_label(value)
        return tick(value)

    def text(self, time_ns: float) -> str:
        return f"{digits(self.place(time_ns))} {self.rate}" if self.rate else times([time_ns])[0]


TIMES = Axis()


def _time_label(tick_ns: float) -> str:
    size, unit = next((pair for pair in TIME_UNITS if tick_ns >= pair[0]), TIME_UNITS[-1])
    return f"{tick(tick_ns / size)} {unit}"
