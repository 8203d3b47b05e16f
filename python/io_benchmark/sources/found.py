# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a reading of remote addresses brings: results, and what is said of the others."""

import sys
from dataclasses import dataclass, field

from io_benchmark.results import Result
from io_benchmark.sources.layout import Measured, TaskRecord
from io_benchmark.text import clean

# Where a result belongs among all: its address, its task's label and id, its run.
Position = tuple[int, str, str, int]
LAST: Position = (sys.maxsize, "", "", 0)


@dataclass(frozen=True)
class Found:
    """A result that has arrived and can be read."""

    position: Position
    record: TaskRecord
    measured: Measured
    data: bytes

    @property
    def result(self) -> Result:
        return self.measured.result


@dataclass
class Account:
    """What there is to say beside the results, each with its position."""

    problems: list[tuple[Position, str]] = field(default_factory=list)
    remarks: list[tuple[Position, str]] = field(default_factory=list)
    requests: int = 0

    def problem(self, position: Position, text: str, where: str = "") -> None:
        """`where` is the address of what it is about: a long text does not cut it off."""
        shown = clean(text)
        self.problems.append((position, f"{shown} ({where})" if where else shown))

    def remark(self, position: Position, text: str) -> None:
        self.remarks.append((position, clean(text)))
