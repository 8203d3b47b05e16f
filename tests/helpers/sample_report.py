# SPDX-License-Identifier: MPL-2.0
"""Reports for the tests of every format."""

import random
from array import array
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

import numpy as np
from msgspec.structs import replace

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
Arguments = ParamSpec("Arguments")
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
    mean_ms: float,
    p50_ms: float,
    p95_ms: float,
    p99_ms: float,
    total_s: float,
    workers: int = 1,
    between: float | None = None,
) -> Figures:
    """Return one pool's figures, with the seed's retrieves."""
    return Figures(
        workers=workers,
        samples=2000 * workers,
        operations=2000 * workers,
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
        between_workers_ratio=between,
    )


INTEL = figures(76, 80, 109, 118, 151.9)
AMD_30 = figures(77, 82, 115, 149, 154.8)
AMD_16 = figures(146, 157, 205, 237, 291.4)


def comparison(
    candidate: str,
    ratio: float,
    low: float,
    high: float,
    verdict: Verdict,
    advice: Advice | None = None,
    baseline: str = "intel",
) -> Comparison:
    return Comparison(
        subject=SUBJECT,
        baseline=baseline,
        candidate=candidate,
        ratio=ratio,
        interval=Interval(low, high, 0.95),
        interval_90=Interval(low * 1.02, high / 1.02, 0.90),
        p_value=0.0001 if verdict in (Verdict.SLOWER, Verdict.FASTER) else 0.87,
        verdict=verdict,
        method="paired retrieves",
        assumed_variation_ratio=0.05,
        variation_to_explain_ratio=0.33 if verdict is Verdict.SLOWER else None,
        advice=advice,
    )


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


def evidence(*facts: Statement) -> Evidence:
    """One worker's, the summary first."""
    observations = [Observation(f"fact-{at}", (Seen(fact, 1),), 1) for at, fact in enumerate(facts)]
    return Evidence(tuple(observations), facts[0] if facts else None)


def writes(disks: str, names: str, machine: str, rate_mib_per_s: int) -> Evidence:
    """The evidence of a cause as the analysis makes it."""
    rate = Quantity(rate_mib_per_s * 2**20, Unit.BYTES_PER_SECOND)
    return evidence(
        statement(disks),
        statement("disks {names}", names=names),
        statement("machine type {machine}", machine=machine),
        statement("write rate {rate}", rate=rate),
    )


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
CAUSES = (
    Cause(
        "boot-disk",
        "The work place is on the boot disk.",
        State.RULED_OUT,
        evidence(statement("dm-0 on nvme0n1, nvme0n2")),
        evidence(statement("dm-0 on nvme1n1")),
        (statement("Both are on local SSDs."),),
    ),
    Cause(
        "spawn-cost",
        "Starting processes takes longer.",
        State.NOT_OBSERVABLE,
        Evidence(),
        Evidence(),
        (statement("Lookups took 1.23 ms on both, of which starting grep is only a part."),),
        workload="spawn",
    ),
    SUPPORTED,
    Cause(
        "cgroup-io-limit",
        "A control group limits the rate.",
        State.RULED_OUT,
        evidence(statement("no limit at any level")),
        evidence(statement("no limit at any level")),
        (statement("Neither has io.max nor blkio.throttle set."),),
    ),
    Cause(
        "mount-options",
        "The file system is mounted with other options.",
        State.RULED_OUT,
        evidence(statement("rw,nobarrier,data=writeback")),
        evidence(statement("rw,nobarrier,data=writeback")),
        (statement("No option differs."),),
    ),
)
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
ABSORBED = SideBottleneck(
    bottleneck=Bottleneck.PAGE_CACHE,
    reason=statement("waiting for I/O {waiting} of the time", waiting=share(0.01)),
    copied_bytes=110.0 * GIB,
    written_bytes=3.0 * MIB,
    left_dirty_bytes=80.0 * MIB,
    drain_ns=240_000_000.0,
)


def with_divisions(part: SubjectReport) -> SubjectReport:
    """Divide each difference: workers measured once, whose copies are blocked for what is left."""
    fixed_ns = {name: value * MS for name, value in FIXED_MS.items()}

    def parts(compared: Comparison) -> tuple[PartDifference, ...]:
        baseline_ns, candidate_ns = (
            part.figures[side].mean_ns - sum(fixed_ns.values())
            for side in (compared.baseline, compared.candidate)
        )
        return (
            *(PartDifference(*name, value, value, None, None) for name, value in fixed_ns.items()),
            PartDifference(Phase.COPY, Kind.BLOCKED, baseline_ns, candidate_ns, None, None),
        )

    return replace(
        part,
        divisions=tuple(
            Division(compared.baseline, compared.candidate, parts(compared))
            for compared in part.comparisons
        ),
    )


def counted(report: SampledReport) -> SampledReport:
    """Count the workers of a report again."""
    return replace(report, replication=count_workers(report.subjects, report.workers))


def divided(make: Callable[Arguments, SampledReport]) -> Callable[Arguments, SampledReport]:
    """Divide the differences of a function's report, and count its workers."""

    @wraps(make)
    def made(*arguments: Arguments.args, **keywords: Arguments.kwargs) -> SampledReport:
        report = make(*arguments, **keywords)
        return counted(replace(report, subjects=tuple(map(with_divisions, report.subjects))))

    return made


@divided
def seed_case(retrieves: int = 2000) -> SampledReport:
    """Seed 000: amd-16 slower for a reason, amd-30 not decided with one worker each."""
    run_s = max(retrieves // 20, 40)
    return SampledReport(
        title="io-benchmark: amd-16, amd-30, intel",
        baseline="intel",
        baseline_reason="the last by name",
        margin_ratio=0.05,
        subjects=(
            SubjectReport(
                SUBJECT,
                {"intel": INTEL, "amd-16": AMD_16, "amd-30": AMD_30},
                (
                    comparison("amd-16", 1.92, 1.68, 2.19, Verdict.SLOWER),
                    comparison("amd-30", 1.0132, 0.884, 1.161, Verdict.INCONCLUSIVE, ADD_WORKERS),
                ),
                (NoiseFloor("within-worker", 0.985, 1.014),),
                CAPPED,
            ),
        ),
        diagnoses=(Diagnosis("amd-16", CAUSES, REMEDIES),),
        problems=(
            Problem(
                "few-workers",
                Severity.WARNING,
                SUBJECT,
                ("amd-16", "amd-30", "intel"),
                text("one worker each; 3 or more show how much workers of a pool differ"),
            ),
            Problem(
                "page-cache",
                Severity.WARNING,
                SUBJECT,
                ("amd-30",),
                text("drop_caches was refused; 41 % of the cache was in memory at the start"),
            ),
        ),
        workers=(
            worker("intel", 1, "c2-standard-16"),
            worker("amd-16", 2, "c3d-standard-16-lssd"),
            worker("amd-30", 3, "c3d-standard-30-lssd"),
        ),
        unreadable=(),
        remarks=(text("Medians and means agree: the copies are bound by writeback."),),
        series=(
            series("intel", "us-central1-a/4000000000000000001", 1.0, retrieves, 11),
            series("amd-16", "us-central1-a/4000000000000000002", 1.92, retrieves, 12),
            series("amd-30", "us-central1-a/4000000000000000003", 1.0132, retrieves, 13),
        ),
        timelines=(
            timeline("intel", "us-central1-a/4000000000000000001", 720, run_s, 21),
            timeline("amd-16", "us-central1-a/4000000000000000002", 360, 2 * run_s, 22),
            timeline("amd-30", "us-central1-a/4000000000000000003", 710, run_s, 23),
        ),
    )


HOSTILE_NAMES = (
    "<script>alert(1)</script>",
    "a|b`c`\n| d | [x](https://evil.example) ![i](https://evil.example/i.png)",
    "@everyone \x1b[31mred\x1b[0m\x9b2J\u202eesrever\u202c",
    "&lt;b&gt; {{ 7*7 }} {% raw %} ${7} ]]> --> \" onload='x'",
    "long-" * 60,
)


@divided
def hostile(retrieves: int = 2000) -> SampledReport:
    """Return the seed's case with an attack in every text that comes from a file."""
    report = seed_case(retrieves)
    script, breaks, escapes, entities, long = HOSTILE_NAMES
    sides = {"intel": script, "amd-16": breaks, "amd-30": escapes}
    subject = Subject(long, entities, breaks, script)
    (part,) = report.subjects
    return replace(
        report,
        title=script + breaks + escapes,
        baseline=sides["intel"],
        baseline_reason=entities,
        subjects=(
            SubjectReport(
                subject,
                {sides[side]: value for side, value in part.figures.items()},
                tuple(
                    replace(
                        compared,
                        subject=subject,
                        baseline=sides[compared.baseline],
                        candidate=sides[compared.candidate],
                        advice=compared.advice and replace(compared.advice, message=text(breaks)),
                    )
                    for compared in part.comparisons
                ),
                (NoiseFloor(escapes, 0.9, float("inf")),),
            ),
        ),
        diagnoses=(
            Diagnosis(
                sides["amd-16"],
                (
                    Cause(
                        entities,
                        script,
                        State.SUPPORTED,
                        evidence(text(breaks)),
                        evidence(text(escapes)),
                        (text(long),),
                        2.0,
                        1.31,
                    ),
                    Cause(
                        breaks,
                        long,
                        State.NOT_OBSERVABLE,
                        Evidence(),
                        Evidence(),
                        (text(script),),
                        workload=entities,
                    ),
                ),
                (
                    Remedy(
                        script,
                        text(breaks),
                        float("nan"),
                        measured=True,
                        evidence=(text(entities),),
                    ),
                ),
            ),
        ),
        problems=(
            Problem(script, Severity.REFUSED, None, ("<b>one more</b>",), text(breaks)),
            Problem(breaks, Severity.ALLOWED, subject, (), text(entities)),
            Problem(escapes, Severity.WARNING, None, (script, breaks), text(long), text(entities)),
        ),
        workers=tuple(
            replace(
                line,
                side=sides[line.side],
                pool=entities,
                task_id=breaks,
                worker_id=escapes,
                machine=escapes,
                state=script,
                completed=False,
                incomplete_reason=breaks,
                instance_type=entities,
                zone=long,
                source="../../\x1b]0;title\x07" + script,
            )
            for line in report.workers
        ),
        unreadable=HOSTILE_NAMES,
        remarks=tuple(map(text, HOSTILE_NAMES)),
        series=tuple(
            replace(one, side=sides[one.side], worker=escapes, subject=subject)
            for one in report.series
        ),
        timelines=tuple(
            replace(one, side=sides[one.side], worker=breaks) for one in report.timelines
        ),
    )


@divided
def refused(retrieves: int = 2000) -> SampledReport:
    """Return a report without a verdict: the candidate copied by reflink."""
    report = seed_case(retrieves)
    (part,) = report.subjects
    return replace(
        report,
        title="io-benchmark: amd-16, intel",
        subjects=(
            replace(
                part,
                figures={"intel": INTEL, "amd-16": AMD_16},
                comparisons=(),
                noise=(),
            ),
        ),
        diagnoses=(),
        problems=(
            Problem(
                "copy-method",
                Severity.REFUSED,
                SUBJECT,
                ("amd-16",),
                text(
                    "intel copied with sendfile, amd-16 with copy_file_range (its copies are "
                    "reflinks)."
                ),
            ),
        ),
        workers=report.workers[:2],
        remarks=(),
        series=tuple(one for one in report.series if one.side != "amd-30"),
        timelines=(),
    )


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


@divided
def before_after(retrieves: int = 2000) -> SampledReport:
    """Return two pools before and after a new image; each is its own baseline."""
    before = figures(146, 157, 205, 237, 291.4, workers=4, between=0.031)
    after = figures(97, 99, 130, 151, 194, workers=4, between=0.024)
    same = figures(76.3, 80.1, 109, 119, 152.6, workers=4, between=0.012)
    against = [
        comparison("amd-16 after", 0.664, 0.611, 0.722, Verdict.FASTER, baseline="amd-16 before"),
        comparison("intel after", 1.004, 0.981, 1.027, Verdict.EQUIVALENT, baseline="intel before"),
    ]
    sides = ("amd-16 before", "amd-16 after", "intel before", "intel after")
    return SampledReport(
        title="io-benchmark: before and after",
        baseline="before",
        baseline_reason="--against",
        margin_ratio=0.05,
        subjects=(
            SubjectReport(
                SUBJECT,
                dict(
                    zip(
                        sides,
                        (before, after, figures(76, 80, 109, 118, 152, 4, 0.013), same),
                        strict=True,
                    )
                ),
                tuple(
                    replace(
                        compared,
                        method="workers",
                        assumed_variation_ratio=None,
                        variation_to_explain_ratio=None,
                    )
                    for compared in against
                ),
                (
                    NoiseFloor("within-worker", 0.992, 1.007),
                    NoiseFloor("between-workers", 0.94, 1.06),
                ),
            ),
        ),
        diagnoses=(Diagnosis("amd-16 after", (CAUSES[0], CAUSES[3]), ()),),
        problems=(),
        workers=tuple(
            worker(side, at, None, pool=side.split()[0], worker_id=f"group/{at % 3}")
            for at, side in enumerate(sides)
        ),
        unreadable=(),
        remarks=(),
        series=tuple(
            series(side, f"group/{at % 3}", scale, retrieves, at)
            for at, (side, scale) in enumerate(zip(sides, (1.92, 1.28, 1.0, 1.0), strict=True))
        ),
        timelines=(),
    )


@divided
def many_pools(retrieves: int = 2000, pools: int = 12) -> SampledReport:
    """Return more pools than fit as columns."""
    names = [f"pool-{number:02d}" for number in range(1, pools + 1)]
    verdicts = (Verdict.SLOWER, Verdict.FASTER, Verdict.EQUIVALENT, Verdict.INCONCLUSIVE)
    ratios = (1.3, 0.7, 1.0, 1.04)
    chosen = [(verdicts[at % 4], ratios[at % 4] + 0.01 * (at // 4)) for at in range(len(names) - 1)]
    return SampledReport(
        title="io-benchmark: twelve pools",
        baseline=names[0],
        baseline_reason="--baseline",
        margin_ratio=0.05,
        subjects=(
            SubjectReport(
                SUBJECT,
                {
                    names[0]: INTEL,
                    **{
                        pool: figures(76 * ratio, 80 * ratio, 109 * ratio, 118 * ratio, 152 * ratio)
                        for pool, (_, ratio) in zip(names[1:], chosen, strict=True)
                    },
                },
                tuple(
                    comparison(
                        pool,
                        ratio,
                        ratio * (0.98 if verdict is Verdict.EQUIVALENT else 0.9),
                        ratio * (1.02 if verdict is Verdict.EQUIVALENT else 1.1),
                        verdict,
                        ADD_WORKERS if verdict is Verdict.INCONCLUSIVE else None,
                        names[0],
                    )
                    for pool, (verdict, ratio) in zip(names[1:], chosen, strict=True)
                ),
                (NoiseFloor("within-worker", 0.985, 1.014),),
            ),
        ),
        diagnoses=(),
        problems=(),
        workers=tuple(worker(pool, at, "c2-standard-16") for at, pool in enumerate(names)),
        unreadable=(),
        remarks=(),
        series=tuple(
            series(pool, f"us-central1-a/{at}", 1 + 0.05 * at, retrieves, at)
            for at, pool in enumerate(names)
        ),
        timelines=tuple(
            timeline(pool, f"us-central1-a/{at}", 700 - 30 * at, 60, at)
            for at, pool in enumerate(names)
        ),
    )


@divided
def renamed(report: SampledReport, side: str, other: str) -> SampledReport:
    """Return the report with a different name for one candidate."""

    def new(name: str) -> str:
        return other if name == side else name

    return replace(
        report,
        subjects=tuple(
            replace(
                part,
                figures={new(name): value for name, value in part.figures.items()},
                comparisons=tuple(
                    replace(one, candidate=new(one.candidate)) for one in part.comparisons
                ),
            )
            for part in report.subjects
        ),
        diagnoses=tuple(replace(one, candidate=new(one.candidate)) for one in report.diagnoses),
        problems=tuple(
            replace(one, sides=tuple(new(name) for name in one.sides)) for one in report.problems
        ),
        workers=tuple(replace(one, side=new(one.side)) for one in report.workers),
        series=tuple(replace(one, side=new(one.side)) for one in report.series),
        timelines=tuple(replace(one, side=new(one.side)) for one in report.timelines),
    )


def verbose() -> SampledReport:
    """Return a report whose text does not fit in a comment."""
    report = many_pools(5)
    cause = replace(SUPPORTED, explanation=(statement("word " * 150),))
    names = [line.side for line in report.workers[1:]]
    return replace(
        report,
        diagnoses=tuple(Diagnosis(name, (cause,) * 12, REMEDIES) for name in names),
    )


def several_subjects() -> SampledReport:
    """Return two destinations; the cause was judged by the first."""
    report = seed_case(FEW_RETRIEVES)
    (part,) = report.subjects
    unlink = replace(SUBJECT, destination="unlink")
    other = replace(
        part,
        subject=unlink,
        comparisons=(
            replace(comparison("amd-16", 1.21, 1.06, 1.38, Verdict.SLOWER), subject=unlink),
        ),
        figures={"intel": INTEL, "amd-16": AMD_16},
        bottlenecks={"intel": ABSORBED, "amd-16": ABSORBED},
    )
    return replace(report, subjects=(part, other))


def large(workers: int = 1000, retrieves: int = 2000) -> SampledReport:
    """Return as many results as a command must be able to handle."""
    sides = ("intel", "amd-16", "amd-30")
    report = seed_case(retrieves)
    few = [series(side, "", 1 + at, retrieves, at) for at, side in enumerate(sides)]
    return replace(
        report,
        workers=tuple(worker(sides[at % 3], at, "c2-standard-16") for at in range(workers)),
        series=tuple(
            replace(
                one, worker=f"group/{at}", total_ns=array("q", [ns + at for ns in one.total_ns])
            )
            for at in range(workers)
            for one in (few[at % 3],)
        ),
        timelines=tuple(
            replace(report.timelines[at % 3], side=sides[at % 3], worker=f"group/{at}")
            for at in range(workers)
        ),
    )


def on_terminal(
    report: SampledReport, width: int, *, colour: bool = False, details: bool = True
) -> str:
    """Return the text report at this width."""
    layout = Layout(details, width, styles=colour, colors=colour)
    return rendered(report, "text", layout=layout)
