# SPDX-License-Identifier: MPL-2.0
"""Every command that a report or a message tells people to type: no other module writes one.

A test gives each function values, and parses the command with the program's own parser. A value is
quoted for a shell, because names come from anywhere.
"""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path


def confirm_causes(group_id: str, baseline_or_gates: str | Sequence[str] | None) -> str:
    """Create the runs that confirm the causes which a group's results support."""
    return _line("submit", *_question(baseline_or_gates), "--confirm", _group(group_id))


def resume_group(
    group_id: str,
    baseline_or_gates: str | Sequence[str] | None,
    budget_hours: int | None = None,
) -> str:
    """Go on with a group of --until-decided."""
    budget = () if budget_hours is None else ("--budget", str(budget_hours))
    return _line("submit", *_question(baseline_or_gates), "--resume", _group(group_id), *budget)


def cancel_group(group_id: str) -> str:
    return _line("submit", "--cancel", _group(group_id))


def compare_group(group_id: str, gates: Sequence[str] = ()) -> str:
    return _line("compare", _group(group_id), *_question(gates))


def compare_group_when_done(group_id: str) -> str:
    """Wait an hour at most, then compare."""
    return _line("compare", _group(group_id), "--wait", "60")


def compare_results(candidate: str, baseline: str) -> str:
    """Compare the results of two pools."""
    return _line("compare", candidate, baseline)


def history_in_folder(pool: str, folder: str) -> str:
    return _line("history", pool, folder)


def predict_on_group(group_id: str) -> str:
    """Predict a profile, which is to be named, on the pools of a group."""
    return _line("predict", "PROFILE", "--on", _group(group_id))


def measure_capacities(pool: str, places: Sequence[str] = ()) -> str:
    """Measure all that predictions use, on a machine of the pool; /PATH is to be replaced."""
    options = [option for place in places for option in ("--place", f"{place}=/PATH")]
    file = ("python3", "io-benchmark.pyz")  # the one file, which measures a machine
    return shlex.join((*file, "run", "--pool", pool, *options, "--capacities"))


def submit_capacities(pools: Sequence[str]) -> str:
    """Measure all that predictions use, on Taskcluster."""
    return _line("submit", "--capacities", "-j", ",".join(pools))


def submit_everything(pools: Sequence[str]) -> str:
    """Measure all workloads, on Taskcluster."""
    return _line("submit", "-j", ",".join(f"io-benchmark-all-{pool}" for pool in pools))


def show_everything(address: str | Path, gates: Sequence[str] = ()) -> str:
    return _line("compare", str(address), *_question(gates), "--details")


def compare_tasks_before_and_after() -> str:
    """Compare real tasks after a change with those before; both are to be replaced."""
    return _line("tasks", "AFTER", "--against", "BEFORE")


def compare_label(addresses: Sequence[str], label: str, pools: Sequence[str]) -> str:
    """Compare one label's real tasks on these pools."""
    # A hyphen has no meaning outside of brackets.
    pattern = re.escape(label).replace(r"\-", "-")
    options = [word for pool in pools for word in ("--pool", pool)]
    return _line("tasks", *addresses, "--label", f"^{pattern}$", *options)


def investigate_task(task_id: str) -> str:
    """Find out why a task is slow."""
    return _line("investigate", f"task:{task_id}")


def write_script(file: str) -> str:
    """Write the one file that measures a machine."""
    return _line("script", "-o", file)


def rehearse(tree: Path | None = None) -> str:
    root = () if tree is None else ("--root", str(tree))
    return _line("rehearse", *root)


def install_in_firefox(checkout: Path) -> str:
    return _line("firefox", str(checkout))


def _group(group_id: str) -> str:
    """Return the address, because an id alone may begin with a hyphen."""
    return f"group:{group_id}"


def _question(baseline_or_gates: str | Sequence[str] | None) -> list[str]:
    """Return the options that say what is compared."""
    if baseline_or_gates is None:
        return []
    if isinstance(baseline_or_gates, str):
        return ["--baseline", baseline_or_gates]
    return [word for gate in baseline_or_gates for word in ("--gate", gate)]


def _line(command: str, *arguments: str) -> str:
    return shlex.join(("io-benchmark", command, *arguments))
