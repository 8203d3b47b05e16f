# SPDX-License-Identifier: MPL-2.0
"""The report's task: its stanza, its command, and its time.

It runs after the pools' tasks, also if these fail. The command is an ordinary
`io-benchmark compare`. IO_BENCHMARK_REPORT_OF, IO_BENCHMARK_REPORT_PYTHON and
IO_BENCHMARK_ARTIFACTS are for trying it elsewhere; on a worker they are not set.

If no worker takes a task, the queue resolves it at its deadline. Only then does the report become
pending. With the same deadline, the report would be resolved at that moment without a run.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import voluptuous
from taskgraph.transforms.base import TransformSequence
from taskgraph.util.time import value_of

from io_benchmark_taskgraph.engines import check_takes_image
from io_benchmark_taskgraph.mistakes import (
    BadKeyError,
    accept,
    checked,
    choice,
    form,
    in_task,
    plain,
    quoted,
    there_are,
    whole_number,
)
from io_benchmark_taskgraph.parameters import JOB, POOL_ATTRIBUTE
from io_benchmark_taskgraph.stanza import ARTIFACTS_PATH
from io_benchmark_taskgraph.transforms import Tasks, check_text, gate_verdict

STANZA = "report"
PYTHON = "/opt/io-benchmark/bin/python3"  # in the image io-benchmark-report
PROGRAM = f'"${{IO_BENCHMARK_REPORT_PYTHON:-{PYTHON}}}"'
FOLDER = "io-benchmark"
# How the command of each task begins that has the program.
FIRST_LINES = (
    "set -e",
    f'artifacts="${{IO_BENCHMARK_ARTIFACTS:-{ARTIFACTS_PATH}}}"',
    f'mkdir -p "$artifacts/{FOLDER}"',
)
# What is written, by the format's name, below the artifacts.
FILES = {
    "html": f"{FOLDER}/report.html",
    "markdown": f"{FOLDER}/report.md",
    "json": f"{FOLDER}/report.json",
}
PRICES_FILE = f'"$artifacts/{FOLDER}/prices.json"'
# A test compares this with FORM in io_benchmark/analysis/expectations.py.
EXPECTATION = re.compile(
    r"\s*([A-Za-z0-9_.-]+(?: +[A-Za-z0-9_.-]+)*)\s*/"
    r"\s*([A-Za-z0-9_.-]+(?: +[A-Za-z0-9_.-]+)*)\s*(<|>)\s*([0-9]+(?:\.[0-9]+)?)"
    r"(?:\s+on\s+([A-Za-z0-9_.-]+(?:(?: |\s*,\s*)[A-Za-z0-9_.-]+)*))?\s*"
)
# For the steps after waiting: reading results, comparing, drawing, uploading.
MARGIN_S = 600
NO_POOLS = "no kind among kind-dependencies has pools; name io-benchmark"
_MINUTE_S = 60
_DAY_S = 24 * 60 * _MINUTE_S
# The queue looks for tasks past their deadline some minutes later.
RESOLVING_S = 20 * _MINUTE_S
# The queue refuses a later deadline.
LATEST_S = 5 * _DAY_S


percentage = form(
    r"(?!0+(\.0+)?%)[0-9]{1,2}(\.[0-9]{1,6})?%", "is not a percentage; write one such as 2%"
)


def share(percent: str) -> float:
    """Return 0.1 for `10%`."""
    return float(percent[:-1]) / 100


def _is_expectation(value: object) -> bool:
    match = EXPECTATION.fullmatch(value) if isinstance(value, str) else None
    return match is not None and float(match.group(4)) > 0


def _is_gate(value: object) -> bool:
    """Return whether this is the expectation that a ratio is below a limit."""
    match = EXPECTATION.fullmatch(value) if isinstance(value, str) else None
    return match is not None and match.group(3) == "<" and match.group(5) is None


def _are_looks(value: object) -> bool:
    if not isinstance(value, list) or not value:
        return False
    # With one worker per pool, a look cannot estimate its error.
    are_counts = all(type(number) is int and 2 <= number <= 100 for number in value)
    return are_counts and value == sorted(set(value))


def _date(value: Any) -> str:
    try:
        # YAML reads a date as a date.
        return date.fromisoformat(str(value)).isoformat()
    except ValueError:
        problem = "is not a date; write one such as 2026-11-01"
        raise voluptuous.Invalid(f"{quoted(value)} {problem}") from None


def _are_prices(value: object) -> bool:
    if not isinstance(value, dict) or not value:
        return False
    are_names = all(isinstance(name, str) and 0 < len(name) <= 200 for name in value)
    prices = value.values()
    return are_names and all(type(price) in (int, float) and 0 < price <= 10**6 for price in prices)


# What an hour of a worker costs, by pool, worker type or type of machine.
PRICES = {
    voluptuous.Required("currency"): form(
        "[A-Z]{3}", "is not a currency's code; write one such as USD"
    ),
    voluptuous.Optional("kind"): choice(("spot", "on-demand")),
    voluptuous.Optional("date"): _date,
    voluptuous.Required("prices"): accept(
        _are_prices, "is not a mapping of names to prices above 0; write one, as {amd-16: 0.31}"
    ),
}
SCHEMA = voluptuous.Schema({
    # Wait at most this long for results that the task does not depend on: those of retriggers and
    # duplicates.
    voluptuous.Optional("wait-minutes", default=30): whole_number(0, 720),
    # The pool that the other pools are compared with.
    voluptuous.Optional("baseline"): form("(?s:.+)", "is not a pool's name"),
    # Differences within this count as equivalent.
    voluptuous.Optional("margin"): percentage,
    # Workers per pool at each planned comparison.
    voluptuous.Optional("looks"): accept(
        _are_looks, "is not a rising list of numbers from 2 to 100; write one, as [3, 6, 12]"
    ),
    voluptuous.Optional("prices"): PRICES,
    # The task fails unless these pass; they say which pools are compared, and GitHub shows them.
    voluptuous.Optional("gates", default=list): accept(
        lambda value: isinstance(value, list) and all(map(_is_gate, value)),
        "is not a list of gates; write one, as ['amd-16-alpha/amd-16<1.1']",
    ),
    # The task fails unless the interval meets these.
    voluptuous.Optional("expectations", default=list): accept(
        lambda value: isinstance(value, list) and all(map(_is_expectation, value)),
        "is not a list of expectations; write one, as ['amd-30/intel<1.05 on sync-write']",
    ),
})


def _sides(expectation: str) -> tuple[str, str]:
    """Return the candidate and the baseline."""
    candidate, baseline, _limit = re.split("[/<>]", expectation)
    return candidate.strip(), baseline.strip()


def checked_stanza(
    stanza: object, pools: Collection[str], named_baseline: str | None = None
) -> dict[str, Any]:
    """Return the stanza with defaults; refuse unknown pools. The tasks may name a baseline."""
    settings = checked(SCHEMA, stanza, STANZA)
    if not pools:
        raise BadKeyError(STANZA, NO_POOLS)
    # As `io-benchmark compare` chooses it.
    baseline = settings.get("baseline", named_baseline or max(pools))
    if baseline not in pools:
        problem = f"{quoted(baseline)} is not a pool; {there_are(sorted(set(pools)), baseline)}"
        raise BadKeyError(f"{STANZA}.baseline", problem)
    if settings["gates"]:
        for key in ("baseline", "margin", "expectations"):
            if settings.get(key):
                problem = f"cannot be combined with {STANZA}.{key}; a gate names both pools, and"
                raise BadKeyError(f"{STANZA}.gates", f"{problem} how much slower one may be")
    for gate in settings["gates"]:
        for name in _sides(gate):
            if name not in pools:
                problem = f"{quoted(gate)}: {quoted(name)} is not a pool"
                there = there_are(sorted(set(pools)), name)
                raise BadKeyError(f"{STANZA}.gates", f"{problem}; {there}")
    candidates = sorted(set(pools) - {baseline})
    for expectation in settings["expectations"]:
        candidate, against = _sides(expectation)
        if against != baseline or candidate not in candidates:
            raise BadKeyError(
                f"{STANZA}.expectations",
                f"{quoted(expectation)}: the pools are compared with {plain(baseline)}; write "
                f"CANDIDATE/{plain(baseline)} or change {STANZA}.baseline; {there_are(candidates)}",
            )
    return settings


def write_prices(prices: dict[str, Any]) -> str:
    """Return the line that publishes prices next to the report that uses them."""
    text = json.dumps(prices, sort_keys=True)
    return f"printf '%s\\n' {shlex.quote(text)} > {PRICES_FILE}"


def report_command(settings: dict[str, Any], python: str = PROGRAM) -> str:
    """Return the whole command, for `bash -c`; `python` starts a Python that has the program."""
    gates = settings["gates"]
    lines = [*FIRST_LINES]
    if gates:
        lines.append(gate_verdict.BEFORE)
    group = '"${IO_BENCHMARK_REPORT_OF:-group:$TASK_GROUP_ID}"'
    words = [
        f"{'' if gates else 'exec '}{python} -u -m io_benchmark.cli compare",
        f"{group} --wait {settings['wait-minutes']} --partial",
    ]
    options = {**settings, "looks": ",".join(map(str, settings.get("looks", ())))}
    words += (
        f"--{name} {shlex.quote(options[name])}"
        for name in ("baseline", "margin", "looks")
        if options.get(name)
    )
    if "prices" in settings:
        lines.append(write_prices(settings["prices"]))
        words.append(f"--prices {PRICES_FILE}")
    # With an equals sign, because a value may begin with a hyphen.
    words += (f"--gate={shlex.quote(gate)}" for gate in gates)
    words += (f"--expect={shlex.quote(expectation)}" for expectation in settings["expectations"])
    words += (f'--write {name}="$artifacts/{path}"' for name, path in FILES.items())
    command = " \\\n  ".join(words)
    if gates:
        return "\n".join([*lines, f"{command} || status=$?", gate_verdict.after(FILES["markdown"])])
    return "\n".join([*lines, command]) + "\n"


def set_times(task: dict[str, Any], pools: Sequence[Any], steps: int = 1) -> None:
    """Set the task's `deadline-after` and `expires-after` by those of the pools' tasks.

    `steps` is how many tasks run after these one by one, with this task as the last.

    The queue refuses a task that expires before its deadline, or whose dependency does.
    """

    def seconds(pool: Any, key: str) -> int:
        return int(value_of(pool.task[key]["relative-datestamp"]).total_seconds())

    # taskgraph's own default for a task is a day: how long it may wait for a worker, and run.
    own_s = max(_DAY_S, RESOLVING_S + task["worker"]["max-run-time"])
    deadline_s = max(seconds(pool, "deadline") for pool in pools) + steps * own_s
    first = min(pools, key=lambda pool: seconds(pool, "expires"))
    task["deadline-after"] = f"{min(deadline_s, LATEST_S, seconds(first, 'expires'))} seconds"
    task["expires-after"] = first.task["expires"]["relative-datestamp"]


def _named_baseline(measuring: Mapping[str, Any]) -> str | None:
    """Return the baseline that the pools' tasks name; None where none or several are named."""
    extras = (task.task.get("extra", {}).get(JOB, {}) for task in measuring.values())
    named = {extra["baseline"] for extra in extras if "baseline" in extra}
    return named.pop() if len(named) == 1 else None


def tasks_of_pools(config: Any) -> dict[str, Any]:
    """Return the pools' tasks among the tasks of other kinds, by label."""
    return {
        task.label: task
        for task in config.kind_dependencies_tasks.values()
        if POOL_ATTRIBUTE in task.attributes
    }


def come_after(task: dict[str, Any], labels: Iterable[str]) -> None:
    """Let a task run after those with these labels that are in its push, also if they fail."""
    # Soft dependencies select no other tasks.
    task["soft-dependencies"] = sorted(labels)
    task["requires"] = "all-resolved"


def _make_report(config: Any, tasks: Tasks) -> Tasks:
    measuring = tasks_of_pools(config)
    pools = [task.attributes[POOL_ATTRIBUTE] for task in measuring.values()]
    for task in tasks:
        with in_task(config, task):
            check_takes_image(config.graph_config, task.get("worker-type"))
            settings = checked_stanza(task.pop(STANZA, None), pools, _named_baseline(measuring))
            needed_s = settings["wait-minutes"] * _MINUTE_S + MARGIN_S
            limit_s = task.get("worker", {}).get("max-run-time")
            # A task that is stopped at its limit uploads nothing.
            if type(limit_s) is not int or limit_s < needed_s:
                raise BadKeyError(
                    "worker.max-run-time",
                    f"{quoted(limit_s)} does not hold {settings['wait-minutes']} minutes of "
                    f"waiting and {MARGIN_S} s for the rest; raise it to {needed_s} or lower "
                    f"{STANZA}.wait-minutes",
                )
        if settings["gates"]:
            artifacts = task["worker"].get("artifacts", [])
            task["worker"]["artifacts"] = [*artifacts, check_text.ARTIFACTS]
        set_times(task, list(measuring.values()))
        if "treeherder" not in config.graph_config:
            task.pop("treeherder", None)
        come_after(task, measuring)
        task.setdefault("run", {})["command"] = report_command(settings)
        yield task


transforms = TransformSequence([_make_report])
