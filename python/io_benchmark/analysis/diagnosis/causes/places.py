# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Where the place lies: overlay or volume, file system, and what it does with a copy."""

from collections.abc import Sequence

from io_benchmark.analysis.diagnosis.case import Case, Finding, Rule, View, mean_of
from io_benchmark.analysis.diagnosis.causes.mounts import options_of
from io_benchmark.analysis.diagnosis.disk_waits import rates, waits_for_disks
from io_benchmark.analysis.diagnosis.evidence import plain, span, tally
from io_benchmark.analysis.diagnosis.judging import NOTHING_TO_EXPLAIN, Reading, Words, by_rank
from io_benchmark.analysis.model import State

# Bytes copied reach a volume or a directory as they are; an overlay looks every name up in layers.
PLACE_RANKS = {"memory": 0.0, "volume": 1.0, "directory": 1.0, "overlay": 2.0, "network": 3.0}
FILESYSTEM_RANKS = {
    **dict.fromkeys(("tmpfs", "ramfs"), 0.0),
    **dict.fromkeys(("ext2", "ext3", "ext4", "xfs", "f2fs"), 1.0),
    **dict.fromkeys(("btrfs", "zfs"), 2.0),  # copy on write, with checksums
    **dict.fromkeys(("nfs", "nfs4", "cifs", "9p", "virtiofs", "ceph", "fuse.sshfs"), 3.0),
}
FLUSHED_SHARE = 0.5  # of the bytes copied: more of them reached the disk than did not


# --- storage-place ---


def _place(view: View) -> Reading | None:
    place = view.place
    if place is None or place.kind not in PLACE_RANKS:
        return None
    text = place.kind
    if place.overlay is not None:
        text += f" over {place.overlay.lower_layers} layers"
    engine = view.host.container.engine if view.host and view.host.container else None
    text += f", in {plain(engine, 20)}" if engine else ""
    return Reading(text, PLACE_RANKS[place.kind])


def storage_place(case: Case) -> Finding:
    return by_rank(
        case,
        _place,
        Words(
            supported="the slower side's place does more between a file and its disk",
            missing="what kind of place it was could not be seen",
            same="the same kind of place on both sides",
        ),
    )


# --- file-system ---


def _type(view: View) -> str | None:
    place = view.place
    if place is None:
        return None
    if place.filesystem is not None:
        return place.filesystem.type
    return place.mount.filesystem if place.mount is not None else None


def _filesystem(view: View) -> Reading | None:
    name = _type(view)
    if name is None or name in ("overlay", "aufs"):
        return None
    return Reading(plain(name, 40), FILESYSTEM_RANKS.get(name, 1.0))


def file_system(case: Case) -> Finding:
    types = {_type(view) for view in (*case.baseline, *case.candidate)}
    overlaid = bool(types & {"overlay", "aufs"})
    return by_rank(
        case,
        _filesystem,
        Words(
            supported="the slower side's file system does more for each write",
            missing="an overlay hides the file system below it: a place on a volume would tell"
            if overlaid
            else "the file system could not be seen",
            undecided="they differ, and which is the faster one depends on the load: only the same "
            "file system on both would tell",
        ),
    )


# --- ext4-flush ---


def _flushes(view: View) -> bool | None:
    """Does closing a rewritten file write it out here?"""
    name = _type(view)
    if name is None or name in ("overlay", "aufs"):
        return None
    if name != "ext4":
        return False
    options = options_of(view)
    if "noauto_da_alloc" in options or "nodelalloc" in options:
        return False
    return view.written_share is None or view.written_share >= FLUSHED_SHARE


def _flush_evidence(views: Sequence[View]) -> str:
    def text(view: View) -> str | None:
        flushes = _flushes(view)
        if flushes is None:
            return None
        name = plain(_type(view) or "", 20)
        if name != "ext4":
            return f"{name}, which has rules of its own"
        heuristic = "noauto_da_alloc" if "noauto_da_alloc" in options_of(view) else "auto_da_alloc"
        return f"{name} with {heuristic}, {'flushes' if flushes else 'does not flush'} a rewritten file"

    def percent(view: View) -> float | None:
        return None if view.written_share is None else view.written_share * 100

    return (
        f"{tally(views, text)}; written to the disks, of the bytes copied: "
        f"{span(views, percent, '%')}, at {rates(views)}"
    )


def ext4_flush(case: Case) -> Finding:
    evidence = _flush_evidence(case.baseline), _flush_evidence(case.candidate)
    if case.subject.destination != "overwrite":
        return Finding(
            State.RULED_OUT,
            *evidence,
            "only a file that is truncated and rewritten is flushed; destination "
            f"{case.subject.destination} rewrites none",
        )
    slower, faster = (
        mean_of(views, lambda view: None if (f := _flushes(view)) is None else float(f))
        for views in (case.slower, case.faster)
    )
    if slower is None or faster is None:
        return Finding(
            State.NOT_OBSERVABLE,
            *evidence,
            "the file system below the place is not visible; destination unlink in the same push "
            "would tell",
            workload="cache-retrieve",
        )
    if slower == 0 and faster == 0:
        return Finding(
            State.RULED_OUT, *evidence, "neither side flushes a rewritten file by ext4's rule"
        )
    if not case.differs:
        return Finding(State.RULED_OUT, *evidence, NOTHING_TO_EXPLAIN)
    if slower < faster:
        return Finding(State.RULED_OUT, *evidence, "it lies the other way: the faster side flushes")
    if slower > faster:
        return Finding(
            State.SUPPORTED,
            *evidence,
            "only the slower side writes each rewritten file out when it is closed (auto_da_alloc)",
        )
    return _both_flush(case, evidence)


def _both_flush(case: Case, evidence: tuple[str, str]) -> Finding:
    """The same on both sides, it turns a difference between disks into one between copies."""
    waits = mean_of(
        case.slower, lambda view: None if (w := waits_for_disks(view)) is None else float(w)
    )
    if waits is None:
        return Finding(
            State.NOT_OBSERVABLE,
            *evidence,
            "both sides flush each rewritten file; whether the copies waited for that was not "
            "recorded. Destination unlink in the same push would tell",
            workload="cache-retrieve",
        )
    if waits < 0.5:
        return Finding(
            State.RULED_OUT, *evidence, "both sides flush, but the slower one did not wait for it"
        )
    return Finding(
        State.SUPPORTED,
        *evidence,
        "both sides write each rewritten file out when it is closed (auto_da_alloc), and the slower "
        "one waits for its disks: this is what makes the disk's bandwidth decide how long a copy "
        "takes. A destination that is removed first dies in memory",
    )


# --- reflink ---


def _shares(view: View) -> Reading | None:
    retrieves = view.retrieves
    if retrieves is None or retrieves.facts.shares_extents is None:
        return None
    shares = retrieves.facts.shares_extents
    method = plain(retrieves.facts.copy_method or "", 40)
    if shares:
        return Reading(f"copies share their extents ({method})", 0.0)
    return Reading(f"copies move their bytes ({method})", 1.0)


def reflink(case: Case) -> Finding:
    return by_rank(
        case,
        _shares,
        Words(
            supported="only the faster side's copies are reflinks, which move no bytes",
            missing="the file system does not tell whether a copy shares its extents",
            same="copies are made the same way on both sides",
        ),
    )


RULES = (
    Rule(
        "storage-place",
        "The slower side's place is an overlay (or a network), the other's a volume.",
        storage_place,
        frozenset(("cache-retrieve", "random-io", "sync-write", "metadata", "exec")),
    ),
    Rule(
        "file-system",
        "The slower side has a slower file system.",
        file_system,
        frozenset(("cache-retrieve", "random-io", "sync-write", "metadata")),
    ),
    Rule(
        "ext4-flush",
        "ext4 flushes a rewritten file when it is closed, so that copies wait for the disk.",
        ext4_flush,
    ),
    Rule("reflink", "Only the faster side's copies share their bytes.", reflink),
)
