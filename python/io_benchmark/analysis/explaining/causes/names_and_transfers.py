# SPDX-License-Identifier: MPL-2.0
"""What makes operations on file names slow, executing a binary, and uploads.

Names wait for a lock, for layers, or for files that are not visible yet; binaries for a copy of them for
each builder; uploads for a server that does not answer Expect, or for a connection for each object.
"""

from io_benchmark.analysis.explaining.case import Case, OtherMeasurement
from io_benchmark.analysis.explaining.effects import (
    NOT_MEASURED,
    SLOWER_AT_RATIO,
    Effect,
    SideEvidence,
    Size,
    as_share,
    is_enough,
    span,
)
from io_benchmark.analysis.explaining.measured_gains import Push, follows, other_subject
from io_benchmark.analysis.explaining.rules import (
    RankedFact,
    Ranking,
    RemedyRule,
    cause,
    ranked_cause,
)
from io_benchmark.analysis.model.cause import NoChange
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import Quantity, Unit, count, ratio_of, statement
from io_benchmark.analysis.model.time_parts import ON_CPU, Kind, in_all
from io_benchmark.number_text import plural
from io_benchmark.results import workloads
from io_benchmark.results.parts import BatchEntry
from io_benchmark.results.workloads import OVER_HARDLINKED

_METADATA = "metadata"
# Below this part of the faster side's gain by several at once, a lock keeps them apart.
_SCALES_SHARE = 0.75
# New names are looked up in every layer; the kernel remembers those that it has looked up.
# Whoever waits for a CPU waits for no lock and no layer.
_PARTS = in_all(*set(Kind) - {Kind.WAITING})
_MISSING = ("lookup-missing", "stat-missing")
_EXEC, _COPIES = "exec", "copies"
_UPLOAD = "upload"
_EACH, _KEPT = "connection-each", "keep-alive"


def _with_threads(case: Case) -> OtherMeasurement | None:
    """Return this variant with the most at once, or the one that gains least where this one scales."""
    scaled = [scale for scale in case.measured(_METADATA) if case.detail(scale, workloads.SCALING)]

    def gained(measurement: OtherMeasurement) -> float:
        slower, faster = case.detail(measurement, workloads.SCALING) or (1.0, 1.0)
        return slower / faster

    same_variant = [scale for scale in scaled if scale.subject.variant == case.subject.variant]
    widest = max(same_variant, key=lambda scale: scale.subject.threads, default=None)
    if widest is not None and gained(widest) < _SCALES_SHARE:
        return widest
    return min(scaled, key=gained, default=None)


@cause(
    "metadata-lock",
    "A lock prevents the slower side from looking at several files at the same time.",
    change=NoChange("a task's profile does not have its operations on names"),
    workloads=frozenset((_METADATA,)),
    remedies=(
        RemedyRule(
            "work on a volume, or with a storage driver without such a lock (overlay2, not AUFS)",
            Push.other_place,
        ),
    ),
    acts_through=_PARTS,
)
def _lock(case: Case) -> Effect:
    measurement = _with_threads(case)
    scaling = case.detail(measurement, workloads.SCALING) if measurement else None
    if measurement is None or scaling is None:
        return NOT_MEASURED.needs(
            "the same operations by one thread and by several at once", _METADATA
        )
    threads = measurement.subject.threads
    evidence = SideEvidence.from_detail(
        measurement,
        workloads.SCALING,
        Unit.RATIO,
        f"throughput {{figure}} with {{threads}} {plural(threads, 'thread')}",
        note=" ({variant}, one thread is 1)",
        threads=count(threads),
        variant=measurement.subject.variant,
    )
    slower, faster = scaling
    if slower >= _SCALES_SHARE * faster:
        return evidence.opposes("Several at once gain as much on the slower side.")
    quotas = [run.worker.cpu_quota for run in case.slower]
    if any(quota is not None and quota < threads for quota in quotas):
        return evidence.opposes(
            "The slower side's cgroup gives it fewer CPUs than threads that work at once."
        )
    if not measurement.is_decided:
        return evidence.supports("Several at once gain less on the slower side.").may_be_chance()
    # Measured of the sides, as the scaling is, also where single workers are judged.
    share = (case.both_sides or case).of_measurement(measurement).share_at_most(_PARTS)
    if share is not None and not is_enough(share):
        return evidence.opposes(
            "Several at once gain less on the slower side because they wait for a CPU."
        )
    if case.subject.threads == 1:
        return evidence.opposes(
            "Several at once gain less on the slower side, but what is explained here is done by one "
            "thread, which never waits for a lock."
        )
    more = case.times_as_long(measurement) / case.known_times_as_long(case.sibling(threads=1))
    effect = evidence.supports(
        "Several at once wait for each other on the slower side: a lock in its file system or "
        "storage driver.",
        # One thread never waits for a lock: where its time is explained, the lock has no part.
        Size.measured(case, more) if measurement.subject == case.subject else None,
    )
    mounts = [run.place.mount for run in case.slower if run.place is not None]
    types = ", ".join(sorted({mount.filesystem for mount in mounts if mount is not None}))
    return effect.also("The file system is {types}.", types=types) if types else effect


def _layers(run: Run) -> RankedFact | None:
    place = run.place
    if place is None or place.kind is None:
        return None
    if place.overlay is None:
        # AUFS and others hide their layers.
        if place.kind == "overlay":
            return None
        return RankedFact(statement("no overlay ({kind})", kind=place.kind))
    layers = place.overlay.lower_layers
    return RankedFact(statement("overlay over {layers} layers", layers=count(layers)), layers)


@ranked_cause(
    "overlay-layers",
    "The slower side's place is an overlay of more layers.",
    Ranking(
        name="layers",
        read=_layers,
        supports="A name is looked up in one layer after another, and the slower side has more layers.",
        unseen="The place's layers could not be seen.",
        same="Both sides have as many layers.",
    ),
    change=NoChange("a task's profile does not have its operations on names"),
    workloads=frozenset((_METADATA,)),
    remedies=(
        RemedyRule("work on a volume, or build the image with fewer layers", Push.other_place),
    ),
    acts_through=_PARTS,
)
def _overlay_layers(case: Case, effect: Effect) -> Effect:
    missing = [lookup for variant in _MISSING for lookup in case.measured(_METADATA, variant)]
    if not missing or not case.differs:
        return effect
    ratio = case.times_as_long(missing[0])
    if ratio < SLOWER_AT_RATIO:
        return effect.opposed(
            "The slower side has more layers, but a name that is in none of them is looked up as "
            "fast."
        )
    return effect.also(
        "Looking up a name that is in none of them takes {ratio} as long.", ratio=ratio_of(ratio)
    )


@cause(
    "files-not-visible",
    "Files appear late to other threads on the slower side.",
    change=NoChange("a task's profile does not have its operations on names"),
    workloads=frozenset((_METADATA,)),
    remedies=(
        RemedyRule(
            "work on a volume, or with another storage driver (overlay2, not AUFS)",
            Push.other_place,
        ),
    ),
    acts_through=frozenset(),
)
def _files_not_visible(case: Case) -> Effect:
    measurements = case.measured(_METADATA, workloads.VISIBILITY)
    counts = case.detail(measurements[0], workloads.NOT_VISIBLE) if measurements else None
    if counts is None:
        return NOT_MEASURED.needs("the variant visibility", _METADATA)
    template = "files not visible immediately: {figure}"
    evidence = SideEvidence.from_detail(
        measurements[0], workloads.NOT_VISIBLE, Unit.COUNT, template
    )
    slower, faster = counts
    if slower == faster == 0:
        return evidence.same("Every file was visible to another thread immediately.")
    if slower == faster:
        return evidence.opposes("As many files are late on both sides.")
    return evidence.compared(
        slower,
        faster,
        "On the slower side, files that one thread has created are not visible to another thread "
        "yet. Its storage driver breaks what POSIX promises, and threads that wait for these files "
        "lose time.",
    )


@cause(
    "per-builder-copies",
    "Copies of a binary, one for each process, do not fit the slower side's caches.",
    change=NoChange("a task's profile does not name the binaries that it executes"),
    workloads=frozenset((_EXEC,)),
    remedies=(
        RemedyRule(
            "hardlink the binaries of all builders to one file",
            other_subject("variant", "hardlinked", "executing hardlinks"),
        ),
    ),
    acts_through=in_all(*ON_CPU),
)
def _per_builder_copies(case: Case) -> Effect:
    """Compare copies with hardlinks, which share one file's pages in the caches."""
    copies = case.sibling(variant=_COPIES)
    costs = case.detail(copies, OVER_HARDLINKED) if copies else None
    if copies is None or costs is None:
        return NOT_MEASURED.needs("the variants hardlinked and copies", _EXEC)
    template = "time of copies {figure} that of hardlinks"
    evidence = SideEvidence.from_detail(copies, OVER_HARDLINKED, Unit.RATIO, template)
    if case.subject.variant != _COPIES:
        return evidence.opposes(
            "Hardlinks to one file differ as well, so copies are not the cause."
        )
    slower, faster = costs
    if slower < SLOWER_AT_RATIO * faster or not copies.is_decided:
        return evidence.opposes("Copies cost the slower side no more than the faster side.")
    hardlinked = case.known_times_as_long(case.sibling(variant="hardlinked"))
    return evidence.supports(
        "The slower side's caches do not hold a copy of the binary for each process.",
        Size.measured(case, case.times_as_long(copies) / hardlinked),
    )


def _stalled(run: Run) -> float | None:
    """Return the part of the objects that waited for an answer that did not come."""
    measured = run.measured
    stalls = measured.observed.expect_100_stalls if isinstance(measured, BatchEntry) else None
    return None if stalls is None else stalls / run.operations_done


@cause(
    "expect-continue-stall",
    "The slower side's uploads wait for a server that does not answer Expect: 100-continue.",
    change=NoChange("a task's profile does not have its uploads"),
    workloads=frozenset((_UPLOAD,)),
    remedies=(
        RemedyRule(
            "do not send Expect: 100-continue (curl -H 'Expect:')",
            follows(
                "Without that header no upload waits for the server's permission. This is not "
                "measured here."
            ),
        ),
    ),
    acts_through=frozenset(),
)
def _stall(case: Case) -> Effect:
    evidence = SideEvidence.of(
        case, span("stalled-uploads", _stalled, Unit.SHARE, "{value} of uploads stalled")
    )
    slower, faster = case.means(_stalled)
    if slower is None or faster is None:
        return evidence.unseen(
            "A side's client did not send Expect: 100-continue, so it could not wait for it."
        )
    if not slower and not faster:
        return evidence.same("No upload waited for an answer that did not come.")
    if slower <= faster:
        return evidence.opposes("The faster side's uploads stall as often.")
    return evidence.supports(
        "The slower side's uploads wait about a second each for an answer to Expect: 100-continue "
        "that does not come."
    )


@cause(
    "connection-each",
    "Opening a connection for each object costs the slower side more.",
    change=NoChange("a task's profile does not have its uploads"),
    workloads=frozenset((_UPLOAD,)),
    remedies=(
        RemedyRule(
            "keep the connection for the next object",
            other_subject("variant", "keep-alive", "an object over a connection that is kept"),
        ),
        RemedyRule(
            "upload many objects at once",
            other_subject("variant", "concurrent", "an object uploaded with many others"),
        ),
    ),
    acts_through=frozenset(),
)
def _connection_each(case: Case) -> Effect:
    pair = [upload for variant in (_EACH, _KEPT) for upload in case.measured(_UPLOAD, variant)]
    if len(pair) != 2:
        return NOT_MEASURED.needs("the variants connection-each and keep-alive", _UPLOAD)
    evidence = SideEvidence.from_means(pair)
    if case.subject.variant != _EACH:
        return evidence.opposes("Uploads over a connection that is kept differ as well.")
    separate_ns, kept_ns = map(case.longer_ns, pair)
    share = (separate_ns - kept_ns) / separate_ns
    if not is_enough(share) or not pair[0].is_decided:
        return evidence.opposes(
            "Connecting makes up {share} of the difference; the rest is in the uploads.",
            share=as_share(share),
        )
    return evidence.supports(
        "A connection for each object costs the slower side {more} more, {share} of the difference.",
        more=Quantity(abs(separate_ns - kept_ns), Unit.NANOSECONDS),
        share=as_share(share),
    )
