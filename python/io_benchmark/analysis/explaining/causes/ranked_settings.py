# SPDX-License-Identifier: MPL-2.0
"""Settings that are compared by rank: limits of memory and CPU, the place, and what is below it."""

from io_benchmark.analysis.explaining import rules
from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.effects import Effect, Fact, Proof
from io_benchmark.analysis.explaining.facts.disks import READS, WRITES
from io_benchmark.analysis.explaining.measured_gains import Push
from io_benchmark.analysis.model.cause import Change, NoChange, Resource, Target
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import Quantity, Unit, count, statement
from io_benchmark.analysis.model.time_parts import Kind, in_all, in_copies, in_lookups
from io_benchmark.analysis.reading.counters import per_operation_ms
from io_benchmark.analysis.reading.mounts import LAYERED, filesystem_type
from io_benchmark.results.machine import LINUX, WINDOWS
from io_benchmark.results.parts import NS_PER_S
from io_benchmark.results.workloads.cache_retrieve import TrialKind

NO_HIERARCHY = "No cgroup hierarchy could be read."
NO_LIMIT = statement("no limit, as far as the container sees")
NEITHER = "Neither side has such a limit, as far as the containers see."
_ROOMY = 2  # a memory limit does not affect the page cache where it holds the files twice
_CPUS_NEEDED = 2.0  # one process copies while the kernel writes back
FAR_ABOVE = float(1 << 50)  # unlimited ranks 0; any limit ranks by how far below this it is
# Bytes copied reach a volume or a directory directly; an overlay looks every name up in layers.
_PLACE_RANKS = {"memory": 0.0, "volume": 1.0, "directory": 1.0, "overlay": 2.0, "network": 3.0}
# Other file systems rank 1: one write of the data, at most a journal of names.
_FILESYSTEM_RANKS = {
    "tmpfs": 0.0, "ramfs": 0.0,  # in memory
    "btrfs": 2.0, "zfs": 2.0,  # copy on write, with checksums
    # Over a network or to another system.
    "nfs": 3.0, "nfs4": 3.0, "cifs": 3.0, "9p": 3.0, "virtiofs": 3.0, "ceph": 3.0,
    "fuse.sshfs": 3.0,
}  # fmt: skip
# Kinds of devices and levels of RAID that do work for each byte.
_LAYER_COSTS = {
    "crypt": "encryption (dm-crypt)",
    "loop": "a file as a disk (loop)",
    "raid4": "parity (RAID)",
    "raid5": "parity (RAID)",
    "raid6": "parity (RAID)",
}


def memory_limit_bytes(run: Run) -> int | None:
    """Return the tightest limit of memory that is below the machine's memory."""
    machine = run.host.memory_bytes if run.host is not None else None
    limits = run.limits.memory if run.limits is not None else []
    limits_bytes = [limit.bytes for limit in limits if limit.bytes >= 0]
    return min((size for size in limits_bytes if machine is None or size < machine), default=None)


def _memory(run: Run) -> rules.RankedFact | None:
    if not run.sees_cgroups:
        return None
    limit_bytes = memory_limit_bytes(run)
    if limit_bytes is None:
        return rules.RankedFact(NO_LIMIT)
    retrieves = run.retrieves
    needed_bytes = sum(retrieves.file_sizes_bytes) if retrieves is not None else 0
    is_roomy = 0 < _ROOMY * needed_bytes <= limit_bytes
    seen = statement(
        "{limit}, the cache has {needed}" + (": holds it twice" if is_roomy else ""),
        limit=Quantity(limit_bytes, Unit.BYTES),
        needed=Quantity(needed_bytes, Unit.BYTES),
    )
    return rules.RankedFact(seen, 0.0 if is_roomy else FAR_ABOVE / max(1, limit_bytes))


def _memory_limit(case: Case, effect: Effect) -> Effect:
    """Judge what a limit of memory costs: bytes that are read again, or written early."""
    return effect.if_enough(
        case,
        _moved_more_share(case),
        "The slower side's memory is limited more tightly, but what its disks read and wrote more "
        "makes up {share} of the difference.",
    )


CGROUP_MEMORY_LIMIT = rules.CauseRule(
    name="cgroup-memory-limit",
    only_on=LINUX,
    hypothesis="A cgroup limits the slower side's memory.",
    fact=rules.RankedFactRule(
        name="memory-limit",
        read=_memory,
        supports="The slower side's memory is limited more tightly, and the page cache counts "
        "towards it.",
        unseen=NO_HIERARCHY,
        same="Both sides have the same limit.",
        neither=NEITHER,
    ).compare,
    cost=_memory_limit,
    applies_to=rules.Only(
        ("cache-retrieve",), "the bytes that are read again are those of retrieves"
    ),
    acts_through=in_all(Kind.BLOCKED, Kind.KERNEL),
    change=NoChange(
        "it acts through disks and CPUs, so a prediction does not show which one waits"
    ),
    remedies=(rules.RemedyRule("lift the cgroup's memory limit", Push.other_pool),),
)


def _moved_more_share(case: Case) -> float | None:
    """Return the share of the difference in which the slower side's disks moved more bytes."""
    moving_s = 0.0
    for way in (READS, WRITES):
        more, rate = case.more(way.moved_per_sample), case.slower.mean(way.rate_kept_up)
        if more is None:
            return None
        if more > 0 and rate:
            moving_s += more / rate
    return case.share_of(moving_s * NS_PER_S)


def _cpu(run: Run) -> rules.RankedFact | None:
    if not run.sees_cgroups:
        return None
    quota = run.worker.cpu_quota
    if quota is None:
        return rules.RankedFact(NO_LIMIT)
    cpus = Quantity(quota, Unit.NUMBER)
    threads = run.subject.threads if run.is_measured else 0
    if quota >= max(_CPUS_NEEDED, threads):
        user = "its threads use" if threads else "a copy uses"
        return rules.RankedFact(statement(f"{{cpus}} CPUs: more than {user}", cpus=cpus))
    return rules.RankedFact(statement("{cpus} CPUs", cpus=cpus), 1 / max(quota, 1e-6))


def _quota_ns(run: Run) -> float | None:
    """Return how long a quota below one CPU keeps a retrieve from its CPU."""
    work_ms, quota = per_operation_ms(run, "own_user_ms", "own_system_ms"), run.worker.cpu_quota
    kept_times = 0.0 if quota is None else max(0.0, 1 / max(quota, 1e-6) - 1)
    return None if work_ms is None else work_ms * 1e6 * kept_times


def _cpu_limit(case: Case, effect: Effect) -> Effect:
    # Several at once need more than one CPU.
    share = case.explained_share(_quota_ns) if case.subject.workload == "cache-retrieve" else None
    return effect.if_enough(
        case,
        share,
        "The slower side has a smaller quota, but that predicts only {share} of the difference.",
    )


CGROUP_CPU_LIMIT = rules.CauseRule(
    name="cgroup-cpu-limit",
    only_on=LINUX,
    hypothesis="A cgroup limits the slower side's CPU time.",
    fact=rules.RankedFactRule(
        name="cpu-quota",
        read=_cpu,
        supports="The slower side's cgroup has a smaller quota of CPU time.",
        unseen=NO_HIERARCHY,
        same="Both sides have the same quota.",
        neither=NEITHER,
    ).compare,
    cost=_cpu_limit,
    applies_to=rules.all_but("random-io", "sync-write", because="it hardly uses a CPU"),
    acts_through=in_all(Kind.WAITING, Kind.ELSEWHERE) | in_lookups(Kind.BLOCKED),
    change=Change(Resource.CPU, Target.IMAGE),
    remedies=(rules.RemedyRule("lift the cgroup's CPU quota", Push.other_pool),),
)


def _place(run: Run) -> rules.RankedFact | None:
    place = run.place
    if place is None or place.kind not in _PLACE_RANKS:
        return None
    engine = run.host.container.engine if run.host and run.host.container else ""
    template = "{kind}" + (" over {layers} layers" if place.overlay else "")
    layers = count(place.overlay.lower_layers if place.overlay else 0)
    template += ", in {engine}" if engine else ""
    seen = statement(template, kind=place.kind, layers=layers, engine=engine or "")
    return rules.RankedFact(seen, _PLACE_RANKS[place.kind])


STORAGE_PLACE = rules.CauseRule(
    name="storage-place",
    only_on=LINUX,
    hypothesis="The slower side's place is an overlay or a network file system, the faster side's "
    "a volume.",
    fact=rules.RankedFactRule(
        name="place",
        read=_place,
        supports="The slower side's place does more work between a file and its disk.",
        unseen="The kind of the place could not be seen.",
        same="Both sides have the same kind of place.",
    ).compare,
    applies_to=rules.USES_A_PLACE,
    acts_through=in_copies(Kind.BLOCKED, Kind.ELSEWHERE, Kind.KERNEL),
    proof=Proof.SETTING,
    change=NoChange("nothing shows how much it costs, so it never holds"),
    remedies=(
        rules.RemedyRule("work on a volume instead of the container's overlay", Push.other_place),
    ),
)


def _filesystem(run: Run) -> rules.RankedFact | None:
    name = filesystem_type(run)
    if name is None or name in LAYERED:
        return None
    return rules.RankedFact(statement("{type}", type=name), _FILESYSTEM_RANKS.get(name, 1.0))


def _file_system(case: Case, effect: Effect) -> Effect:
    if effect.fact is Fact.UNCLEAR and case.system == WINDOWS:
        # NTFS and ReFS: what either costs is not separable from anything else.
        return effect.evidence.supports("The file systems differ.")
    if effect.fact is Fact.UNSEEN and case.values(filesystem_type) & set(LAYERED):
        return effect.evidence.unseen(
            "An overlay hides the file system below it; a place on a volume would show it."
        )
    return effect


FILE_SYSTEM = rules.CauseRule(
    name="file-system",
    hypothesis="The slower side has a slower file system.",
    fact=rules.RankedFactRule(
        name="file-system",
        read=_filesystem,
        supports="The slower side's file system does more work for each write.",
        unseen="The file system could not be seen.",
        unranked="The file systems differ, and the load decides which is faster. Only the same "
        "file system on both sides would show it.",
    ).compare,
    cost=_file_system,
    applies_to=rules.READS_ITS_PLACE,
    weighed_facts=rules.EVERY_FACT,
    excluded_by=(
        rules.OtherCause(
            "storage-place",
            "The file system follows from the kind of place, which differs.",
            where=lambda case: None not in case.values(_filesystem),
            facts=rules.EVERY_FACT,
        ),
    ),
    acts_through=in_copies(Kind.BLOCKED, Kind.ELSEWHERE, Kind.KERNEL),
    proof=Proof.SETTING,
    change=NoChange("nothing shows how much it costs, so it never holds"),
    remedies=(
        rules.RemedyRule("format the place with the faster side's file system", Push.other_pool),
    ),
)


def _layers(run: Run) -> rules.RankedFact | None:
    """Rank what is between the file system and the disks by its work for each byte."""
    if run.place is None or not run.place.devices:
        return None
    kinds = {kind for device in run.place.devices for kind in (device.kind, device.raid_level)}
    names = sorted({name for kind, name in _LAYER_COSTS.items() if kind in kinds})
    layers = statement("{layers}", layers=", ".join(names) or "no such layer")
    return rules.RankedFact(layers, len(names))


DEVICE_LAYERS = rules.CauseRule(
    name="device-layers",
    only_on=LINUX,
    hypothesis="Between the slower side's files and disks is a layer that does work for each byte.",
    fact=rules.RankedFactRule(
        name="layers",
        read=_layers,
        supports="Between the slower side's files and disks is a layer that does work for each "
        "byte.",
        unseen="The devices under the place could not be seen.",
        same="Both sides have the same layers between files and disks.",
        no_waits="The slower side has such a layer, but did not wait for its disks.",
    ).compare,
    applies_to=rules.WAITS_FOR_DISKS,
    proof=Proof.SETTING,
    tried_by=TrialKind.PACE,
    change=NoChange("it has no remedy"),
)
