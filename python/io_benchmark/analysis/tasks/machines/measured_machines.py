# SPDX-License-Identifier: MPL-2.0
"""What results of the benchmark say about a slow machine, compared with others of its pool.

A result belongs to a machine by the worker's name, `GROUP/ID`; by the id alone where only one
machine has it, because a table may leave out the group.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from io_benchmark.analysis.model.comparison import Interval
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.run import UNKNOWN, Worker
from io_benchmark.analysis.model.statements import Statement, count, statement
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.reading.machines import FactValue, MachineMarks, facts_of
from io_benchmark.analysis.statistics.levels import LEVEL
from io_benchmark.analysis.statistics.variances import MeanVariance
from io_benchmark.analysis.tasks.machines.machine_model import MeasuredMachine, MeasuredRatio

_FEWEST_OTHERS = 3  # two other machines do not show which is usual
_LEAST_VARIATION = 0.02  # of machines; few may agree by chance
_MOST_ALIKE = 0.2  # a fact is unusual if at most this part of the others has it
_FEWEST_WITH_FACT = 0.5  # of the others
_NOT_FACTS = ("script", "task queue", "image")
_MANY_THROTTLED = 1000
_Machines = Mapping[str, Sequence[Worker]]


def machines_of(workers: Sequence[Worker]) -> dict[str, list[Worker]]:
    """Return the results of a pool by the names of their machines."""
    by_machine = grouped(MachineMarks.identify(workers), lambda worker: worker.machine)
    return {
        worker.worker_id: results
        for results in by_machine.values()
        for worker in results
        if worker.worker_id != UNKNOWN
    }


def measured_machine(name: str, machines: _Machines) -> MeasuredMachine | None:
    """Compare the machine of this name with the others; None where it has no result."""
    key = name if name in machines else ""
    if not key:
        same = [
            known_name
            for known_name in machines
            if known_name.rpartition("/")[2] == name.rpartition("/")[2]
        ]
        key = same[0] if len(same) == 1 else ""
    if not key:
        return None
    results = machines[key]
    rest = [rest_results for rest_results in machines.values() if rest_results is not results]
    return MeasuredMachine(
        results=len(results),
        other_machines=len(rest),
        measurements=tuple(_ratios(results, rest)),
        differences=tuple(_differences(results, rest)),
    )


def _ratios(results: Sequence[Worker], rest: Sequence[Sequence[Worker]]) -> Iterator[MeasuredRatio]:
    """Yield each measurement that enough machines have, with what is usual for one of these."""
    own_logs = _log_means(results)
    logs_of_rest = [_log_means(rest_results) for rest_results in rest]
    level = 1 - (1 - LEVEL) / max(1, len(own_logs))
    for subject, log in own_logs.items():
        logs = [rest_results[subject] for rest_results in logs_of_rest if subject in rest_results]
        if len(logs) < _FEWEST_OTHERS:
            continue
        seen = MeanVariance.of_values(logs)
        variance = max(seen.variance, _LEAST_VARIATION**2) * (1 + 1 / len(logs))
        width = MeanVariance(variance, seen.degrees).half_width(level)
        ratio = math.exp(log - fmean(logs))
        usual = Interval(math.exp(-width), math.exp(width), level)
        yield MeasuredRatio(
            str(subject), ratio, usual, not usual.low_ratio <= ratio <= usual.high_ratio
        )


def _log_means(results: Sequence[Worker]) -> dict[Subject, float]:
    """Return ln of the mean time of each measurement of a machine, over its results."""
    logs: dict[Subject, list[float]] = {}
    for worker in results:
        for run in worker.runs:
            if run.is_measured:
                logs.setdefault(run.subject, []).append(math.log(run.mean_ns))
    return {subject: fmean(values) for subject, values in logs.items()}


def _differences(
    results: Sequence[Worker], rest: Sequence[Sequence[Worker]]
) -> Iterator[Statement]:
    """Yield the facts that the machine has, and hardly any other machine of its pool."""
    facts = _facts(results)
    facts_of_rest = [_facts(rest_results) for rest_results in rest]
    for name, value in facts.items():
        values = [rest_results[name] for rest_results in facts_of_rest if name in rest_results]
        if len(values) < max(_FEWEST_OTHERS, _FEWEST_WITH_FACT * len(rest)):
            continue
        if values.count(value) <= _MOST_ALIKE * len(values):
            usual = max(values, key=values.count)
            template = "{fact}: {value} (usual: {usual}, on {alike} of {others})"
            yield statement(
                template,
                fact=name,
                value=_written(value),
                usual=_written(usual),
                alike=count(values.count(usual)),
                others=count(len(values)),
            )


def _written(value: FactValue) -> str:
    return value if isinstance(value, str) else ",".join(value)


def _facts(results: Sequence[Worker]) -> dict[str, FactValue]:
    """Return the facts of a machine by its newest result."""
    worker = max(results, key=lambda result: result.started)
    facts: dict[str, FactValue] = {}
    for place in worker.result.storage.places:
        place_facts = dict(facts_of(worker.result, place.name, None, None))
        for name, value in place_facts.items():
            is_new = facts.setdefault(name, value) == value
            if not is_new:
                facts[f"{name} of {place.name}"] = value
    host = worker.result.host
    if host is not None and host.firmware is not None:
        facts["firmware"] = host.firmware
    if host is not None and host.cpu_governor is not None:
        facts["CPU governor"] = host.cpu_governor
    if host is not None and host.cpu_throttle_count is not None:
        facts["CPU throttled since its boot"] = _throttled(host.cpu_throttle_count)
    return {name: value for name, value in facts.items() if name not in _NOT_FACTS}


def _throttled(times: int) -> str:
    """Return how often: the number itself differs on every machine."""
    if not times:
        return "never"
    return "1,000 times or more" if times >= _MANY_THROTTLED else "less than 1,000 times"
