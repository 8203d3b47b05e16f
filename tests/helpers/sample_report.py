# SPDX-License-Identifier: MPL-2.0
"""Reports that the analysis makes, for tests: the seed's case, and what it could have been."""

import math
from array import array
from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any

import seed_workers
from msgspec import Struct
from msgspec.structs import asdict, replace

from io_benchmark.analysis.compare import compare
from io_benchmark.analysis.comparing.pairs import Options
from io_benchmark.analysis.model.cause import Cause, Diagnosis
from io_benchmark.analysis.model.comparison import Comparison, Problem, Severity
from io_benchmark.analysis.model.figures import Figures
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.model.report import Report, SampledReport
from io_benchmark.analysis.model.run import Worker, WorkerLine
from io_benchmark.analysis.model.statements import Statement, statement
from io_benchmark.report.formats import Layout, rendered

POOLS = ("intel", "amd-16", "amd-30")
# A report of all causes would be long: one that holds, one that does not, one that nothing shows.
_CAUSES = ("device-count", "mount-options", "random-io")


def text(words: str) -> Statement:
    """A statement that is the text of a worker."""
    return statement("{text}", text=words)


@cache
def seed_case() -> SampledReport:
    """Seed 000: amd-16 slower for a reason, amd-30 not decided with one worker each."""
    report = compare(Plan.of_pools(POOLS, None), seed_workers.workers(), Options())
    (diagnosis, _) = report.diagnoses
    causes = tuple(cause for cause in diagnosis.causes if cause.name in _CAUSES)
    return replace(
        report,
        diagnoses=(replace(diagnosis, causes=causes),),
        problems=(
            *report.problems,
            Problem(
                "page-cache",
                Severity.WARNING,
                report.subjects[0].subject,
                ("amd-30",),
                text("drop_caches was refused; 41 % of the cache was in memory at the start"),
            ),
        ),
        remarks=(text("Medians and means agree: the copies are bound by writeback."),),
    )


def comparison(**changes: Any) -> Comparison:
    """The one that is decided: amd-16 is slower."""
    return replace(seed_case().subjects[0].comparisons[0], **changes)


def figures(mean_ms: float, **changes: Any) -> Figures:
    return replace(seed_case().subjects[0].figures["intel"], mean_ns=mean_ms * 1e6, **changes)


def cause(name: str = "device-count", **changes: Any) -> Cause:
    return replace(
        next(each for each in seed_case().diagnoses[0].causes if each.name == name), **changes
    )


def with_diagnosis(**changes: Any) -> SampledReport:
    """The seed's case with other causes or remedies of its difference."""
    (diagnosis,) = seed_case().diagnoses
    return replace(seed_case(), diagnoses=(replace(diagnosis, **changes),))


def worker(side: str, number: int, **changes: Any) -> WorkerLine:
    """A run of a machine of its own."""
    line = replace(
        next(line for line in seed_case().workers if line.side == side),
        task_id=f"Task{number:018d}",
        worker_id=f"us-central1-a/{4_000_000_000_000_000_000 + number}",
        source=f"results/Task{number:018d}.0/io-benchmark.json",
    )
    return replace(line, machine=line.worker_id, **changes)


def rewritten(record: Any, change: Callable[[str], str]) -> Any:
    """Return a record with each text in it changed, in statements as well."""
    match record:
        case Enum():
            return record
        case str():
            return change(record)
        case Statement() if not record.values:
            return text(change(record.template))
        case Statement():
            values = [(slot, rewritten(value, change)) for slot, value in record.values]
            return Statement(record.template, tuple(values))
        case tuple() if not hasattr(record, "_fields"):
            return tuple(rewritten(part, change) for part in record)
        case dict():
            keys = (rewritten(key, change) for key in record)
            return dict(zip(keys, rewritten(tuple(record.values()), change), strict=True))
        case Struct():
            fields = asdict(record).items()
            return replace(record, **{key: rewritten(part, change) for key, part in fields})
    return record


def renamed(report: SampledReport, side: str, name: str) -> SampledReport:
    """Return the report with a different name for one side."""
    changed: SampledReport = rewritten(report, lambda word: name if word == side else word)
    return changed


@cache
def empty() -> SampledReport:
    """Return a report in which no result could be read."""
    newer = "results/A.0/io-benchmark.json: $.version: 99 is newer than this program: update it"
    cut = (
        "results/B.0/io-benchmark.json: ends too early: its upload or download was cut; download "
        "it again or measure again"
    )
    return compare(Plan("io-benchmark", "", "", ()), [], Options(), unreadable=(newer, cut))


HOSTILE_NAMES = (
    "<script>alert(1)</script>",
    "a|b`c`\n| d | [x](https://evil.example) ![i](https://evil.example/i.png)",
    "@everyone \x1b[31mred\x1b[0m\x9b2J\u202eesrever\u202c",
    "&lt;b&gt; {{ 7*7 }} {% raw %} ${7} ]]> --> \" onload='x'",
    "long-" * 60,
)


@cache
def hostile() -> SampledReport:
    """Return the seed's case with an attack in every text that comes from a file."""
    script, breaks, escapes, entities, long = HOSTILE_NAMES
    sides = {"intel": script, "amd-16": breaks, "amd-30": escapes}

    def attack(word: str) -> str:
        return sides.get(word) or (word and HOSTILE_NAMES[len(word) % len(HOSTILE_NAMES)])

    report: SampledReport = rewritten(seed_case(), attack)
    (part,), (diagnosis,) = report.subjects, report.diagnoses
    remedy = replace(diagnosis.remedies[0], gain_ratio=float("nan"))
    # The source of a variation is one of three words.
    compared = tuple(replace(each, assumed_variation=None) for each in part.comparisons)
    return replace(
        report,
        title=script + breaks + escapes,
        baseline_reason="--baseline",
        subjects=(replace(part, operation=escapes, comparisons=compared),),
        diagnoses=(replace(diagnosis, remedies=(remedy,)),),
        problems=(
            Problem(script, Severity.REFUSED, None, ("<b>one more</b>",), text(breaks)),
            Problem(breaks, Severity.ALLOWED, part.subject, (), text(entities)),
            Problem(escapes, Severity.WARNING, None, (script, breaks), text(long), text(entities)),
        ),
        workers=tuple(
            replace(line, completed=False, incomplete_reason=breaks) for line in report.workers
        ),
        unreadable=HOSTILE_NAMES,
        remarks=tuple(map(text, HOSTILE_NAMES)),
    )


@cache
def refused() -> SampledReport:
    """Return a report without a verdict: the candidate copied with cp."""
    changed = {"amd-16": {"workloads.0.copy_method": "cp"}}
    workers = seed_workers.workers(1, pools=POOLS[:2], change=changed)
    return compare(Plan.of_pools(POOLS[:2], None), workers, Options())


def _slowed(each: Worker, factor: float) -> Worker:
    return replace(each, runs=tuple(seed_workers.slowed(entry, factor) for entry in each.runs))


@cache
def before_after() -> SampledReport:
    """Return two pools before and after a new image; each is its own baseline."""
    workers = []
    for pool, factor in (("amd-16", 0.664), ("intel", 1.004)):
        for number, each in enumerate(seed_workers.workers(8, 0, 0.02, pools=(pool,))):
            is_after = number >= 4
            side = f"{pool} {'after' if is_after else 'before'}"
            workers.append(replace(_slowed(each, factor if is_after else 1), side=side))
    report = compare(Plan.before_and_after(["amd-16", "intel"]), workers, Options())
    return replace(report, diagnoses=())


@cache
def many_pools(pools: int = 12) -> SampledReport:
    """Return more pools than fit as columns."""
    factors = (1.0, 1.9, 0.5, 1.04)
    workers = [
        replace(_slowed(each, factors[at % 4] + 0.01 * (at // 4)), side=f"pool-{at + 1:02d}")
        for at, each in enumerate(seed_workers.workers(pools, pools=("intel",)))
    ]
    names = [each.side for each in workers]
    report = compare(Plan.of_pools(names, names[0]), workers, Options())
    # Only whole times are slowed down here, and not their parts.
    part = replace(report.subjects[0], divisions=())
    return replace(report, title="io-benchmark: many pools", diagnoses=(), subjects=(part,))


def verbose() -> SampledReport:
    """Return a report whose text does not fit in a comment."""
    causes = (cause(explanation=(statement("word " * 150),)),) * 12
    report = many_pools()
    names = [line.side for line in report.workers[1:]]
    return replace(report, diagnoses=tuple(Diagnosis(name, causes, ()) for name in names))


def large(workers: int = 1000) -> SampledReport:
    """Return as many results as a command must be able to handle."""
    report = seed_case()
    lines = tuple(worker(POOLS[at % 3], at) for at in range(workers))
    samples = (
        replace(
            report.series[at % 3],
            worker=line.worker_id,
            task_id=line.task_id,
            mean_ns=report.series[at % 3].mean_ns * (1 + 0.02 * math.sin(at)),
            total_ns=array("q", [ns + at for ns in report.series[at % 3].total_ns]),
        )
        for at, line in enumerate(lines)
    )
    return replace(report, workers=lines, series=tuple(samples))


def on_terminal(report: Report, width: int, *, colour: bool = False, details: bool = True) -> str:
    """Return the text report at this width."""
    return rendered(report, "text", Layout(details, width, styles=colour, colors=colour))
