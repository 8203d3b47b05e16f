# SPDX-License-Identifier: MPL-2.0
"""Small sizes for a task: --quick.

The task's own command reads the profile from the environment, as in a rehearsal. Its time budget
and its time limit become those of small sizes.
"""

import re
from collections.abc import Mapping
from typing import Any

FULL, QUICK = "full", "quick"
PROFILE_VARIABLE = "IO_BENCHMARK_PROFILE"
TIME_BUDGET = re.compile(r"(?<!\S)--time-budget[ =]([0-9]{1,6})(?!\S)")
# Small sizes are an eightieth of the full ones, with at most 100 retrieves. All workloads in three places
# then take 17 s for the retrieves at 50 MiB/s, the slowest pool to plan for. Each other measurement takes
# at most 5 s.
QUICK_BUDGET_S = 600
# What the task needs besides the script, as the kinds plan it.
MARGIN_S = 300


def make_quick(definition: dict[str, Any]) -> None:
    """Change the definition to small sizes; its own time limits stay where they are lower."""
    payload = definition["payload"]
    payload["env"] = {**payload.get("env", {}), PROFILE_VARIABLE: QUICK}
    payload["command"] = _with_budget(payload.get("command", []))
    limit_s = QUICK_BUDGET_S + MARGIN_S
    payload["maxRunTime"] = min(payload.get("maxRunTime", limit_s), limit_s)
    definition["metadata"]["description"] += "; small sizes (--quick)"


def limit_s(payload: Mapping[str, Any]) -> float:
    """Return the script's time budget, by its last such argument; else the task's limit."""
    for part in reversed(_strings(payload.get("command", []))):
        budgets = TIME_BUDGET.findall(part)
        if budgets:
            return int(budgets[-1])
    return float(payload.get("maxRunTime", 0))


def _with_budget(command: Any) -> Any:
    """docker-worker has a list of strings, generic-worker a list of such lists."""
    if isinstance(command, str):
        return TIME_BUDGET.sub(_lowered, command)
    return [_with_budget(part) for part in command]


def _lowered(match: re.Match[str]) -> str:
    option = match[0].removesuffix(match[1])
    return f"{option}{min(int(match[1]), QUICK_BUDGET_S)}"


def _strings(command: Any) -> list[str]:
    if isinstance(command, str):
        return [command]
    return [text for part in command for text in _strings(part)]
