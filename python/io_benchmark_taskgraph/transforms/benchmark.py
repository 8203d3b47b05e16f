# SPDX-License-Identifier: MPL-2.0
"""Check pools: their names, symbols, `benchmark` stanzas, and time. Then make their replicates.

From here on the stanza is a `Benchmark`.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from typing import Any

from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph import parameters
from io_benchmark_taskgraph.engines import engine_of
from io_benchmark_taskgraph.loader import POOLS_FROM
from io_benchmark_taskgraph.mistakes import BadKeyError, in_task, quoted, task_name, there_are
from io_benchmark_taskgraph.names import POOL_NAME, SYMBOL_LENGTH, symbol_with
from io_benchmark_taskgraph.stanza import CACHE_RETRIEVE, CAPACITIES_S, Benchmark
from io_benchmark_taskgraph.transforms import Tasks
from io_benchmark_taskgraph.worker_program import WorkerProgram

_SYMBOL = re.compile(r"[^()\s]{1,25}\([^()\s]{1,25}\)")
# Recorded in each result. A report with this many results of the pool needs only one look.
PLAN_VARIABLE = "IO_BENCHMARK_REPLICATES"
# The script stops this long before the limit: a task that reaches it gets no signal and uploads
# nothing.
MARGIN_S = 300
# The slowest pool to plan for; the slowest disk known here, one local SSD, writes 350 MiB/s.
SLOWEST_MIB_PER_S = 50
# What the workload cache-retrieve writes: its cache once per place, and an average file per
# retrieve. A test compares them with CACHE_SIZES_MIB in the script's workloads/cache_retrieve.py.
CACHE_MIB = 5_700
RETRIEVE_MIB = 57
# The time of trials, as a share of the time of the retrieves before them.
TRIALS_PERCENT = 15


def checked_benchmark(task: Mapping[str, Any]) -> tuple[Benchmark, int]:
    """Return what a task measures, and how much of the task's time the script may use."""
    benchmark = Benchmark.parse(task.get("benchmark"))
    limit_s = task.get("worker", {}).get("max-run-time")
    if type(limit_s) is not int or limit_s <= MARGIN_S:
        problem = f"is not a number of seconds above {MARGIN_S}; write one such as 3600"
        raise BadKeyError("worker.max-run-time", f"{quoted(limit_s)} {problem}")
    _check_duration(benchmark, limit_s - MARGIN_S)
    return benchmark, limit_s - MARGIN_S


def _check_duration(benchmark: Benchmark, budget_s: int) -> None:
    """Refuse a task that would not end in time on the slowest pool."""
    places, destinations = len(benchmark.places), len(benchmark.destinations)
    if benchmark.capacities:
        needed_s = places * CAPACITIES_S
        if needed_s > budget_s:
            raise BadKeyError(
                "benchmark",
                f"capacities x {places} place(s) may take {needed_s} s, and the time budget is "
                f"{budget_s} s; raise worker.max-run-time to {needed_s + MARGIN_S}",
            )
        return
    others = [name for name in benchmark.workloads if name != CACHE_RETRIEVE]
    needed_s = others_s = WorkerProgram.read().maximum_time_s(others, places)
    shares = [f"{', '.join(others)} x {places} place(s) may take {others_s} s"] if others else []
    fitting = 0
    if CACHE_RETRIEVE in benchmark.workloads:
        # Trials follow the retrieves that overwrite, as the script decides.
        has_trials = "overwrite" in benchmark.destinations and benchmark.trials != "never"
        percent = 100 * destinations + (TRIALS_PERCENT if has_trials else 0)
        cache_mib = places * CACHE_MIB
        retrieve_mib = Fraction(places * RETRIEVE_MIB * percent, 100)
        all_mib = cache_mib + benchmark.retrieves * retrieve_mib
        retrieves_s = math.ceil(all_mib / SLOWEST_MIB_PER_S)
        needed_s += retrieves_s
        fitting = ((budget_s - others_s) * SLOWEST_MIB_PER_S - cache_mib) // retrieve_mib
        shares.insert(
            0,
            f"{benchmark.retrieves} retrieves x {places} place(s) x {destinations} "
            f"destination(s){' with trials' if has_trials else ''} take {retrieves_s} s at "
            f"{SLOWEST_MIB_PER_S} MiB/s",
        )
    if needed_s > budget_s:
        remedy = (
            f"lower benchmark.retrieves to {fitting}" if fitting > 0 else "name fewer workloads"
        )
        raise BadKeyError(
            "benchmark",
            f"{' and '.join(shares)}, and the time budget is {budget_s} s; raise "
            f"worker.max-run-time to {needed_s + MARGIN_S} or {remedy}",
        )


def _check_names(config: Any, tasks: Tasks) -> Tasks:
    """Check that each task is named like its pool, and its symbol; without Treeherder it has none.

    With a symbol, a task could not depend on an image's task, which has none there.
    """
    pools = list(tasks)
    counts = Counter(task_name(task) for task in pools)
    for task in pools:
        name = task_name(task)
        with in_task(config, task):
            _check_name(config, task, name)
            if counts[name] > 1:
                raise BadKeyError("name", "two pools have this name; rename or remove one")
            if "treeherder" not in config.graph_config:
                task.pop("treeherder", None)
            else:
                symbol = str(task.get("treeherder", {}).get("symbol"))
                if not _SYMBOL.fullmatch(symbol):
                    problem = f"is not a group and a symbol of at most {SYMBOL_LENGTH} characters"
                    remedy = "each; write them as IOB(amd16)"
                    raise BadKeyError("treeherder.symbol", f"{quoted(symbol)} {problem} {remedy}")
        task.setdefault("attributes", {})[parameters.POOL_ATTRIBUTE] = name
        yield task


def _check_name(config: Any, task: dict[str, Any], name: str) -> None:
    if not POOL_NAME.fullmatch(name):
        problem = "is not a pool's name; write at most 45 letters, digits and ._-, no mark first"
        raise BadKeyError("name", problem)
    job = task.get("attributes", {}).get(parameters.JOB_ATTRIBUTE)
    label = f"{config.kind}-{name}-"
    jobs = [name for name in (parameters.ALL_JOB, parameters.GATE_JOB) if name != config.kind]
    # Such a label would look like a task of another kind.
    is_label_of_other = any(label.startswith(f"{other_job}-") for other_job in jobs)
    is_label = name.startswith(f"{config.kind}-") or is_label_of_other
    if is_label or name in (config.kind, job, *jobs):
        problem = "is what -j calls the job or a task's label; give the pool another name"
        raise BadKeyError("name", problem)


def _check_stanza(config: Any, tasks: Tasks) -> Tasks:
    perfherder = parameters.override(config.params, parameters.PERFHERDER)
    capacities = parameters.override(config.params, parameters.CAPACITIES)
    # What such a kind measures is the same for all pools; nobody chose it for one of them.
    has_other_pools = POOLS_FROM in config.config
    for task in tasks:
        with in_task(config, task):
            benchmark, budget_s = checked_benchmark(task)
            if capacities:
                benchmark = replace(benchmark, capacities=True)
                _check_duration(benchmark, budget_s)
            engine = engine_of(config.graph_config, task.get("worker-type"))
            benchmark = benchmark.on(engine, leaves_out=has_other_pools)
        if perfherder:
            benchmark = replace(benchmark, perfherder=perfherder)
        task["benchmark"] = benchmark
        yield task


def _name_baseline(config: Any, tasks: Tasks) -> Tasks:
    """Put the baseline into the task's definition, where a reader need not believe a worker."""
    measuring = list(tasks)
    pools = sorted(task["attributes"][parameters.POOL_ATTRIBUTE] for task in measuring)
    first = measuring[0]["benchmark"].baseline if measuring else None
    for task in measuring:
        baseline = task["benchmark"].baseline
        with in_task(config, task):
            if baseline is not None and baseline not in pools:
                problem = f"{quoted(baseline)} is not a pool; {there_are(pools, baseline)}"
                raise BadKeyError("benchmark.baseline", problem)
            if baseline != first:
                raise BadKeyError(
                    "benchmark.baseline",
                    f"{quoted(baseline)} differs from {quoted(first)} of another pool; write it "
                    "once, in task-defaults",
                )
        if baseline is not None:
            task.setdefault("extra", {})[parameters.JOB] = {"baseline": baseline}
        yield task


def _replicate(config: Any, tasks: Tasks) -> Tasks:
    """Yield `replicates` tasks of one, each with a number; a single one keeps its name."""
    replicates = parameters.override(config.params, parameters.REPLICATES)
    for task in tasks:
        count = replicates or task["benchmark"].replicates
        if count == 1:
            yield task
            continue
        for number in range(1, count + 1):
            copy, end = deepcopy(task), f"-{number}"
            copy["name"] += end
            if "treeherder" in copy:
                group, symbol = copy["treeherder"]["symbol"].rstrip(")").split("(")
                symbol = symbol_with(symbol, end)
                copy["treeherder"]["symbol"] = f"{group}({symbol})"
            copy["worker"].setdefault("env", {})[PLAN_VARIABLE] = str(count)
            yield copy


transforms = TransformSequence([_check_names, _check_stanza, _name_baseline, _replicate])
