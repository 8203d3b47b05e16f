# SPDX-License-Identifier: MPL-2.0
"""Reports for the tests of every format."""

import random
from array import array
from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict, replace

from io_benchmark.analysis.evidence_model import Evidence, Observation, Seen
from io_benchmark.analysis.model import (
    PERCENTILES,
    Advice,
    Cause,
    Comparison,
    Diagnosis,
    Figures,
    Interval,
    Problem,
    Remedy,
    Severity,
    State,
    Subject,
    Verdict,
    WorkerLine,
)
from io_benchmark.analysis.parts.division import Division, PartDifference
from io_benchmark.analysis.parts.time_parts import Kind, Phase
from io_benchmark.analysis.report_model import (
    Bottleneck,
    NoiseFloor,
    RateTimeline,
    SampledReport,
    SampleSeries,
    SideBottleneck,
    SubjectReport,
)
from io_benchmark.analysis.statements import Quantity, Statement, Unit, count, share, statement
from io_benchmark.analysis.summary.replication import count_workers
from io_benchmark.report.formats import Layout
from io_benchmark.report.formats.output import rendered

MS = 1_000_000
MIB = 1024 * 1024
GIB = 1024 * MIB
# What each retrieve costs besides being blocked.
FIXED_MS = {
    (Phase.LOOKUP, Kind.USER): 0.34,
    (Phase.LOOKUP, Kind.KERNEL): 0.89,
    (Phase.COPY, Kind.USER): 0.03,
    (Phase.COPY, Kind.KERNEL): 12.1,
}
SUBJECT = Subject("cache-retrieve", "workspace", "overwrite", "seed")
SIZES_MIB = [80] * 40 + [60] * 40 + [5] * 20
# Enough for every picture; the golden page stays readable.
FEW_RETRIEVES = 120


def text(words: str) -> Statement:
    """A statement that is the text of a worker."""
    return statement("{text}", text=words)


def figures(
    mean_ms: float, p50_ms: float, p95_ms: float, p99_ms: float, total_s: float, **changes: Any
) -> Figures:
    """Return one pool's figures, with the seed's retrieves."""
    made = Figures(
        workers=1,
        samples=2000,
        operations=2000,
        mean_ns=mean_ms * MS,
        value=mean_ms,
        percentiles_ns={
            percent: float(np.interp(percent, (50, 95, 99), (p50_ms, p95_ms, p99_ms))) * MS
            for percent in PERCENTILES
        },
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
        advice=None,
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
    return Evidence(tuple(seen), stated[0] if stated else None)


def writes(disks: str, names: str, machine: str, rate_mib_per_s: int) -> Evidence:
    """The evidence of a cause as the analysis makes it."""
    rate = statement(
        "write rate {rate}", rate=Quantity(rate_mib_per_s * MIB, Unit.BYTES_PER_SECOND)
    )
    return evidence(disks, f"disks {names}", f"machine type {machine}", rate)


def ruled_out(name: str, hypothesis: str, slower: str, faster: str, reason: str) -> Cause:
    sides = (evidence(faster), evidence(slower))
    return Cause(name, hypothesis, State.RULED_OUT, *sides, (statement(reason),))


SUPPORTED = Cause(
    "device-count",
    "Fewer local SSDs share the writes.",
    State.SUPPORTED,
    writes("2 local SSDs striped", "nvme0n1, nvme0n2", "c2-standard-16", 743),
    writes("1 local SSD", "nvme1n1", "c3d-standard-16-lssd", 388),
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
NO_LIMIT, OPTIONS = "no limit at any level", "rw,nobarrier,data=writeback"
BOOT_DISK = ruled_out(
    "boot-disk",
    "The work place is on the boot disk.",
    "dm-0 on nvme1n1",
    "dm-0 on nvme0n1, nvme0n2",
    "Both are on local SSDs.",
)
IO_LIMIT = ruled_out(
    "cgroup-io-limit",
    "A control group limits the rate.",
    NO_LIMIT,
    NO_LIMIT,
    "Neither has io.max nor blkio.throttle set.",
)
MOUNT_OPTIONS = ruled_out(
    "mount-options",
    "The file system is mounted with other options.",
    OPTIONS,
    OPTIONS,
    "No option differs.",
)
CAUSES = (BOOT_DISK, NOT_OBSERVABLE, SUPPORTED, IO_LIMIT, MOUNT_OPTIONS)
REMEDIES = (
    Remedy(
        "device-count",
        statement("Use a machine type with two local SSDs, such as c3d-standard-30-lssd."),
        1.9,
        measured=True,
        evidence=(statement("amd-30 in this push takes 77.0 ms where amd-16 takes 146 ms."),),
    ),
    Remedy(
        "device-count",
        statement("Remove the destination before copying (cp --remove-destination)."),
        None,
        measured=False,
        evidence=(
            statement("ext4 flushes a file that is truncated and rewritten when it is closed."),
        ),
    ),
)


def worker(side: str, number: int, instance_type: str | None, **changes: Any) -> WorkerLine:
    line = WorkerLine(
        side=side,
        pool=side,
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


def series(
    side: str, name: str, scale: float, retrieves: int, seed: int, subject: Subject = SUBJECT
) -> SampleSeries:
    """Return retrieves of three sizes: autocorrelated noise around a mean, with a few stalls."""
    generator = random.Random(seed)
    order = random.Random(1)
    sizes, starts, totals = [], [], []
    drift, now_ns = 0.0, 31_000 * MS
    for _ in range(retrieves):
        size_mib = order.choice(SIZES_MIB)
        drift = 0.8 * drift + 0.06 * (generator.random() - 0.5)
        slow = 1.6 if generator.random() < 0.03 else 1.0
        noise = 1 + drift + 0.3 * (generator.random() + generator.random() - 1)
        total_ns = int((1.2 + 1.33 * size_mib * scale * slow * noise) * MS)
        sizes.append(size_mib * MIB)
        starts.append(now_ns)
        totals.append(total_ns)
        now_ns += total_ns
    columns = (array("q", column) for column in (sizes, starts, totals))
    return SampleSeries(side, name, subject, *columns)


def timeline(side: str, name: str, rate_mib: float, seconds: int, seed: int) -> RateTimeline:
    generator = random.Random(seed)
    written, dirty, pressure = [], [], []
    for second in range(seconds):
        busy = 30 < second < seconds - 4
        written.append(rate_mib * MIB * (0.9 + 0.2 * generator.random()) if busy else 0.0)
        dirty.append(GIB * (0.3 + 0.1 * generator.random()) if busy else 0.01 * GIB)
        pressure.append(0.35 + 0.1 * generator.random() if busy else 0.0)
    times = tuple(float(second) for second in range(seconds))
    return RateTimeline(side, name, times, tuple(written), tuple(dirty), tuple(pressure))


# The bottleneck of each side in seed 000, and of copies that stay in memory.
CAPPED = {
    side: SideBottleneck(
        bottleneck=Bottleneck.CAP,
        reason=statement(
            "waiting for I/O {waiting} of the time, at {rate} of a cap of {cap}",
            waiting=share(0.48),
            rate=Quantity(rate * MIB, Unit.BYTES_PER_SECOND),
            cap=Quantity(cap * MIB, Unit.BYTES_PER_SECOND),
        ),
        copied_bytes=110.0 * GIB,
        written_bytes=110.0 * GIB,
        left_dirty_bytes=80.0 * MIB,
        drain_ns=240_000_000.0,
    )
    for side, rate, cap in (("intel", 743, 700), ("amd-16", 388, 350), ("amd-30", 733, 700))
}
ABSORBED = replace(
    CAPPED["intel"],
    bottleneck=Bottleneck.PAGE_CACHE,
    reason=statement("waiting for I/O {waiting} of the time", waiting=share(0.01)),
    written_bytes=3.0 * MIB,
)


def divided(report: SampledReport) -> SampledReport:
    """Divide the differences: copies are blocked for what is left. Then count the workers."""
    fixed_ns = {part: value * MS for part, value in FIXED_MS.items()}
    fixed = [PartDifference(*part, value, value, None, None) for part, value in fixed_ns.items()]

    def division(part: SubjectReport, compared: Comparison) -> Division:
        means_ns = (part.figures[side].mean_ns for side in (compared.baseline, compared.candidate))
        before_ns, after_ns = (mean_ns - sum(fixed_ns.values()) for mean_ns in means_ns)
        blocked = PartDifference(Phase.COPY, Kind.BLOCKED, before_ns, after_ns, None, None)
        return Division(compared.baseline, compared.candidate, (*fixed, blocked))

    subjects = tuple(
        replace(part, divisions=tuple(division(part, each) for each in part.comparisons))
        for part in report.subjects
    )
    return counted(replace(report, subjects=subjects))


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
            return tuple(rewritten(each, change) for each in record)
        case dict():
            keys = (rewritten(key, change) for key in record)
            return dict(zip(keys, rewritten(tuple(record.values()), change), strict=True))
        case Struct():
            fields = asdict(record).items()
            return replace(record, **{key: rewritten(each, change) for key, each in fields})
    return record


def renamed(report: SampledReport, side: str, name: str) -> SampledReport:
    """Return the report with a different name for one side."""
    changed: SampledReport = rewritten(report, lambda word: name if word == side else word)
    return changed


def empty() -> SampledReport:
    """Return a report in which no result could be read."""
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
            "results/A.0/io-benchmark.json: $.version: 99 is newer than this program: update it",
            (
                "results/B.0/io-benchmark.json: ends too early: its upload or download was cut; download "
                "it again or measure again"
            ),
        ),
        remarks=(),
        series=(),
        timelines=(),
    )


def seed_case(retrieves: int = 2000) -> SampledReport:
    """Seed 000: amd-16 slower for a reason, amd-30 not decided with one worker each."""
    run_s = max(retrieves // 20, 40)
    slower = comparison("amd-16", 1.92, 1.68, 2.19, Verdict.SLOWER)
    undecided = comparison("amd-30", 1.0132, 0.884, 1.161, Verdict.INCONCLUSIVE, advice=ADD_WORKERS)
    few = text("one worker each; 3 or more show how much workers of a pool differ")
    cache = text("drop_caches was refused; 41 % of the cache was in memory at the start")
    # Each pool with its machine, how long a retrieve takes, what is written, and how long it ran
    pools = (
        ("intel", "c2-standard-16", 1.0, 720, run_s),
        ("amd-16", "c3d-standard-16-lssd", 1.92, 360, 2 * run_s),
        ("amd-30", "c3d-standard-30-lssd", 1.0132, 710, run_s),
    )
    workers = tuple(worker(pool[0], at, pool[1]) for at, pool in enumerate(pools, 1))
    report = SampledReport(
        title="io-benchmark: amd-16, amd-30, intel",
        baseline="intel",
        baseline_reason="the last by name",
        margin_ratio=0.05,
        subjects=(
            SubjectReport(
                SUBJECT,
                {"intel": INTEL, "amd-16": AMD_16, "amd-30": AMD_30},
                (slower, undecided),
                (NoiseFloor("within-worker", 0.985, 1.014),),
                CAPPED,
            ),
        ),
        diagnoses=(Diagnosis("amd-16", CAUSES, REMEDIES),),
        problems=(
            Problem("few-workers", Severity.WARNING, SUBJECT, ("amd-16", "amd-30", "intel"), few),
            Problem("page-cache", Severity.WARNING, SUBJECT, ("amd-30",), cache),
        ),
        workers=workers,
        unreadable=(),
        remarks=(text("Medians and means agree: the copies are bound by writeback."),),
        series=tuple(
            series(line.side, line.worker_id, pools[at][2], retrieves, 11 + at)
            for at, line in enumerate(workers)
        ),
        timelines=tuple(
            timeline(line.side, line.worker_id, *pools[at][3:], 21 + at)
            for at, line in enumerate(workers)
        ),
    )
    return divided(report)


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
    endless = replace(part, noise=(NoiseFloor(escapes, 0.9, float("inf")),))
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
    report = seed_case(retrieves)
    (part,) = report.subjects
    methods = "intel copied with sendfile, amd-16 with copy_file_range (its copies are reflinks)."
    figures = {"intel": INTEL, "amd-16": AMD_16}
    return counted(
        replace(
            report,
            title="io-benchmark: amd-16, intel",
            subjects=(replace(part, figures=figures, comparisons=(), noise=(), divisions=()),),
            diagnoses=(),
            problems=(
                Problem("copy-method", Severity.REFUSED, SUBJECT, ("amd-16",), text(methods)),
            ),
            workers=report.workers[:2],
            remarks=(),
            series=report.series[:2],
            timelines=(),
        )
    )


def before_after(retrieves: int = 2000) -> SampledReport:
    """Return two pools before and after a new image; each is its own baseline."""
    by_side = {
        "amd-16 before": (AMD_16, 0.031, 1.92),
        "amd-16 after": (figures(97, 99, 130, 151, 194), 0.024, 1.28),
        "intel before": (INTEL, 0.013, 1.0),
        "intel after": (figures(76.3, 80.1, 109, 119, 152.6), 0.012, 1.0),
    }
    method: dict[str, Any] = {"method": "workers", "assumed_variation_ratio": None}
    comparisons = (
        comparison("amd-16 after", 0.664, 0.611, 0.722, Verdict.FASTER, **method),
        comparison("intel after", 1.004, 0.981, 1.027, Verdict.EQUIVALENT, **method),
    )
    of_four: dict[str, Any] = {"workers": 4, "samples": 8000, "operations": 8000}
    part = SubjectReport(
        SUBJECT,
        {
            side: replace(each, between_workers_ratio=between, **of_four)
            for side, (each, between, _) in by_side.items()
        },
        tuple(
            replace(each, baseline=each.candidate.replace("after", "before"))
            for each in comparisons
        ),
        (NoiseFloor("within-worker", 0.992, 1.007), NoiseFloor("between-workers", 0.94, 1.06)),
    )
    report = replace(
        empty(),
        title="io-benchmark: before and after",
        baseline="before",
        baseline_reason="--against",
        subjects=(part,),
        diagnoses=(Diagnosis("amd-16 after", (BOOT_DISK, IO_LIMIT), ()),),
        unreadable=(),
        workers=tuple(
            worker(side, at, None, pool=side.split()[0], worker_id=f"group/{at % 3}")
            for at, side in enumerate(by_side)
        ),
        series=tuple(
            series(side, f"group/{at % 3}", scale, retrieves, at)
            for at, (side, (_, _, scale)) in enumerate(by_side.items())
        ),
    )
    return divided(report)


def many_pools(retrieves: int = 2000, pools: int = 12) -> SampledReport:
    """Return more pools than fit as columns."""
    first, *others = [f"pool-{number:02d}" for number in range(1, pools + 1)]
    kinds = (
        (Verdict.SLOWER, 1.3, 0.1),
        (Verdict.FASTER, 0.7, 0.1),
        (Verdict.EQUIVALENT, 1.0, 0.02),
        (Verdict.INCONCLUSIVE, 1.04, 0.1),
    )
    by_side = {first: INTEL}
    comparisons = []
    for at, pool in enumerate(others):
        verdict, ratio, width = kinds[at % 4]
        ratio += 0.01 * (at // 4)
        advice = ADD_WORKERS if verdict is Verdict.INCONCLUSIVE else None
        ends = (ratio * (1 - width), ratio * (1 + width))
        by_side[pool] = figures(*(ratio * value for value in (76, 80, 109, 118, 152)))
        comparisons.append(comparison(pool, ratio, *ends, verdict, advice=advice, baseline=first))
    noise = (NoiseFloor("within-worker", 0.985, 1.014),)
    report = replace(
        empty(),
        title="io-benchmark: twelve pools",
        baseline=first,
        baseline_reason="--baseline",
        subjects=(SubjectReport(SUBJECT, by_side, tuple(comparisons), noise),),
        workers=tuple(worker(pool, at, "c2-standard-16") for at, pool in enumerate(by_side)),
        unreadable=(),
        series=tuple(
            series(pool, f"us-central1-a/{at}", 1 + 0.05 * at, retrieves, at)
            for at, pool in enumerate(by_side)
        ),
        timelines=tuple(
            timeline(pool, f"us-central1-a/{at}", 700 - 30 * at, 60, at)
            for at, pool in enumerate(by_side)
        ),
    )
    return divided(report)


def verbose() -> SampledReport:
    """Return a report whose text does not fit in a comment."""
    report = many_pools(5)
    cause = replace(SUPPORTED, explanation=(statement("word " * 150),))
    names = [line.side for line in report.workers[1:]]
    diagnoses = tuple(Diagnosis(name, (cause,) * 12, REMEDIES) for name in names)
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
    few = [series(side, "", 1 + at, retrieves, at) for at, side in enumerate(sides)]
    columns = [array("q", [ns + at for ns in few[at % 3].total_ns]) for at in range(workers)]
    return replace(
        report,
        workers=tuple(worker(sides[at % 3], at, "c2-standard-16") for at in range(workers)),
        series=tuple(
            replace(few[at % 3], worker=f"group/{at}", total_ns=column)
            for at, column in enumerate(columns)
        ),
        timelines=tuple(
            replace(report.timelines[at % 3], worker=f"group/{at}") for at in range(workers)
        ),
    )


def on_terminal(
    report: SampledReport, width: int, *, colour: bool = False, details: bool = True
) -> str:
    """Return the text report at this width."""
    layout = Layout(details, width, styles=colour, colors=colour)
    return rendered(report, "text", layout=layout)
