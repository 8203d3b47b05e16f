# SPDX-License-Identifier: MPL-2.0
"""What the actions read of a report: the comparison of pools, or the answers of gates.

Any task of the group can write one, so each value is checked.
"""

from __future__ import annotations

from typing import Any

import voluptuous

# Of a comparison; a report of gates, which has one in each, has the other version.
VERSION, GATES_VERSION = 4, 1
_NOT_DECIDED = "not decided"
_PACE = voluptuous.All(int, voluptuous.Range(1, 10**12))  # as the worker's program takes
_COUNT = voluptuous.All(int, voluptuous.Range(0))
_NUMBER = voluptuous.Any(None, _COUNT)


def _line(value: Any) -> str:
    if isinstance(value, str) and value.isprintable() and len(value) <= 10_000:
        return value
    raise voluptuous.Invalid("is not a line of text")


_COMPARISON: dict[str, Any] = {
    "confirming": {
        "paces": [{"pool": _line, "bytes_per_s": _PACE, "against": _line}],
        "reasons": [{"text": _line}],
    },
    "replication": [{"side": _line, "standing": _line, "workers_to_add": _NUMBER}],
    "workers": [{"task_id": _line}],
}
_GATE = {
    "candidate": _line,
    "baseline": _line,
    "answer": _line,
    "workers": voluptuous.ExactSequence([_COUNT, _COUNT]),
    "workers_needed": _NUMBER,
    "comparison": _COMPARISON,
}
_COMPARISON_SCHEMA, _GATES_SCHEMA = (
    voluptuous.Schema(keys, required=True, extra=voluptuous.ALLOW_EXTRA)
    for keys in (_COMPARISON, {"gates": [_GATE]})
)


def can_be_read(report: Any) -> bool:
    """Return whether this is a report of a version that `checked` knows."""
    if not isinstance(report, dict):
        return False
    return report.get("version") == (GATES_VERSION if "gates" in report else VERSION)


def checked(report: dict[str, Any]) -> dict[str, Any]:
    """Return the report as a comparison of all pools; a voluptuous.Invalid names a wrong value."""
    if "gates" not in report:
        return dict(_COMPARISON_SCHEMA(report))
    gates = _GATES_SCHEMA(report)["gates"]
    comparisons = [gate["comparison"] for gate in gates]
    confirming = [comparison["confirming"] for comparison in comparisons]
    return {
        "confirming": {
            # A pool of several gates is to be confirmed once at each pace.
            "paces": _distinct(pace for each in confirming for pace in each["paces"]),
            "reasons": _distinct(reason for each in confirming for reason in each["reasons"]),
        },
        "replication": _replication(gates),
        "workers": [worker for comparison in comparisons for worker in comparison["workers"]],
    }


def _distinct(values: Any) -> list[Any]:
    distinct: list[Any] = []
    for value in values:
        if value not in distinct:
            distinct.append(value)
    return distinct


def _replication(gates: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the workers that each pool lacks to decide all its gates."""
    to_add: dict[str, int] = {}
    for gate in gates:
        needed = gate["workers_needed"] or 0
        if gate["answer"] == _NOT_DECIDED:
            for pool, count in zip((gate["candidate"], gate["baseline"]), gate["workers"]):
                to_add[pool] = max(to_add.get(pool, 0), needed - count)
    return [
        {"side": pool, "standing": "open", "workers_to_add": max(0, count)}
        for pool, count in to_add.items()
    ]
