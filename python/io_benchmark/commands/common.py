# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What several commands do in the same words."""

import sys

from io_benchmark.errors import UsageError


def tell(text: str) -> None:
    """Progress and remarks go to stderr: stdout is for what a program may read."""
    # In one piece: print writes the line's end apart, and a reader may come between.
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def names_of_jobs(text: str) -> list[str]:
    """What `-j NAME[,NAME]` names."""
    names = [name for name in text.split(",") if name]
    if not names:
        raise UsageError("-j: no name is given; try -j io-benchmark")
    return names
