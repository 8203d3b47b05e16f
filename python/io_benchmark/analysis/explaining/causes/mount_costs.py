# SPDX-License-Identifier: MPL-2.0
"""How the place is mounted: what ext4 flushes, what options cost, and what never waits."""

from msgspec.structs import replace

from io_benchmark.analysis.explaining import effects, rules
from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.measured_gains import Push, follows, other_subject
from io_benchmark.analysis.model.cause import Change, NoChange, Resource, Target
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import Statement, statement
from io_benchmark.analysis.model.time_parts import Kind, in_copies
from io_benchmark.analysis.reading.disk_rates import written_share
from io_benchmark.analysis.reading.mounts import (
    LAYERED,
    filesystem_type,
    mount_options,
    mount_table_options,
)
from io_benchmark.results.machine import LINUX
from io_benchmark.results.workloads import NOT_SYNCED
from io_benchmark.results.workloads.cache_retrieve import TrialKind

_FLUSHED_SHARE = 0.5  # of the bytes copied: more of them reached the disk than did not
_FLUSHING = ("ext4", "xfs", "btrfs")  # closing a rewritten file writes it out
# Options whose costs are known, and those that follow from the device, the user or the container.
_JUDGED_OR_IGNORED = {
    "sync", "dirsync", "discard", "nodiscard", "strictatime", "relatime", "noatime", "data",
    "barrier", "nobarrier", "commit", "auto_da_alloc", "noauto_da_alloc", "delalloc",
    "nodelalloc", "stripe", "sunit", "swidth", "resuid", "resgid", "subvol", "subvolid",
    "seclabel", "lowerdir", "lowerdir+", "datadir+", "upperdir", "workdir", "context", "rw",
    "ro", "nosuid", "nodev", "noexec", "idmapped",
}  # fmt: skip
_FOLLOW = "The options follow from the place or the file system, which differ."
_FLAG_COSTS = {"sync": 8.0, "dirsync": 2.0, "discard": 0.5, "strictatime": 0.5}
_DATA_COSTS = {"journal": 4.0, "ordered": 1.0, "writeback": 0.0}
_EXT4_DEFAULT_COMMIT_S = 5.0
# The only destination that is synced between retrieves: what it trims was written before.
_SYNCED_BETWEEN = "fresh"


def _flushes(run: Run) -> bool | None:
    """Return whether closing a rewritten file writes it out."""
    name = filesystem_type(run)
    if name is None or name in LAYERED:
        return None
    if name not in _FLUSHING or mount_options(run).keys() & {"noauto_da_alloc", "nodelalloc"}:
        return False
    # Compressed files are few bytes on the disk.
    written = written_share(run)
    return name != "ext4" or written is None or written >= _FLUSHED_SHARE


def _flush_fact(run: Run) -> Statement | None:
    flushes, name = _flushes(run), filesystem_type(run)
    if flushes is None or name is None:
        return None
    if name not in _FLUSHING:
        return statement("{type}, which has its own rules", type=name)
    does = "flushes" if flushes else "does not flush"
    if name != "ext4":
        return statement(f"{{type}}, {does} a rewritten file", type=name)
    option = "noauto_da_alloc" if "noauto_da_alloc" in mount_options(run) else "auto_da_alloc"
    return statement(f"{{type}} with {{option}}, {does} a rewritten file", type=name, option=option)


def _ext4_flush(case: Case) -> effects.Effect:
    evidence = effects.SideEvidence.of(
        case, effects.tally("flush", _flush_fact), effects.WRITTEN_SHARE, effects.WRITE_RATE
    )
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
    if slower == faster == 0:
        return evidence.same("Neither side flushes a rewritten file.")
    if slower != faster:
        return evidence.compared(
            slower, faster, "Only the slower side writes each rewritten file out when it is closed."
        )
    shared = evidence.opposes(
        "Both sides write each rewritten file out when it is closed, so this does not differ. It "
        "makes copies wait for the disks: a destination that is removed first is "
        "never written."
    )
    # Copies that wait for reads would do so to any destination.
    return shared if case.mostly_reads else replace(shared, fact=effects.Fact.SHARED)


EXT4_FLUSH = rules.CauseRule(
    name="ext4-flush",
    only_on=LINUX,
    hypothesis="The file system flushes a rewritten file when it is closed, so that copies wait "
    "for the disk.",
    fact=_ext4_flush,
    applies_to=rules.Only(("cache-retrieve",), "retrieves alone rewrite files"),
    tried_by=TrialKind.UNLINK,
    is_mechanism=True,
    change=Change(Resource.DISKS, Target.TASK),
    remedies=(
        rules.RemedyRule(
            "remove the destination before copying (cp --remove-destination, or unlink it first)",
            other_subject(
                "destination",
                "unlink",
                "destination unlink",
                "A file that is removed while its pages are dirty is never written.",
            ),
        ),
        rules.RemedyRule(
            "where it is ext4, mount the place with noauto_da_alloc",
            follows(
                "ext4 then keeps a rewritten file in memory when it is closed. This is not "
                "measured here.",
                trial="unlink",
            ),
        ),
    ),
)


def _costs(run: Run, kind: str) -> list[tuple[str, float]]:
    """Return how the options that matter are set, and what each costs above the best setting."""
    options = mount_options(run)
    costs = [(name, cost) for name, cost in _FLAG_COSTS.items() if name in options]
    if kind in ("ext3", "ext4"):
        mode = options.get("data", "ordered")
        costs.append((f"data={mode}", _DATA_COSTS.get(mode, 1.0)))
        costs.append(("nobarrier", 0.0) if "nobarrier" in options else ("barrier", 1.0))
        commit = options.get("commit", "")
        is_usable = commit.isascii() and commit.isdigit() and len(commit) < 9
        commit_s = float(commit if is_usable else 0) or _EXT4_DEFAULT_COMMIT_S
        costs.append((f"commit={commit_s:g}", 1 / max(1.0, commit_s)))
    if kind == "ext4":
        flushes = ("auto_da_alloc", 4.0 * (run.subject.destination == "overwrite"))
        costs.append(("noauto_da_alloc", 0.0) if "noauto_da_alloc" in options else flushes)
        costs.append(("nodelalloc", 1.0) if "nodelalloc" in options else ("delalloc", 0.0))
    return costs


def _unknown_options(run: Run) -> frozenset[str]:
    return frozenset(
        f"{name}={value}" if value else name
        for name, value in mount_table_options(run).items()
        if name not in _JUDGED_OR_IGNORED
    )


def _mounted(run: Run) -> rules.RankedFact | None:
    if run.place is None or run.place.mount is None:
        return None
    kind = run.place.mount.filesystem
    costs = _costs(run, kind)
    settings = ", ".join(setting for setting, _ in costs) or "nothing that costs time"
    fact = statement("{type}: {settings}", type=kind, settings=settings)
    return rules.RankedFact(fact, sum(cost for _, cost in costs))


def _mount_options(case: Case, effect: effects.Effect) -> effects.Effect:
    if not case.differs:
        return effect
    if not case.slower.values(filesystem_type) & case.faster.values(filesystem_type):
        return effect.evidence.opposes(_FOLLOW)
    if effect.is_slower:
        more = _journal_factor(case)
        return replace(effect, size=more and effects.Size(case.times_by_bandwidth(more)))
    differing = _differing_options(case)
    if effect.fact is effects.Fact.UNSEEN or not differing:
        return effect
    return effect.evidence.unclear(
        "The sides differ in {options}, whose cost is not known. Only the same options on both "
        "sides would show it.",
        options=", ".join(differing),
    )


MOUNT_OPTIONS = rules.CauseRule(
    name="mount-options",
    only_on=LINUX,
    hypothesis="The slower side's file system is mounted with slower options.",
    fact=rules.RankedFactRule(
        name="mount",
        read=_mounted,
        supports="The slower side is mounted with options that make writing slower.",
        unseen="The mount of the place could not be seen.",
        same="Both sides have the same options, as far as they matter for copying.",
    ).compare,
    cost=_mount_options,
    applies_to=rules.READS_ITS_PLACE
    | rules.all_but("random-io", because="it changes no file's size or name"),
    weighed_facts=rules.EVERY_FACT,
    excluded_by=(rules.OtherCause("storage-place", _FOLLOW, facts=rules.EVERY_FACT),),
    acts_through=in_copies(Kind.BLOCKED, Kind.KERNEL),
    proof=effects.Proof.SETTING,
    tried_by=TrialKind.PACE,
    change=Change(Resource.DISKS, Target.IMAGE),
    remedies=(rules.RemedyRule("mount the place with the faster side's options", Push.other_pool),),
)


def _data_mode(run: Run) -> str | None:
    return mount_options(run).get("data")


def _journal_factor(case: Case) -> float | None:
    """Return how much more the slower side writes where only its journal has the data, too."""
    slower, faster = case.means(written_share)
    modes, faster_modes = case.slower.values(_data_mode), case.faster.values(_data_mode)
    if modes != {"journal"} or "journal" in faster_modes or not slower or not faster:
        return None
    # Less is written of files that are removed before they are written.
    return slower / faster if slower >= _FLUSHED_SHARE else None


def _differing_options(case: Case) -> list[str]:
    """Return options that one side has on every worker and the other on none."""
    sides = [side.values(_unknown_options) for side in (case.slower, case.faster)]
    on_every, on_some = (
        [combine(*side) for side in sides] for combine in (frozenset.intersection, frozenset.union)
    )
    return sorted((on_every[0] - on_some[1]) | (on_every[1] - on_some[0]))


def _waits(run: Run) -> rules.RankedFact | None:
    place = run.place
    if place is None or place.kind in (None, "unknown"):
        return None
    if place.overlay is not None and place.overlay.volatile:
        return rules.RankedFact(statement("an overlay mounted volatile"), 0.0)
    return rules.RankedFact(statement("not a volatile overlay"), 1.0)


def _volatile_overlay(case: Case, effect: effects.Effect) -> effects.Effect:
    destination, variant = case.subject.destination, case.subject.variant
    if variant in NOT_SYNCED:
        return effect.evidence.opposes(
            "Only the faster side's overlay is volatile, but {variant} does not sync.",
            variant=variant,
        )
    if destination not in ("", _SYNCED_BETWEEN):
        return effect.evidence.opposes(
            "Only the faster side's overlay is volatile, but retrieves to destination "
            "{destination} do not sync: this saves only the final sync, which is timed separately.",
            destination=destination,
        )
    return effect


VOLATILE_OVERLAY = rules.CauseRule(
    name="volatile-overlay",
    only_on=LINUX,
    hypothesis="The faster side's writes never wait: its overlay is mounted volatile.",
    fact=rules.RankedFactRule(
        name="overlay",
        read=_waits,
        supports="Only the faster side's overlay is mounted volatile: its fsync does nothing "
        "and its writes never wait for a disk, so they are lost with the machine.",
        unseen="The kind of the place could not be seen.",
        same="The overlay is volatile on both sides or on neither.",
    ).compare,
    cost=_volatile_overlay,
    applies_to=rules.WAITS_FOR_DISKS | rules.all_but("random-io", because="it does not sync"),
    change=NoChange("its remedy makes the comparison fair, and no task faster"),
    remedies=(
        rules.RemedyRule(
            "measure both sides on the same kind of mount",
            follows(
                "What a volatile overlay has not written is lost with the machine, so its speed "
                "is not available to files that must last."
            ),
        ),
    ),
)
