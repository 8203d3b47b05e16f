# SPDX-License-Identifier: MPL-2.0
"""What only Windows has: what scans files, which disk a place is on, and how its volume is set.

Windows does not record what a process waits for. So a setting is not separable from what has the
same effect, unless a trial changes it alone. Disks are compared by what idle ones write, or by what
they move in the time in which they are busy.
"""

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from statistics import median

from msgspec.structs import replace

from io_benchmark.analysis.explaining import rules
from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.causes.disk_speed import IDLE_RATE, more_in_either_way
from io_benchmark.analysis.explaining.effects import (
    Effect,
    Observe,
    Proof,
    SideEvidence,
    Size,
    span,
)
from io_benchmark.analysis.explaining.measured_gains import Push, follows
from io_benchmark.analysis.model.cause import Change, NoChange, Resource, Target
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import Unit, statement
from io_benchmark.analysis.model.time_parts import Kind, in_all, in_copies, in_lookups
from io_benchmark.analysis.reading.disks import STORAGE_SPACES
from io_benchmark.results import workloads
from io_benchmark.results.machine import WINDOWS
from io_benchmark.results.windows import WindowsPlace
from io_benchmark.results.workloads.cache_retrieve import TrialKind

_RULE = partial(rules.CauseRule, only_on=WINDOWS, proof=Proof.SETTING)
_CREATING = ("create-rename-unlink", "visibility")  # the variants of metadata that create files
_OFF_CPU = in_all(Kind.BLOCKED, Kind.ELSEWHERE)
_NO_SIZE = NoChange("nothing shows how much it costs, so it never holds")
_NO_DEFINITION = "give the pools' definition by --pools-file FILE."


def _place(run: Run) -> WindowsPlace | None:
    return run.place.windows if run.place is not None else None


def _if_set(
    setting: Callable[[WindowsPlace], bool | None], if_so: str, otherwise: str
) -> Callable[[Run], rules.RankedFact | None]:
    def read(run: Run) -> rules.RankedFact | None:
        place = _place(run)
        is_set = None if place is None else setting(place)
        if is_set is None:
            return None
        return rules.RankedFact(statement(if_so if is_set else otherwise), float(is_set))

    return read


def _fact(
    name: str,
    read: Callable[[Run], rules.RankedFact | None],
    supports: str,
    neither: str,
    unseen: str = "The worker could not read this.",
    further: tuple[Observe, ...] = (),
) -> rules.RankedFactRule:
    same = "This is so on both sides."
    fact = rules.RankedFactRule(
        name=name, read=read, supports=supports, neither=neither, same=same, unseen=unseen
    )
    return replace(fact, observe=(fact.tally, *further))


def _creates_no_files(case: Case) -> bool:
    return case.subject.workload == "metadata" and case.subject.variant not in _CREATING


_NO_NEW_FILES = rules.Objection(_creates_no_files, "These operations create no files.")


def _scans(run: Run) -> rules.RankedFact | None:
    """Rank whether Defender scans what is opened and closed, or which programs start."""
    host = run.host.windows if run.host is not None else None
    if host is None or host.defender.is_real_time is None:
        return None
    if not host.defender.is_real_time or host.defender.is_running is False:
        return rules.RankedFact(statement("Defender scans nothing in real time"))
    place, rank, where = _place(run), 1.0, ""
    if place is not None and workloads.of(run.subject.workload).per_place:
        if place.is_excluded:
            rank, where = 0.0, ", but not this place"
        elif place.is_trusted_dev_drive:
            rank, where = 0.5, ", but a Dev Drive later"
        elif place.is_excluded is None:
            where = ", its exclusions could not be read"
    return rules.RankedFact(statement("Defender scans in real time" + where), rank)


DEFENDER_SCAN = _RULE(
    name="defender-scan",
    hypothesis="Defender scans the slower side's files when they are opened and closed.",
    fact=_fact(
        "defender",
        _scans,
        "Only on the slower side Defender scans in real time, and does not exclude the place.",
        "Defender scans the files of neither side.",
        "Whether Defender scans in real time could not be read.",
    ).compare,
    objections=(_NO_NEW_FILES,),
    applies_to=rules.all_but("random-io", "sync-write", because="its file stays open")
    | rules.all_but("upload", "download", because="it waits for the network"),
    acts_through=_OFF_CPU,
    tried_by=TrialKind.EXCLUDED,
    change=NoChange("a task's profile does not show what waits for a scanner"),
    remedies=(
        rules.RemedyRule("exclude the tasks' folders from Defender's scans", Push.other_pool),
    ),
)


def _first_start_ns(run: Run) -> float | None:
    """Return how much longer the first process takes to start, per operation of the run."""
    times = run.lookup_ns if run.are_retrieves else run.total_ns
    return max(0.0, times[0] - median(times)) / run.operations_done if times else None


def _is_ephemeral(run: Run) -> bool | None:
    """Return whether the disk of Windows is a copy of the image on the machine's own disk."""
    disk = run.worker.defined.boot_disk if run.worker.defined is not None else None
    return None if disk is None else disk.is_ephemeral


def _remote_image(case: Case) -> Effect:
    first = span(
        "first-start", _first_start_ns, Unit.NANOSECONDS, "first start {value} longer per operation"
    )
    evidence, ephemeral = SideEvidence.of(case, first), case.slower.values(_is_ephemeral)
    effect = evidence.supports(
        "The slower side's first process takes longer to start: parts of an image are read from "
        "its remote disk when they are first used."
    ).if_enough(
        case,
        case.explained_share(_first_start_ns),
        "That its first process takes longer to start makes up {share} of the difference.",
        "The workload has no times.",
    )
    if not effect.is_slower or ephemeral == {True}:
        return effect
    if None not in ephemeral:
        return evidence.opposes("The slower side's disk of Windows is not a copy of an image.")
    unknown = "Whether its disk of Windows is a copy of a remote image is not known: "
    return replace(effect, proof=Proof.SETTING, size=None).also(unknown + _NO_DEFINITION)


REMOTE_IMAGE = _RULE(
    name="remote-image",
    proof=Proof.COST,
    hypothesis="The slower side reads its tools from a remote image when they first start.",
    fact=_remote_image,
    applies_to=rules.Only(("cache-retrieve", "spawn"), "they alone time each start of a process"),
    doubted_by=(rules.OtherCause("defender-scan", "Defender may scan a program at first, too."),),
    acts_through=in_lookups(*set(Kind) - {Kind.WAITING}),
    change=Change(Resource.DISKS, Target.IMAGE),
    remedies=(
        rules.RemedyRule(
            "read the tools once when the worker starts, before its first task",
            follows("Further starts read them from memory or from the machine's own disk."),
        ),
    ),
)


def _bus(run: Run) -> str:
    buses = {device.bus or "unknown" for device in run.place.leaf_devices} if run.place else set()
    return " and ".join(sorted(buses)) or "unknown"


def _disk(run: Run) -> rules.RankedFact | None:
    place = _place(run)
    if place is None or place.is_system_disk is None:
        return None
    where = "the temporary disk" if place.is_temporary_disk else "another disk"
    where = "the disk of Windows" if place.is_system_disk else where
    fact = statement(f"{where}, bus {{bus}}", bus=_bus(run))
    return rules.RankedFact(fact, float(place.is_system_disk))


def _kind(run: Run) -> rules.RankedFact | None:
    disks, bus = run.place.leaf_devices if run.place is not None else [], _bus(run)
    if "unknown" in bus or any(disk.kind == STORAGE_SPACES for disk in disks):
        return None
    turns = any(disk.queue.get("rotational") for disk in disks)  # the slowest kind
    fact = statement("bus {bus}" + (", rotational" if turns else ""), bus=bus)
    return rules.RankedFact(fact, 2.0 if turns else float(bus != "nvme"))


def _by_bandwidth(case: Case, effect: Effect) -> Effect:
    """Judge another disk by what both do; small operations measure nothing else."""
    if case.subject.workload in ("random-io", "sync-write"):
        return replace(effect, proof=Proof.COST)
    more = more_in_either_way(case)
    if more is not None and case.is_as_fast(more):
        return effect.evidence.opposes("The slower side's disk is another one, but as fast.")
    return replace(effect, size=more and Size(case.times_by_bandwidth(more)))


_MAY_DO_LESS = tuple(
    rules.OtherCause(name, "What the slower side's network disk may do explains more.")
    for name in ("disk-size", "machine-limit", "network-disk")
)
OS_DISK = _RULE(
    name="os-disk",
    hypothesis="The slower side works on the disk of Windows, the faster side on another one.",
    fact=_fact(
        "place",
        _disk,
        "The slower side's place is on the disk of Windows, the faster side's on another one.",
        "Neither side's place is on the disk of Windows.",
        further=(IDLE_RATE,),
    ).compare,
    cost=_by_bandwidth,
    applies_to=rules.WAITS_FOR_DISKS,
    excluded_by=_MAY_DO_LESS,
    tried_by=TrialKind.PACE,
    change=Change(Resource.DISKS, Target.IMAGE),
    remedies=(rules.RemedyRule("work on the temporary or an NVMe disk", Push.other_place),),
)
DISK_KIND = _RULE(
    name="disk-kind",
    hypothesis="The slower side's disk is of a slower kind: it turns, or is not NVMe.",
    fact=_fact(
        "disk-kind",
        _kind,
        "The slower side's disk is of a slower kind.",
        "Both sides' disks are NVMe.",
        "The disks do not report their bus.",
        further=(IDLE_RATE,),
    ).compare,
    cost=_by_bandwidth,
    applies_to=rules.WAITS_FOR_DISKS,
    excluded_by=(*_MAY_DO_LESS, rules.OtherCause("os-disk", "Which disk it is explains that.")),
    tried_by=TrialKind.PACE,
    change=Change(Resource.DISKS, Target.POOL),
    remedies=(rules.RemedyRule("use a machine with NVMe disks", Push.other_pool),),
)


def _device(run: Run) -> rules.RankedFact | None:
    place, is_ephemeral = _place(run), _is_ephemeral(run)
    is_shared = None if place is None else place.is_temporary_disk and is_ephemeral
    if place is None or is_shared is None:
        return None
    disk = "temporary disk" if place.is_temporary_disk else "another disk"
    shared = "shared with Windows" if is_shared else "not shared with Windows"
    paging = ", with the paging file" if place.has_paging_file else ""
    return rules.RankedFact(statement(f"{disk}, {shared}{paging}"), float(is_shared))


SHARED_IO = _RULE(
    name="shared-io",
    hypothesis="The slower side's place and Windows share one device of the host, and its limit.",
    fact=_fact(
        "device",
        _device,
        "The slower side's temporary disk and its ephemeral disk of Windows are one device with "
        "one limit.",
        "Neither side's place shares its device with Windows.",
        "Whether the place shares its device with Windows is not known: " + _NO_DEFINITION,
    ).compare,
    applies_to=rules.WAITS_FOR_DISKS,
    tried_by=TrialKind.PACE,
    change=_NO_SIZE,
)


SHORT_NAMES = _RULE(
    name="short-names",
    hypothesis="The slower side's volume makes an 8.3 name for each new file.",
    fact=_fact(
        "short-names",
        _if_set(attrgetter("short_names"), "8.3 names made", "no 8.3 names made"),
        "Only the slower side's volume makes 8.3 names.",
        "Neither side's volume makes 8.3 names.",
    ).compare,
    objections=(_NO_NEW_FILES,),
    applies_to=rules.Only(("metadata", "unpack"), "they alone create many files"),
    acts_through=_OFF_CPU | in_all(Kind.KERNEL),
    change=_NO_SIZE,
)


DRIVE_COMPRESSION = _RULE(
    name="drive-compression",
    hypothesis="The slower side's file system compresses or encrypts its files.",
    fact=_fact(
        "compression",
        _if_set(
            lambda place: place.is_compressed if not place.is_encrypted else True,
            "compressed or encrypted",
            "neither compressed nor encrypted",
        ),
        "Only the slower side's place is compressed or encrypted.",
        "Neither side's place is compressed or encrypted.",
    ).compare,
    applies_to=rules.READS_ITS_PLACE | rules.all_but("metadata", because="its files are empty"),
    acts_through=in_copies(Kind.BLOCKED, Kind.ELSEWHERE, Kind.KERNEL),
    change=_NO_SIZE,
)
