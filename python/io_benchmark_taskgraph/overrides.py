# SPDX-License-Identifier: MPL-2.0
"""Parameters that override kind.yml; Firefox's tree does not have them."""

from __future__ import annotations

from typing import Any

from io_benchmark_taskgraph.mistakes import UserMistake, shown
from io_benchmark_taskgraph.stanza import MAX_REPLICATES, PERFHERDER_MODES

REPLICATES = "io_benchmark_replicates"
PERFHERDER = "io_benchmark_perfherder"

NEUTRAL = "neutral"


def replicates(parameters: Any) -> int | None:
    """Return the number of tasks per pool; None: the number in kind.yml."""
    value = parameters.get(REPLICATES) or 0
    if type(value) is not int or not 0 <= value <= MAX_REPLICATES:
        raise UserMistake(
            f"the parameter {REPLICATES}: {shown(value)} is not a whole number from 0 to "
            f"{MAX_REPLICATES}; 0 means as many as kind.yml says"
        )
    return value or None


def perfherder(parameters: Any) -> str | None:
    """Return the mode of Perfherder's series; None: the mode in kind.yml."""
    value = parameters.get(PERFHERDER) or ""
    if value and value not in PERFHERDER_MODES:
        known = ", ".join(PERFHERDER_MODES)
        raise UserMistake(
            f"the parameter {PERFHERDER}: {shown(value)} is unknown; there are: {known}, or "
            "nothing for what kind.yml says"
        )
    return value or None
