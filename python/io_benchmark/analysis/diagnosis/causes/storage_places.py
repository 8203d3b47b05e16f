# SPDX-License-Identifier: MPL-2.0
"""Where the place is: overlay or volume, which file system, and what that does with a copy."""

from operator import attrgetter

from msgspec.structs import replace

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.evidence import WRITE_RATE, WRITTEN_SHARE, mostly_reads, tally
from io_benchmark.analysis.diagnosis.measured_gains import (
    follows,
    other_place,
    other_pool,
    other_subject,
)
from io_benchmark.analysis.diagnosis.rules import (
    CauseRule,
    Effect,
    Fact,
    Proof,
    RankedFact,
    Ranking,
    SideEvidence,
    cause,
)
from io_benchmark.analysis.observed.worker_view import LAYERED, View
from io_benchmark.analysis.parts.time_parts import Kind, in_copies
from io_benchmark.analysis.statements import Statement, count, statement
from io_benchmark.results.trials import TrialKind

ORDER = 30
# Bytes copied reach a volume or a directory directly; an overlay looks every name up in layers.
_PLACE_RANKS = {"memory": 0.0, "volume": 1.0, "directory": 1.0, "overlay": 2.0, "network": 3.0}
_FILESYSTEM_RANKS = {
    **dict.fromkeys(("tmpfs", "ramfs"), 0.0),
    **dict.fromkeys(("ext2", "ext3", "ext4", "xfs", "f2fs"), 1.0),
    **dict.fromkeys(("btrfs", "zfs"), 2.0),  # copy on write, with checksums
    **dict.fromkeys(("nfs", "nfs4", "cifs", "9p", "virtiofs", "ceph", "fuse.sshfs"), 3.0),
}
# Kinds of devices and levels of RAID that do work for each byte.
_LAYER_COSTS = {
    "crypt": "encryption (dm-crypt)",
    "loop": "a file as a disk (loop)",
    **dict.fromkeys(("raid4", "raid5", "raid6"), "parity (RAID)"),
}
_FILESYSTEM_TYPE = attrgetter("filesystem_type")
_FLUSHED_SHARE = 0.5  # of the bytes copied: more of them reached the disk than did not


def _place(view: View) -> RankedFact | None:
    place = view.place
    if place is None or place.kind not in _PLACE_RANKS:
        return None
    engine = view.host.container.engine if view.host and view.host.container else ""
    template = "{kind}" + (" over {layers} layers" if place.overlay else "")
    layers = count(place.overlay.lower_layers if place.overlay else 0)
    template += ", in {engine}" if engine else ""
    seen = statement(template, kind=place.kind, layers=layers, engine=engine or "")
    return RankedFact(seen, _PLACE_RANKS[place.kind])


_storage_place = CauseRule(
    "storage-place",
    "The slower side's place is an overlay or a network file system, the faster side's a volume.",
    Ranking(
        name="place",
        read=_place,
        supports="The slower side's place does more work between a file and its disk.",
        unseen="The kind of the place could not be seen.",
        same="Both sides have the same kind of place.",
    ).judge,
    workloads=frozenset(
        ("cache-retrieve", "unpack", "random-io", "sync-write", "metadata", "exec")
    ),
    remedies={"work on a volume instead of the container's overlay": other_place},
    acts_through=in_copies(Kind.BLOCKED, Kind.ELSEWHERE, Kind.KERNEL),
    proof=Proof.SETTING,
)


def _filesystem(view: View) -> RankedFact | None:
    name = view.filesystem_type
    if name is None or name in LAYERED:
        return None
    return RankedFact(statement("{type}", type=name), _FILESYSTEM_RANKS.get(name, 1.0))


_FILE_SYSTEM = Ranking(
    name="file-system",
    read=_filesystem,
    supports="The slower side's file system does more work for each write.",
    unseen="The file system could not be seen.",
    unranked="The file systems differ, and the load decides which is faster. Only the same "
    "file system on both sides would show it.",
)


def storage_differs(case: Case) -> bool:
    """Return whether mounts differ because the kinds of place or the file systems do."""
    slower, faster = (side.values(_FILESYSTEM_TYPE) for side in (case.slower, case.faster))
    return _storage_place.judge(case).is_slower or not slower & faster


@cause(
    "file-system",
    "The slower side has a slower file system.",
    workloads=frozenset(("cache-retrieve", "unpack", "random-io", "sync-write", "metadata")),
    remedies={"format the place with the faster side's file system": other_pool},
    acts_through=in_copies(Kind.BLOCKED, Kind.ELSEWHERE, Kind.KERNEL),
    proof=Proof.SETTING,
)
def _file_system(case: Case) -> Effect:
    effect = _FILE_SYSTEM.judge(case)
    is_known = None not in case.values(_filesystem)
    if is_known and case.differs and _storage_place.judge(case).is_slower:
        return effect.evidence.opposes(
            "The file system follows from the kind of place, which differs."
        )
    is_layered = bool(case.values(_FILESYSTEM_TYPE) & set(LAYERED))
    if effect.fact is Fact.UNSEEN and is_layered:
        return effect.evidence.unseen(
            "An overlay hides the file system below it; a place on a volume would show it."
        )
    return effect


def _layers(view: View) -> RankedFact | None:
    """Rank what lies between the file system and the disks by the work that it does for each byte."""
    if view.place is None or not view.place.devices:
        return None
    kinds = {kind for device in view.place.devices for kind in (device.kind, device.raid_level)}
    names = sorted({name for kind, name in _LAYER_COSTS.items() if kind in kinds})
    layers = statement("{layers}", layers=", ".join(names) or "no such layer")
    return RankedFact(layers, len(names))


_device_layers = CauseRule(
    "device-layers",
    "Between the slower side's files and disks is a layer that does work for each byte.",
    Ranking(
        name="layers",
        read=_layers,
        supports="Between the slower side's files and disks is a layer that does work for each byte.",
        unseen="The devices under the place could not be seen.",
        same="Both sides have the same layers between files and disks.",
        no_waits="The slower side has such a layer, but did not wait for its disks.",
    ).judge,
    workloads=frozenset(("cache-retrieve", "unpack", "random-io", "sync-write")),
    acts_through=in_copies(Kind.BLOCKED),
    proof=Proof.SETTING,
    tried_by=TrialKind.PACE,
)


def _flushes(view: View) -> bool | None:
    """Return whether closing a rewritten file writes it out."""
    name = view.filesystem_type
    if name is None or name in LAYERED:
        return None
    if name != "ext4" or view.mount_options.keys() & {"noauto_da_alloc", "nodelalloc"}:
        return False
    return view.written_share is None or view.written_share >= _FLUSHED_SHARE


def _flush_fact(view: View) -> Statement | None:
    flushes, name = _flushes(view), view.filesystem_type
    if flushes is None or name is None:
        return None
    if name != "ext4":
        return statement("{type}, which has its own rules", type=name)
    option = "noauto_da_alloc" if "noauto_da_alloc" in view.mount_options else "auto_da_alloc"
    does = "flushes" if flushes else "does not flush"
    return statement(f"{{type}} with {{option}}, {does} a rewritten file", type=name, option=option)


@cause(
    "ext4-flush",
    "ext4 flushes a rewritten file when it is closed, so that copies wait for the disk.",
    remedies={
        "remove the destination before copying (cp --remove-destination, or unlink it first)": other_subject(
            "destination",
            "unlink",
            "destination unlink",
            "A file that is removed while its pages are dirty is never written.",
        ),
        "mount the place with noauto_da_alloc": follows(
            "ext4 then keeps a rewritten file in memory when it is closed. This is not "
            "measured here."
        ),
    },
    acts_through=in_copies(Kind.BLOCKED),
    tried_by=TrialKind.UNLINK,
)
def _ext4_flush(case: Case) -> Effect:
    evidence = SideEvidence.of(case, tally("flush", _flush_fact), WRITTEN_SHARE, WRITE_RATE)
    if case.subject.destination != "overwrite":
        return evidence.same(
            "Only a file that is truncated and rewritten is flushed; destination {destination} "
            "does not rewrite files.",
            destination=case.subject.destination,
        )
    slower, faster = case.means(_flushes)
    if slower is None or faster is None:
        return evidence.unseen(
            "The file system below the place is not visible. Destination unlink in the same push "
            "would show it.",
            workload="cache-retrieve",
        )
    if slower == 0 and faster == 0:
        return evidence.same("Neither side flushes a rewritten file by ext4's rule.")
    if slower != faster:
        return evidence.compared(
            slower,
            faster,
            "Only the slower side writes each rewritten file out when it is closed (auto_da_alloc).",
        )
    shared = evidence.opposes(
        "Both sides write each rewritten file out when it is closed (auto_da_alloc), so this does "
        "not differ. It makes copies wait for the disks: a destination that is removed first is "
        "never written."
    )
    # Copies that wait for reads would do so to any destination.
    return shared if mostly_reads(case) else replace(shared, fact=Fact.SHARED)


def _shares(view: View) -> RankedFact | None:
    retrieves = view.retrieves
    if retrieves is None or retrieves.shares_extents is None:
        return None
    method = retrieves.copy_method or ""
    if retrieves.shares_extents:
        return RankedFact(statement("copies share their extents ({method})", method=method), 0.0)
    return RankedFact(statement("copies move their bytes ({method})", method=method), 1.0)


_reflink = CauseRule(
    "reflink",
    "Only the faster side's copies share their bytes.",
    Ranking(
        name="copies",
        read=_shares,
        supports="Only the faster side's copies are reflinks, which move no bytes.",
        unseen="The file system does not report whether a copy shares its extents.",
        same="Copies are made the same way on both sides.",
    ).judge,
    remedies={
        "use a file system that shares extents (xfs with reflink, btrfs) and cp --reflink=auto": other_pool
    },
    acts_through=in_copies(Kind.BLOCKED, Kind.KERNEL),
)
