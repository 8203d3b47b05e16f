# SPDX-License-Identifier: MPL-2.0
"""What makes operations on file names slow: a lock, layers, or files that are not visible yet."""

from io_benchmark.analysis.explaining import effects, rules
from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.measured_gains import Push
from io_benchmark.analysis.model.cause import NoChange
from io_benchmark.analysis.model.measurement import OtherMeasurement
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import Unit, count, ratio_of, statement
from io_benchmark.analysis.model.time_parts import Kind, in_all
from io_benchmark.number_text import plural
from io_benchmark.results import workloads
from io_benchmark.results.machine import LINUX

_METADATA = "metadata"
_SCALES_SHARE = 0.75  # of the faster side's gain by several at once; below it, a lock is seen
# New names are looked up in every layer; the kernel remembers those that it has looked up.
# Whoever waits for a CPU waits for no lock and no layer.
_PARTS = in_all(*set(Kind) - {Kind.WAITING})
_MISSING = ("lookup-missing", "stat-missing")
_NOT_PROFILED = NoChange("a task's profile does not have its operations on names")
_OF_NAMES = rules.Only((_METADATA,), "no other workload times operations on names")


def _with_threads(case: Case) -> OtherMeasurement | None:
    """Return this variant with the most at once; where it scales, the one that gains least."""
    scaled = [scale for scale in case.measured(_METADATA) if case.detail(scale, workloads.SCALING)]

    def gained(measurement: OtherMeasurement) -> float:
        slower, faster = case.detail(measurement, workloads.SCALING) or (1.0, 1.0)
        return slower / faster

    same_variant = [scale for scale in scaled if scale.subject.variant == case.subject.variant]
    widest = max(same_variant, key=lambda scale: scale.subject.threads, default=None)
    if widest is not None and gained(widest) < _SCALES_SHARE:
        return widest
    return min(scaled, key=gained, default=None)


def _lock(case: Case) -> effects.Effect:
    measurement = _with_threads(case)
    scaling = case.detail(measurement, workloads.SCALING) if measurement else None
    if measurement is None or scaling is None:
        return effects.NOT_MEASURED.needs(
            "the same operations by one thread and by several at once", _METADATA
        )
    threads = measurement.subject.threads
    evidence = effects.SideEvidence.from_detail(
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
        limit = "cgroup" if case.system == LINUX else "job object"
        return evidence.opposes(
            f"The slower side's {limit} gives it fewer CPUs than threads that work at once."
        )
    if not measurement.is_decided:
        return evidence.supports("Several at once gain less on the slower side.").may_be_chance()
    # Of the whole sides, as the scaling is.
    share = case.of_measurement(measurement).share_at_most(_PARTS)
    if share is not None and not effects.is_enough(share):
        return evidence.opposes(
            "Several at once gain less on the slower side because they wait for a CPU."
        )
    if case.subject.threads == 1:
        return evidence.opposes(
            "Several at once gain less on the slower side, but what is explained here is done by "
            "one thread, which never waits for a lock."
        )
    more = case.times_as_long(measurement) / case.known_times_as_long(case.sibling(threads=1))
    effect = evidence.supports(
        "Several at once wait for each other on the slower side: a lock in its file system or "
        "storage driver.",
        # One thread never waits for a lock: where its time is explained, the lock has no part.
        effects.Size.measured(case, more) if measurement.subject == case.subject else None,
    )
    mounts = [run.place.mount for run in case.slower if run.place is not None]
    types = ", ".join(sorted({mount.filesystem for mount in mounts if mount is not None}))
    return effect.also("The file system is {types}.", types=types) if types else effect


METADATA_LOCK = rules.CauseRule(
    name="metadata-lock",
    hypothesis="A lock prevents the slower side from looking at several files at the same time.",
    fact=_lock,
    applies_to=_OF_NAMES,
    acts_through=_PARTS,
    change=_NOT_PROFILED,
    remedies=(
        rules.RemedyRule(
            "work on a volume, or with a storage driver without such a lock (overlay2, not AUFS)",
            Push.other_place,
            only_on=LINUX,
        ),
    ),
)


def _layers(run: Run) -> rules.RankedFact | None:
    place = run.place
    if place is None or place.kind is None:
        return None
    if place.overlay is None:
        # AUFS and others hide their layers.
        if place.kind == "overlay":
            return None
        return rules.RankedFact(statement("no overlay ({kind})", kind=place.kind))
    layers = place.overlay.lower_layers
    return rules.RankedFact(statement("overlay over {layers} layers", layers=count(layers)), layers)


def _overlay_layers(case: Case, effect: effects.Effect) -> effects.Effect:
    missing = [lookup for variant in _MISSING for lookup in case.measured(_METADATA, variant)]
    if not missing or not case.differs:
        return effect
    ratio = case.times_as_long(missing[0])
    if ratio < effects.SLOWER_AT_RATIO:
        return effect.evidence.opposes(
            "The slower side has more layers, but a name that is in none of them is looked up as "
            "fast."
        )
    return effect.also(
        "Looking up a name that is in none of them takes {ratio} as long.", ratio=ratio_of(ratio)
    )


OVERLAY_LAYERS = rules.CauseRule(
    name="overlay-layers",
    only_on=LINUX,
    hypothesis="The slower side's place is an overlay of more layers.",
    fact=rules.RankedFactRule(
        name="layers",
        read=_layers,
        supports="A name is looked up in one layer after another, and the slower side has more "
        "layers.",
        unseen="The place's layers could not be seen.",
        same="Both sides have as many layers.",
    ).compare,
    cost=_overlay_layers,
    applies_to=_OF_NAMES,
    acts_through=_PARTS,
    change=_NOT_PROFILED,
    remedies=(
        rules.RemedyRule(
            "work on a volume, or build the image with fewer layers", Push.other_place
        ),
    ),
)


def _files_not_visible(case: Case) -> effects.Effect:
    measurements = case.measured(_METADATA, workloads.VISIBILITY)
    counts = case.detail(measurements[0], workloads.NOT_VISIBLE) if measurements else None
    if counts is None:
        return effects.NOT_MEASURED.needs("the variant visibility", _METADATA)
    template = "files not visible immediately: {figure}"
    evidence = effects.SideEvidence.from_detail(
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


FILES_NOT_VISIBLE = rules.CauseRule(
    name="files-not-visible",
    hypothesis="Files appear late to other threads on the slower side.",
    fact=_files_not_visible,
    applies_to=_OF_NAMES,
    acts_through=frozenset(),
    change=_NOT_PROFILED,
    remedies=(
        rules.RemedyRule(
            "work on a volume, or with another storage driver (overlay2, not AUFS)",
            Push.other_place,
        ),
    ),
)
