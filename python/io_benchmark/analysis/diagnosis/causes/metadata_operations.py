# SPDX-License-Identifier: MPL-2.0
"""What makes operations on file names slow: a lock, layers, or files that are not visible yet."""

from msgspec.structs import replace

from io_benchmark.analysis.diagnosis.case import Case, OtherMeasurement
from io_benchmark.analysis.diagnosis.evidence import (
    SLOWER_AT_RATIO,
    detail_evidence,
    figures,
    not_measured,
)
from io_benchmark.analysis.diagnosis.measured_gains import other_place
from io_benchmark.analysis.diagnosis.rules import (
    Effect,
    RankedFact,
    Ranking,
    SideEvidence,
    Size,
    cause,
    is_enough,
)
from io_benchmark.analysis.evidence_model import Evidence
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.analysis.parts.time_parts import Kind, in_all
from io_benchmark.analysis.statements import Quantity, Unit, count, statement
from io_benchmark.results.workloads import metadata

ORDER = 120
_METADATA = "metadata"
# Below this part of the faster side's gain by several at once, a lock keeps them apart.
_SCALES_SHARE = 0.75
# New names are looked up in every layer; the kernel remembers those that it has looked up.
# Whoever waits for a CPU waits for no lock and no layer.
_PARTS = in_all(*set(Kind) - {Kind.WAITING})
_MISSING = ("lookup-missing", "stat-missing")


def _with_threads(case: Case) -> OtherMeasurement | None:
    """Return this variant with the most at once, or the one that gains least where this one scales."""
    scaled = [
        each for each in case.measured(_METADATA) if case.detail(each, metadata.SCALING) is not None
    ]

    def gained(measurement: OtherMeasurement) -> float:
        slower, faster = case.detail(measurement, metadata.SCALING) or (1.0, 1.0)
        return slower / faster

    same_variant = [each for each in scaled if each.subject.variant == case.subject.variant]
    widest = max(same_variant, key=lambda each: each.subject.threads, default=None)
    if widest is not None and gained(widest) < _SCALES_SHARE:
        return widest
    return min(scaled, key=gained, default=None)


@cause(
    "metadata-lock",
    "A lock prevents the slower side from looking at several files at the same time.",
    workloads=frozenset((_METADATA,)),
    remedies={
        "work on a volume, or with a storage driver without such a lock (overlay2, not AUFS)": other_place
    },
    acts_through=_PARTS,
)
def _lock(case: Case) -> Effect:
    measurement = _with_threads(case)
    scaling = case.detail(measurement, metadata.SCALING) if measurement else None
    if measurement is None or scaling is None:
        return SideEvidence(not_measured).unseen(
            "This needs the same operations by one thread and by several at once on both sides.",
            workload=_METADATA,
        )
    threads = measurement.subject.threads
    evidence = SideEvidence(
        detail_evidence(
            measurement,
            metadata.SCALING,
            Unit.RATIO,
            "throughput {figure} with {threads} threads",
            note=" ({variant}, one thread is 1)",
            threads=count(threads),
            variant=measurement.subject.variant,
        )
    )
    slower, faster = scaling
    if slower >= _SCALES_SHARE * faster:
        return evidence.opposes("Several at once gain as much on the slower side.")
    quotas = [view.worker.cpu_quota for view in case.slower]
    if any(quota is not None and quota < threads for quota in quotas):
        return evidence.opposes(
            "The slower side's cgroup gives it fewer CPUs than threads that work at once."
        )
    if not measurement.is_decided:
        return evidence.unclear("Several at once gain less on the slower side.").may_be_chance()
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
    alone = case.known_times_as_long(case.sibling(threads=1))
    more = case.times_as_long(measurement) / alone
    effect = evidence.supports(
        "Several at once wait for each other on the slower side: a lock in its file system or "
        "storage driver.",
        # One thread never waits for a lock: where its time is explained, the lock has no part.
        Size(case.part_of(more), is_measured=True) if measurement.subject == case.subject else None,
    )
    mounts = [view.place.mount for view in case.slower if view.place is not None]
    types = ", ".join(sorted({mount.filesystem for mount in mounts if mount is not None}))
    return effect.also("The file system is {types}.", types=types) if types else effect


def _layers(view: View) -> RankedFact | None:
    place = view.place
    if place is None or place.kind is None:
        return None
    if place.overlay is None:
        # AUFS and others hide their layers.
        if place.kind == "overlay":
            return None
        return RankedFact(statement("no overlay ({kind})", kind=place.kind))
    layers = place.overlay.lower_layers
    return RankedFact(statement("overlay over {layers} layers", layers=count(layers)), layers)


_LAYERS = Ranking(
    name="layers",
    read=_layers,
    supports="A name is looked up in one layer after another, and the slower side has more layers.",
    unseen="The place's layers could not be seen.",
    same="Both sides have as many layers.",
)


@cause(
    "overlay-layers",
    "The slower side's place is an overlay of more layers.",
    workloads=frozenset((_METADATA,)),
    remedies={"work on a volume, or build the image with fewer layers": other_place},
    acts_through=_PARTS,
)
def _overlay_layers(case: Case) -> Effect:
    effect = _LAYERS.judge(case)
    missing = [each for variant in _MISSING for each in case.measured(_METADATA, variant)][:1]
    if not effect.is_slower or not missing or not case.differs:
        return effect
    ratio, layers = case.times_as_long(missing[0]), effect.evidence

    def evidence() -> tuple[Evidence, Evidence]:
        baseline, candidate = (
            replace(seen, observations=seen.observations + lookups.observations)
            for seen, lookups in zip(layers.read(), figures(missing)(), strict=True)
        )
        return baseline, candidate

    effect = replace(effect, evidence=SideEvidence(evidence))
    if ratio < SLOWER_AT_RATIO:
        return effect.evidence.opposes(
            "The slower side has more layers, but a name that is in none of them is looked up as "
            "fast."
        )
    return effect.also(
        "Looking up a name that is in none of them takes {ratio} as long.",
        ratio=Quantity(ratio, Unit.RATIO),
    )


@cause(
    "files-not-visible",
    "Files appear late to other threads on the slower side.",
    workloads=frozenset((_METADATA,)),
    remedies={"work on a volume, or with another storage driver (overlay2, not AUFS)": other_place},
)
def _files_not_visible(case: Case) -> Effect:
    measurements = case.measured(_METADATA, metadata.VISIBILITY)
    counts = case.detail(measurements[0], metadata.NOT_VISIBLE) if measurements else None
    if counts is None:
        return SideEvidence(not_measured).unseen(
            "This needs the variant visibility on both sides.", workload=_METADATA
        )
    template = "{figure} files not visible immediately"
    evidence = SideEvidence(
        detail_evidence(measurements[0], metadata.NOT_VISIBLE, Unit.COUNT, template)
    )
    slower, faster = counts
    if not slower and not faster:
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
