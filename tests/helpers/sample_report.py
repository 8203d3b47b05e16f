# SPDX-License-Identifier: MPL-2.0
"""Reports for the tests of every format: the seed's case, and what it could have been."""

import random
from array import array
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict, replace

from io_benchmark.analysis.diagnosis_model import (
    Cause,
    Diagnosis,
    Evidence,
    Observation,
    Remedy,
    Seen,
    State,
)
from io_benchmark.analysis.model import (
    PERCENTILES,
    Advice,
    Comparison,
    Figures,
    Interval,
    Problem,
    Severity,
    Subject,
    Verdict,
    WorkerLine,
)
from io_benchmark.analysis.parts.division import Division, PartDifference
from io_benchmark.analysis.parts.time_parts import Kind, Phase
from io_benchmark.analysis.report_model import (
    Bottleneck,
    Report,
    SampledReport,
    SampleSeries,
    SideBottleneck,
    SubjectReport,
)
from io_benchmark.analysis.statements import Quantity, Statement, Unit, count, share, statement
from io_benchmark.analysis.summary.replication import count_workers
from io_benchmark.report.formats import Layout, rendered

MS = 1_000_000
MIB = 1024 * 1024
GIB = 1024 * MIB
SUBJECT = Subject("cache-retrieve", "workspace", "overwrite", "seed")
# What each retrieve costs besides being blocked.
FIXED_MS = {
    (Phase.LOOKUP, Kind.USER): 0.34,
    (Phase.LOOKUP, Kind.KERNEL): 0.89,
    (Phase.COPY, Kind.USER): 0.03,
    (Phase.COPY, Kind.KERNEL): 12.1,
}
# Enough for every picture; the golden page stays readable.
FEW_RETRIEVES = 120


def text(words: str) -> Statement:
    """A statement that is the text of a worker."""
    return statement("{text}", text=words)


def figures(
    mean_ms: float, p50_ms: float, p95_ms: float, p99_ms: float, total_s: float, **changes: Any
) -> Figures:
    """Return one pool's figures, with the seed's retrieves."""
    percentiles_ms = np.interp(PERCENTILES, (50, 95, 99), (p50_ms, p95_ms, p99_ms))
    made = Figures(
        workers=1,
        samples=2000,
        operations=2000,
        mean_ns=mean_ms * MS,
        value=mean_ms,
        percentiles_ns=dict(zip(PERCENTILES, (percentiles_ms * MS).tolist(), strict=True)),
        total_ns=total_s * 1000 * MS,
        lookup_mean_ns=1.234 * MS,
        copy_mean_ns=(mean_ms - 1.234) * MS,
        within_worker_ratio=0.012,
        between_workers_ratio=None,
    )
    return replace(made, **changes)


INTEL = figures(76, 80, 109, 118, 151.9)
AMD_30 = figures(77, 82, 115, 149, 154.8)
AMD_16 = figures(146, 157, 205, 237, 291.4)


def comparison(
    candidate: str, ratio: float, low: float, high: float, verdict: Verdict, **changes: Any
) -> Comparison:
    compared = Comparison(
        subject=SUBJECT,
        baseline="intel",
        candidate=candidate,
        ratio=ratio,
        interval=Interval(low, high, 0.95),
        interval_90=Interval(low * 1.02, high / 1.02, 0.90),
        p_value=0.0001 if verdict in (Verdict.SLOWER, Verdict.FASTER) else 0.87,
        verdict=verdict,
        method="paired retrieves",
        assumed_variation_ratio=0.05,
        variation_to_explain_ratio=0.33 if verdict is Verdict.SLOWER else None,
        advice=ADD_WORKERS if verdict is Verdict.INCONCLUSIVE else None,
    )
    return replace(compared, **changes)


ADD_WORKERS = Advice(
    Verdict.EQUIVALENT,
    12,
    0.05,
    statement(
        "probably equivalent, not proven; {add} more workers per pool should settle it if workers vary "
        "by {variation}, including an assumed {variation}",
        add=count(12),
        variation=share(0.05),
    ),
)


def evidence(*facts: Statement | str) -> Evidence:
    """One worker's, the summary first."""
    stated = [statement(fact) if isinstance(fact, str) else fact for fact in facts]
    seen = [Observation(f"fact-{at}", (Seen(fact, 1),), 1) for at, fact in enumerate(stated)]
    return Evidence(tuple(seen), stated[0])


def rate(mib_per_s: float) -> Quantity:
    return Quantity(mib_per_s * MIB, Unit.BYTES_PER_SECOND)


SUPPORTED = Cause(
    "device-count",
    "Fewer local SSDs share the writes.",
    State.SUPPORTED,
    evidence("2 local SSDs striped", statement("write rate {rate}", rate=rate(743))),
    evidence("1 local SSD", statement("write rate {rate}", rate=rate(388))),
    (statement("Google publishes 350 MiB/s written for one and 700 for two."),),
    predicted_ratio=2.0,
    share=0.94,
)
NOT_OBSERVABLE = Cause(
    "spawn-cost",
    "Starting processes takes longer.",
    State.NOT_OBSERVABLE,
    Evidence(),
    Evidence(),
    (statement("Lookups took 1.23 ms on both, of which starting grep is only a part."),),
    workload="spawn",
)
MOUNT_OPTIONS = Cause(
    "mount-options",
    "The file system is mounted with other options.",
    State.RULED_OUT,
    evidence("rw,nobarrier,data=writeback"),
    evidence("rw,nobarrier,data=writeback"),
    (statement("No option differs."),),
)
REMEDY = Remedy(
    "device-count",
    statement("Use a machine type with two local SSDs, such as c3d-standard-30-lssd."),
    1.9,
    measured=True,
    evidence=(statement("amd-30 in this push takes 77.0 ms where amd-16 takes 146 ms."),),
)
CAPPED = SideBottleneck(
    bottleneck=Bottleneck.CAP,
    reason=statement(
        "waiting for I/O {waiting} of the time, at {rate} of a cap of {cap}",
        waiting=share(0.48),
        rate=rate(743),
        cap=rate(700),
    ),
    copied_bytes=110.0 * GIB,
    written_bytes=110.0 * GIB,
    left_dirty_bytes=80.0 * MIB,
    drain_ns=240_000_000.0,
)
ABSORBED = replace(
    CAPPED,
    bottleneck=Bottleneck.PAGE_CACHE,
    reason=statement("waiting for I/O {waiting} of the time", waiting=share(0.01)),
    written_bytes=3.0 * MIB,
)


def worker(side: str, number: int, instance_type: str | None, **changes: Any) -> WorkerLine:
    line = WorkerLine(
        side=side,
        pool=side.partition(" ")[0],
        task_id=f"Task{number:018d}",
        run_id=0,
        worker_id=f"us-central1-a/{4_000_000_000_000_000_000 + number}",
        state="completed",
        completed=True,
        incomplete_reason=None,
        instance_type=instance_type,
        zone="us-central1-a",
        source=f"results/Task{number:018d}.0/io-benchmark.json",
    )
    line = replace(line, **changes)
    return replace(line, machine=changes.get("machine", line.worker_id))


def series(line: WorkerLine, mean_ns: float, retrieves: int) -> SampleSeries:
    """Return retrieves of three sizes."""
    generator = random.Random(f"{line.task_id} {retrieves}")
    sizes = [generator.choice((80, 80, 60, 60, 5)) * MIB for _ in range(retrieves)]
    times_ns = [int(mean_ns * size / 57 / MIB * generator.uniform(0.7, 1.3)) for size in sizes]
    return SampleSeries(line.side, line.worker_id, SUBJECT, array("q", times_ns))


def made(
    sides: Mapping[str, Figures],
    comparisons: tuple[Comparison, ...],
    retrieves: int,
    workers: tuple[WorkerLine, ...] = (),
    **changes: Any,
) -> SampledReport:
    """Return a report about sides, the baseline first: copies are blocked for what differs."""
    fixed_ns = {part: value * MS for part, value in FIXED_MS.items()}
    fixed = [PartDifference(*part, value, value, None, None) for part, value in fixed_ns.items()]
    divisions = []
    for pair in comparisons:
        means_ns = (sides[side].mean_ns for side in (pair.baseline, pair.candidate))
        before_ns, after_ns = (mean_ns - sum(fixed_ns.values()) for mean_ns in means_ns)
        blocked = PartDifference(Phase.COPY, Kind.BLOCKED, before_ns, after_ns, None, None)
        divisions.append(Division(pair.baseline, pair.candidate, (*fixed, blocked)))
    part = SubjectReport(SUBJECT, sides, comparisons, divisions=tuple(divisions))
    workers = workers or tuple(worker(side, at, "c2-standard-16") for at, side in enumerate(sides))
    lines = [(line, sides[line.side].mean_ns) for line in workers]
    report = replace(
        empty(),
        baseline=next(iter(sides)),
        baseline_reason="--baseline",
        subjects=(part,),
        workers=workers,
        unreadable=(),
        series=tuple(series(line, mean_ns, retrieves) for line, mean_ns in lines),
    )
    return counted(replace(report, **changes))


def counted(report: SampledReport) -> SampledReport:
    """Count the workers of a report again."""
    return replace(report, replication=count_workers(report.subjects, report.workers))


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
        case tuple():
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


def empty() -> SampledReport:
    """Return a report in which no result could be read."""
    newer = "$.version: 99 is newer than this program: update it"
    cut = "ends too early: its upload or download was cut; download it again or measure again"
    return SampledReport(
        title="io-benchmark",
        baseline="",
        baseline_reason="",
        margin_ratio=0.05,
        subjects=(),
        diagnoses=(),
        problems=(),
        workers=(),
        unreadable=(
            f"results/A.0/io-benchmark.json: {newer}",
            f"results/B.0/io-benchmark.json: {cut}",
        ),
        remarks=(),
        series=(),
    )


def seed_case(retrieves: int = 2000) -> SampledReport:
    """Seed 000: amd-16 slower for a reason, amd-30 not decided with one worker each."""
    slower = comparison("amd-16", 1.92, 1.68, 2.19, Verdict.SLOWER)
    undecided = comparison("amd-30", 1.0132, 0.884, 1.161, Verdict.INCONCLUSIVE)
    few = text("one worker each; 3 or more show how much workers of a pool differ")
    cache = text("drop_caches was refused; 41 % of the cache was in memory at the start")
    sides = {"intel": INTEL, "amd-16": AMD_16, "amd-30": AMD_30}
    types = ("c2-standard-16", "c3d-standard-16-lssd", "c3d-standard-30-lssd")
    report = made(
        sides,
        (slower, undecided),
        retrieves,
        tuple(worker(*pair) for pair in zip(sides, (1, 2, 3), types, strict=True)),
        title="io-benchmark: amd-16, amd-30, intel",
        baseline_reason="the last by name",
        diagnoses=(Diagnosis("amd-16", (NOT_OBSERVABLE, SUPPORTED, MOUNT_OPTIONS), (REMEDY,)),),
        problems=(
            Problem("few-workers", Severity.WARNING, SUBJECT, ("amd-16", "amd-30", "intel"), few),
            Problem("page-cache", Severity.WARNING, SUBJECT, ("amd-30",), cache),
        ),
        remarks=(text("Medians and means agree: the copies are bound by writeback."),),
    )
    (part,) = report.subjects
    return replace(report, subjects=(replace(part, bottlenecks=dict.fromkeys(sides, CAPPED)),))


HOSTILE_NAMES = (
    "<script>alert(1)</script>",
    "a|b`c`\n| d | [x](https://evil.example) ![i](https://evil.example/i.png)",
    "@everyone \x1b[31mred\x1b[0m\x9b2J\u202eesrever\u202c",
    "&lt;b&gt; {{ 7*7 }} {% raw %} ${7} ]]> --> \" onload='x'",
    "long-" * 60,
)


def hostile(retrieves: int = 2000) -> SampledReport:
    """Return the seed's case with an attack in every text that comes from a file."""
    script, breaks, escapes, entities, long = HOSTILE_NAMES
    sides = {"intel": script, "amd-16": breaks, "amd-30": escapes}

    def attack(word: str) -> str:
        return sides.get(word) or (word and HOSTILE_NAMES[len(word) % len(HOSTILE_NAMES)])

    report: SampledReport = rewritten(seed_case(retrieves), attack)
    (part,), (diagnosis,) = report.subjects, report.diagnoses
    endless = replace(part, operation=escapes)
    remedy = replace(diagnosis.remedies[0], gain_ratio=float("nan"))
    return replace(
        report,
        title=script + breaks + escapes,
        subjects=(endless,),
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


def refused(retrieves: int = 2000) -> SampledReport:
    """Return a report without a verdict: the candidate copied by reflink."""
    methods = "intel copied with sendfile, amd-16 with copy_file_range (its copies are reflinks)."
    problem = Problem("copy-method", Severity.REFUSED, SUBJECT, ("amd-16",), text(methods))
    sides = {"intel": INTEL, "amd-16": AMD_16}
    title, reason = "io-benchmark: amd-16, intel", "the last by name"
    return made(sides, (), retrieves, title=title, baseline_reason=reason, problems=(problem,))


def before_after(retrieves: int = 2000) -> SampledReport:
    """Return two pools before and after a new image; each is its own baseline."""
    of_four: dict[str, Any] = {"workers": 4, "samples": 8000, "between_workers_ratio": 0.024}
    sides = {
        "amd-16 before": AMD_16,
        "amd-16 after": figures(97, 99, 130, 151, 194),
        "intel before": INTEL,
        "intel after": figures(76.3, 80.1, 109, 119, 152.6),
    }
    comparisons = tuple(
        comparison(
            *(f"{pool} after", ratio, low, high, verdict),
            method="workers",
            assumed_variation_ratio=None,
            baseline=f"{pool} before",
        )
        for pool, ratio, low, high, verdict in (
            ("amd-16", 0.664, 0.611, 0.722, Verdict.FASTER),
            ("intel", 1.004, 0.981, 1.027, Verdict.EQUIVALENT),
        )
    )
    return made(
        {side: replace(made, **of_four) for side, made in sides.items()},
        comparisons,
        retrieves,
        title="io-benchmark: before and after",
        baseline="before",
        baseline_reason="--against",
        diagnoses=(Diagnosis("amd-16 after", (MOUNT_OPTIONS,), ()),),
    )


def many_pools(retrieves: int = 2000, pools: int = 12) -> SampledReport:
    """Return more pools than fit as columns."""
    first, *candidates = [f"pool-{number:02d}" for number in range(1, pools + 1)]
    kinds = (
        (Verdict.SLOWER, 1.3, 0.1),
        (Verdict.FASTER, 0.7, 0.1),
        (Verdict.EQUIVALENT, 1.0, 0.02),
        (Verdict.INCONCLUSIVE, 1.04, 0.1),
    )
    sides, comparisons = {first: INTEL}, []
    for number, pool in enumerate(candidates):
        verdict, ratio, width = kinds[number % 4]
        ratio += 0.01 * (number // 4)
        ends = (ratio * (1 - width), ratio * (1 + width))
        sides[pool] = figures(*(ratio * value for value in (76, 80, 109, 118, 152)))
        comparisons.append(comparison(pool, ratio, *ends, verdict, baseline=first))
    return made(sides, tuple(comparisons), retrieves, title="io-benchmark: twelve pools")


def verbose() -> SampledReport:
    """Return a report whose text does not fit in a comment."""
    report = many_pools(5)
    cause = replace(SUPPORTED, explanation=(statement("word " * 150),))
    names = [line.side for line in report.workers[1:]]
    diagnoses = tuple(Diagnosis(name, (cause,) * 12, (REMEDY,)) for name in names)
    return replace(report, diagnoses=diagnoses)


def several_subjects() -> SampledReport:
    """Return two destinations; the cause was judged by the first."""
    report = seed_case(FEW_RETRIEVES)
    (part,) = report.subjects
    unlink = replace(SUBJECT, destination="unlink")
    slower = comparison("amd-16", 1.21, 1.06, 1.38, Verdict.SLOWER, subject=unlink)
    absorbed = replace(
        part,
        subject=unlink,
        comparisons=(slower,),
        figures={"intel": INTEL, "amd-16": AMD_16},
        bottlenecks={"intel": ABSORBED, "amd-16": ABSORBED},
    )
    return replace(report, subjects=(part, absorbed))


def large(workers: int = 1000, retrieves: int = 2000) -> SampledReport:
    """Return as many results as a command must be able to handle."""
    report = seed_case(retrieves)
    sides = [line.side for line in report.workers]
    lines = tuple(worker(sides[at % 3], at, "c2-standard-16") for at in range(workers))
    samples = (
        replace(
            report.series[at % 3],
            worker=line.worker_id,
            total_ns=array("q", [ns + at for ns in report.series[at % 3].total_ns]),
        )
        for at, line in enumerate(lines)
    )
    return replace(report, workers=lines, series=tuple(samples))


def on_terminal(report: Report, width: int, *, colour: bool = False, details: bool = True) -> str:
    """Return the text report at this width."""
    layout = Layout(details, width, styles=colour, colors=colour)
    return rendered(report, "text", layout=layout)
