# SPDX-License-Identifier: MPL-2.0
"""Documents of the seed's case as the workers that the analysis takes."""

import json
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import sample_report
import seed_case
import workload_entries
from msgspec.structs import replace

from io_benchmark import results
from io_benchmark.analysis.compare import compare
from io_benchmark.analysis.comparing.pairs import Options
from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.deciding import judge
from io_benchmark.analysis.model.cause import Cause, TrialOutcome
from io_benchmark.analysis.model.comparison import Interval, Problem, Verdict
from io_benchmark.analysis.model.figures import Detail
from io_benchmark.analysis.model.measurement import OtherMeasurement
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.model.pool_machine import PoolMachine
from io_benchmark.analysis.model.report import SampledReport
from io_benchmark.analysis.model.run import Run, Worker
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.statements import Statement
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.reading.intake import worker_of
from io_benchmark.costs.worker_time import NO_PRICES, Price
from io_benchmark.report.content import evidence_text, text_of
from io_benchmark.sources.run_results import RunResult

SUBJECT = Subject("cache-retrieve", "workspace", "overwrite", "seed")


def worker(document: Mapping[str, Any], side: str = "{pool}") -> Worker:
    """Through the format's own reader, with what the queue would say of the run."""
    result = results.parse(json.dumps(document).encode(), "document")
    task = seed_case.record(document)
    measured = RunResult(result=result, task=task, source="document")
    return worker_of(measured, side.format(pool=task.pool))


def workers(*arguments: Any, side: str = "{pool}", **keywords: Any) -> list[Worker]:
    """What `seed_case.documents` builds, grouped under `side`."""
    return [worker(document, side) for document in seed_case.documents(*arguments, **keywords)]


def workers_of(documents: Iterable[Mapping[str, Any]]) -> dict[str, list[Worker]]:
    """By pool, in the documents' order."""
    sides: dict[str, list[Worker]] = {}
    for document in documents:
        one = worker(document)
        sides.setdefault(one.pool, []).append(one)
    return sides


def slowed(entry: Run, factor: float) -> Run:
    """With all times so many times as long."""
    return replace(entry, total_ns=array("q", [int(factor * ns) for ns in entry.total_ns]))


def causes_of(
    change: seed_case.Change | None = None,
    *,
    ratio: float | None = 1.92,
    candidate: str = "amd-16",
    baseline: str = "intel",
    workers: int = 1,
    subject: Subject = SUBJECT,
    measurements: Sequence[OtherMeasurement] = (),
    trials: Sequence[TrialOutcome] = (),
    defined: Mapping[str, PoolMachine] | None = None,
) -> dict[str, Cause]:
    """The causes of one pair of pools, by name; `defined` has what their definitions say."""
    pools: Sequence[str] = (baseline, candidate)
    made = workers_of(seed_case.documents(workers, pools=pools, change=change))
    sides = {
        pool: [replace(worker, defined=(defined or {}).get(pool)) for worker in of_pool]
        for pool, of_pool in made.items()
    }
    of_baseline, of_candidate = (Side.of_workers(sides[pool], subject) for pool in pools)
    case = Case.of(subject, ratio, of_baseline, of_candidate, measurements)
    return {cause.name: cause for cause in judge(case, trials)}


def measurement(
    workload: str,
    variant: str,
    slower_ms: float,
    name: str = "",
    value: float = 0,
    threads: int = 0,
    *,
    faster: float = 4.0,
    faster_ms: float = 1.0,
    place: str = SUBJECT.place,
    verdict: Verdict = Verdict.SLOWER,
) -> OtherMeasurement:
    """amd-16 is slower than intel; each has a figure of this name."""
    of_faster, of_slower = (
        sample_report.figures(ms, details=(Detail(name, "", figure, "", True),))
        for ms, figure in ((faster_ms, faster), (slower_ms, value))
    )
    subject = Subject(workload, place, variant=variant, threads=threads)
    compared = sample_report.comparison(
        ratio=slower_ms / faster_ms, interval=Interval(1.0, 2.0, 0.95), verdict=verdict
    )
    return OtherMeasurement(replace(compared, subject=subject), of_faster, of_slower)


def measured(
    slower: Mapping[str, float] | None = None, **keywords: Any
) -> Mapping[str, Callable[[Any], Any]]:
    """A change of a document: entries of the other workloads in addition to cache-retrieve's."""
    added = workload_entries.entries(slower, **keywords)
    return {"workloads": lambda entries: [*entries, *added]}


def plan_of(sides: Iterable[str], baseline: str = "intel") -> Plan:
    """Compare all other sides with the baseline."""
    candidates = [side for side in sides if side != baseline]
    pairs = tuple((candidate, baseline) for candidate in candidates)
    return Plan(f"{', '.join(candidates)} against {baseline}", baseline, "for the test", pairs)


def report_of(
    measured: Sequence[Worker],
    baseline: str = "intel",
    lost: Sequence[str] = (),
    prices: Mapping[str, Price] = NO_PRICES,
    **options: Any,
) -> SampledReport:
    """Compare the workers' sides with the baseline."""
    plan = plan_of(sorted({worker.side for worker in measured}), baseline)
    return compare(plan, measured, Options(**options), prices=prices, lost=lost)


def compared(change: seed_case.Change, count: int = 1, **keywords: Any) -> SampledReport:
    """Compare the pools that are changed with intel."""
    return report_of(workers(count, pools=tuple(change), change=change, **keywords))


def broken(report: SampledReport, rule: str) -> list[Problem]:
    return [problem for problem in report.problems if problem.rule == rule]


def candidate_text(cause: Cause) -> str:
    return evidence_text(cause.candidate_evidence)


def explanation_text(cause: Cause) -> str:
    return " ".join(map(text_of, cause.explanation))


def texts(cause: Cause) -> tuple[str, str, str]:
    """Everything that a report writes about the cause: each template has all its values."""
    return evidence_text(cause.baseline_evidence), candidate_text(cause), explanation_text(cause)


def remedy_text(evidence: Sequence[Statement]) -> str:
    return " ".join(map(text_of, evidence))
