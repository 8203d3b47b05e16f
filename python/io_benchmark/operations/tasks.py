# SPDX-License-Identifier: MPL-2.0
"""Compare the runs of real tasks: read them, name the sides, and compare them label by label."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime

from msgspec import field
from msgspec.structs import replace

from io_benchmark import command_lines
from io_benchmark.analysis.explaining.causes import RULES_BY_NAME
from io_benchmark.analysis.investigation.investigation_model import Reason
from io_benchmark.analysis.investigation.report_findings import explain
from io_benchmark.analysis.model.cause import Change, Resource
from io_benchmark.analysis.model.plan import AFTER, BEFORE, Plan
from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.tasks.compare_tasks import compare_tasks as analyse
from io_benchmark.analysis.tasks.difference_model import ComparedPhases
from io_benchmark.analysis.tasks.ranking import ExplainedRanking, RankedLabel, RunTotals
from io_benchmark.analysis.tasks.task_model import ExplainedTasks, TaskReport
from io_benchmark.context import Context
from io_benchmark.costs.worker_time import Price
from io_benchmark.number_text import listed
from io_benchmark.operations.compare import compare_pools, read_workers
from io_benchmark.operations.phases import LogChoice, compare_logs, rank_phases
from io_benchmark.results.format import SLUG_PATTERN
from io_benchmark.sources.gather import Gathered, gather_task_runs
from io_benchmark.sources.protocol import RunQuery
from io_benchmark.sources.run_results import TaskRun
from io_benchmark.text import clean

_NAMED = 4  # pools in a message
_NAME_LENGTH = 60
_COMMAND_LENGTH = 100  # a wide terminal has it on one line


def compare_task_runs(
    context: Context,
    addresses: Sequence[str],
    *,
    against: Sequence[str],
    label: re.Pattern[str] | None,
    pools: Sequence[str],
    since: date | None,
    baseline: str | None,
    margin: float,
    prices: Mapping[str, Price],
    logs: LogChoice | None = None,
    on: Sequence[str] = (),
    across_systems: bool = False,
) -> ExplainedTasks:
    """Compare the runs of each label between pools, or with those at the addresses of `against`.

    With `logs` also compare the phases of runs; results at `on` show whether CPUs are slower.
    """
    groups = {BEFORE: against, AFTER: addresses} if against else {"": addresses}
    readings = {
        when: _read_runs(group, context, label, pools, since) for when, group in groups.items()
    }
    names = side_names({run.pool for reading in readings.values() for run in reading.results})
    sides: dict[str, list[TaskRun]] = {}
    for when, reading in readings.items():
        end = f" {when}" if when else ""
        for run in reading.results:
            sides.setdefault(f"{names[run.pool]}{end}", []).append(run)
    unreadable = [line for reading in readings.values() for line in reading.unreadable]
    remarks = [line for reading in readings.values() for line in reading.remarks]
    if against:
        both = [
            pool for pool in names.values() if {f"{pool} {BEFORE}", f"{pool} {AFTER}"} <= set(sides)
        ]
        plan = Plan.before_and_after(both or names.values())
    else:
        remarks += _leave_out_lone_pools(names, sides)
        first = {names[pool] for pool in readings[""].first if pool in names}
        # A user may name the baseline with its provisioner.
        plan = Plan.of_pools(names.values(), names.get(baseline or "", baseline), first=first)
    report = analyse(
        plan,
        sides,
        margin=margin,
        prices=prices,
        unreadable=unreadable,
        remarks=remarks,
        across_systems=across_systems,
    )
    if logs is not None and report.comparisons:
        workers = read_workers(on, context).results if on else ()
        report = replace(report, phases=_compare_phases(context, report, sides, logs, workers))
    runs = [run for reading in readings.values() for run in reading.results]
    return ExplainedTasks(
        **{name: getattr(report, name) for name in TaskReport.__struct_fields__},
        addresses=(*against, *addresses),
        days=_days(runs),
    )


def _compare_phases(
    context: Context,
    report: TaskReport,
    sides: Mapping[str, Sequence[TaskRun]],
    logs: LogChoice,
    workers: Sequence[Worker],
) -> ComparedPhases:
    """Compare the phases of the report's pairs by logs of their runs."""
    pairs = [(pair.candidate, pair.baseline) for pair in report.comparisons]
    compared = compare_logs(context, pairs, sides, logs)
    queues = {side.side: side.queue for side in report.sides}
    return replace(
        compared,
        pairs=tuple(
            pair.on_cpus
            if _has_slower_cpus(workers, queues[pair.candidate], queues[pair.baseline])
            else pair
            for pair in compared.pairs
        ),
    )


def _days(runs: Iterable[TaskRun]) -> tuple[str, ...]:
    """Return the days of the first and the last start of a run."""
    starts_ms = [run.started_ms for run in runs if run.started_ms >= 0]
    if not starts_ms:
        return ()
    return tuple(dict.fromkeys(_day(time_ms) for time_ms in (min(starts_ms), max(starts_ms))))


class _TotalsQuery(RunQuery, kw_only=True):
    """Keeps sums of the runs alone, so that a million of them has room."""

    totals: RunTotals = field(default_factory=RunTotals)

    def keep(self, run: TaskRun, address: int) -> None:  # noqa: ARG002
        self.totals.add(run)
        count = len(self.totals.seen)
        if count % 1000 == 0:
            self.progress("reading runs", count, None)


def rank_labels(
    context: Context,
    addresses: Sequence[str],
    *,
    label: re.Pattern[str] | None,
    pools: Sequence[str],
    since: date | None,
    prices: Mapping[str, Price],
    on: Sequence[str],
    logs: LogChoice | None = None,
) -> ExplainedRanking:
    """Rank labels by what their slower pools cost, with the causes that results at `on` show."""
    with context.progress() as progress:
        environment = context.environment
        query = _TotalsQuery(environment, progress, label=label, pools=tuple(pools), since=since)
        totals = query.totals
        totals.samples = None if logs is None else {}
        reading = gather_task_runs(addresses, query)
    ranking = totals.ranking(prices)
    workers = read_workers(on, context).results if on else ()
    pairs = {(row.pool, row.reference) for row in ranking.labels}
    causes = {(pool, reference): _cause(workers, pool, reference) for pool, reference in pairs}
    labels = [replace(row, cause=causes[row.pool, row.reference]) for row in ranking.labels]
    remarks = list(reading.remarks)
    if logs is not None and labels:
        labels, notes = rank_phases(context, labels, totals.samples or {}, logs)
        remarks += notes
    if totals.unusable:
        count = f"{totals.unusable:,}"
        remarks.append(f"runs whose times contradict each other: {count}; they are left out")
    return ExplainedRanking(
        days=ranking.days,
        compared=ranking.compared,
        labels=tuple(labels),
        pools=ranking.pools,
        unreadable=reading.unreadable,
        remarks=tuple(remarks),
        addresses=tuple(addresses),
        first_day=_day(totals.first_ms),
        last_day=_day(totals.last_ms),
        next_commands=tuple(
            _next_command(row, totals.newest[row.label, row.pool][1], addresses) for row in labels
        ),
    )


def _day(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000, UTC).date().isoformat()


def _next_command(row: RankedLabel, task_id: str, addresses: Sequence[str]) -> str:
    """Return the command that looks into a label on a pool; nothing if it cannot be typed."""
    # An id belongs to the deployment of the environment, and a web address may have another one.
    is_of_environment = all("://" not in address for address in addresses)
    if is_of_environment and re.fullmatch(SLUG_PATTERN, task_id):
        return command_lines.investigate_task(task_id)
    pools = (row.reference, row.pool)
    command = command_lines.compare_label(addresses, row.label, pools)
    # A report shows it on one line and as code, in which names are cleaned.
    is_shown = len(command) <= _COMMAND_LENGTH and clean(command) == command
    is_option = any(pool.startswith("-") for pool in pools)
    return "" if is_option or not is_shown or set("`|") & set(command) else command


def _cause(workers: Sequence[Worker], queue: str, reference_queue: str) -> str:
    """Return the causes for which a pool is slower in the benchmark; nothing if none is known."""
    reasons = _reasons(workers, queue, reference_queue)
    causes = [f"{reason.cause.name} ({reason.cause.state})" for reason in reasons]
    return ", ".join(dict.fromkeys(causes))


def _reasons(workers: Sequence[Worker], queue: str, reference_queue: str) -> Sequence[Reason]:
    """Return why a pool is slower in the benchmark, where it has both pools."""
    names = pools_by_queue(workers)
    pool, reference = pool_of(queue, names), pool_of(reference_queue, names)
    if pool is None or reference is None or pool == reference:
        return ()
    both = [worker for worker in workers if worker.pool in (pool, reference)]
    return explain(compare_pools(both, reference), pool, reference).reasons


def _has_slower_cpus(workers: Sequence[Worker], queue: str, reference_queue: str) -> bool:
    """Return whether CPUs alone are why a pool is slower in the benchmark."""
    changes = [
        RULES_BY_NAME[reason.cause.name].change
        for reason in _reasons(workers, queue, reference_queue)
        if reason.cause.name in RULES_BY_NAME
    ]
    return bool(changes) and all(
        isinstance(change, Change) and change.limits is Resource.CPU for change in changes
    )


def pools_by_queue(workers: Iterable[Worker]) -> dict[str, str]:
    """Return the benchmark's names of the workers' pools by their queues."""
    return {worker.queue_or_pool: worker.pool for worker in workers}


def pool_of(queue: str, pools: Mapping[str, str]) -> str | None:
    """Return the benchmark's name of a worker pool: by its queue, else by its worker type."""
    if queue in pools:
        return pools[queue]
    worker_type = queue.rpartition("/")[2]
    same = {pool for name, pool in pools.items() if name.rpartition("/")[2] == worker_type}
    if not same and worker_type in pools.values():
        return worker_type
    return same.pop() if len(same) == 1 else None


def _read_runs(
    addresses: Sequence[str],
    context: Context,
    label: re.Pattern[str] | None,
    pools: Sequence[str],
    since: date | None,
) -> Gathered[TaskRun]:
    environment = context.environment
    with context.progress() as progress:
        query = RunQuery(environment, progress, label=label, pools=tuple(pools), since=since)
        return gather_task_runs(addresses, query)


def side_names(queues: Collection[str]) -> dict[str, str]:
    """Return a side's name by worker pool: without the provisioner where that is not ambiguous.

    A table may name a pool without it; that is the same pool.
    """
    types = {queue: queue.rpartition("/")[2] for queue in sorted(queues)}
    pools_of_type = Counter(name for queue, name in types.items() if "/" in queue)
    names = {}
    for queue, worker_type in types.items():
        is_ambiguous = pools_of_type[worker_type] > 1
        names[queue] = queue if is_ambiguous or not worker_type else worker_type
    return names


def _leave_out_lone_pools(names: dict[str, str], sides: dict[str, list[TaskRun]]) -> list[str]:
    """Remove pools that share no label with another, unless all do; return a message about them."""
    labels = {
        side: {run.label for run in runs if run.state == "completed"}
        for side, runs in sides.items()
    }
    sides_of_label = Counter(label for side_labels in labels.values() for label in side_labels)
    lone = sorted(
        side for side in sides if all(sides_of_label[label] == 1 for label in labels[side])
    )
    if not lone or len(lone) == len(sides):
        return []
    for queue, side in list(names.items()):
        if side in lone:
            del names[queue]
            sides.pop(side, None)
    names_of_pools = listed([clean(side, _NAME_LENGTH) for side in lone], _NAMED)
    return [f"pools without a label that another pool has are left out: {names_of_pools}"]
