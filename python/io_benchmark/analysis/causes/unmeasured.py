# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a result of cache-retrieve cannot show, and the workload that does."""

from io_benchmark.analysis.causes.case import Case, Finding, Rule
from io_benchmark.analysis.model import State


def random_io(_case: Case) -> Finding:
    return Finding(
        State.NOT_OBSERVABLE,
        "not measured",
        "not measured",
        "these copies are sequential; how many small reads and writes a second the disks do, "
        "workload random-io tells",
        workload="random-io",
    )


RULES = (Rule("random-io", "The slower side's disks do fewer operations a second.", random_io),)
