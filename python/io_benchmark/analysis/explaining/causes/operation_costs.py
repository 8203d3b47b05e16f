# SPDX-License-Identifier: MPL-2.0
"""What single operations cost: lookups, the processes that they start, and single writes.

A synchronous write waits for the disk, or for the journal's commit. Both are measured times. A
limit or a scheduler that makes writes wait is seen in the same times: next to such a cause these
are not separable.
"""

import re
from functools import partial
from operator import attrgetter

from msgspec.structs import replace

from io_benchmark.analysis.explaining import effects, rules
from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.causes.schedulers import SYNC_WRITE, starves
from io_benchmark.analysis.explaining.facts.cpus import FixedWork, general_slowdown
from io_benchmark.analysis.explaining.measured_gains import Push
from io_benchmark.analysis.model.cause import (
    Change,
    Evidence,
    NoChange,
    Observation,
    Resource,
    Target,
)
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import Quantity, Unit, ratio_of, statement
from io_benchmark.analysis.model.time_parts import ON_CPU, Kind, in_copies, in_lookups
from io_benchmark.results.machine import WINDOWS
from io_benchmark.results.workloads.cache_retrieve import TrialKind

_NO_LOOKUPS = NoChange("a task's profile does not have the benchmark's lookups")
_TOOLS = ("python3", "bash", "cp", "grep", "sed")
# Whatever waits for a CPU waits for others: that is no cost of the lookups.
_PARTS = in_lookups(*set(Kind) - {Kind.WAITING})
_PART = "The lookups make up {share} of the difference."
_RANDOM_IO = "random-io"
_AT_ONCE = "-depth-32"  # one operation at a time waits for the disk's latency

_IN_PLACE = "dsync-overwrite"  # the file's size stays: only data must reach the disk
_GROWING = ("dsync-append", "append-fsync")
_SLOWER_RATIO = 1.25  # chosen: for less, sequential copies, or a journal, are hardly slower
_NOT_USED = rules.OtherCause(
    "volatile-overlay",
    "The faster side's writes do not wait for its disk: its overlay is mounted volatile.",
    facts=rules.SEEN,
)
_BY_VARIANTS = rules.Only((SYNC_WRITE,), "the times of this workload's variants tell both apart")
_FIRST_START = rules.OtherCause(
    "remote-image", "That the first lookup reads its tools counts instead."
)
_LOOKS_UP = rules.Only(("cache-retrieve",), "retrieves alone look something up before they copy")

lookup_ns = attrgetter("lookup_mean_ns")


def _share_of_lookups(case: Case) -> float | None:
    """Return the share of the difference by which lookups take longer than other work does."""
    slower, faster = case.means(lookup_ns)
    if slower is None or faster is None:
        return None
    return case.share_of(slower - faster * general_slowdown(case))


def _by_lookups(case: Case, enough: str, rest: str) -> effects.Effect:
    """Support a cause where lookups are a large enough part; `rest` names what else there is."""
    evidence = effects.SideEvidence.of(
        case, effects.span("lookup", lookup_ns, Unit.NANOSECONDS, "lookup {value}")
    )
    if case.difference_ns is None:
        return evidence.unseen("The workload has no times.", workload="spawn")
    effect = evidence.by_share(_share_of_lookups(case) or 0.0, _PART)
    return _if_other_work_is_known(case, effect.also(enough if effect.is_slower else rest))


def _if_other_work_is_known(case: Case, effect: effects.Effect) -> effects.Effect:
    """Leave it open on Windows, which records no waiting for CPUs, where no fixed work was done."""
    if case.system == WINDOWS and effect.is_slower and FixedWork.of(case) is None:
        return effect.unclear("Fixed work would show whether all work takes longer.")
    return effect


def _tools(run: Run) -> rules.RankedFact | None:
    host = run.host
    if host is None:
        return None
    tools = [(name, host.tools.get(name)) for name in _TOOLS]
    versions = {name: "absent" if tool is None else _number(tool.version) for name, tool in tools}
    template = "{distribution}: " + ", ".join(f"{name} {{{name}}}" for name in _TOOLS)
    return rules.RankedFact(
        statement(template, distribution=host.distribution or "unknown", **versions)
    )


def _number(version: str | None) -> str:
    match = re.search(r"[0-9]+(\.[0-9]+)+", version or "")
    return match.group() if match else "unknown"


def _image_and_tools(case: Case, effect: effects.Effect) -> effects.Effect:
    share = _share_of_lookups(case)
    if share is not None and effects.is_enough(share):
        # Starting a process is as large a part of a lookup as the tool's own work, and kernels that
        # count ticks do not tell one from the other.
        return effect.evidence.supports(
            "The tools differ, and the lookups, which they do, make up {share} of the difference.",
            share=effects.as_share(share),
            proof=effects.Proof.LEFTOVER,
        )
    if share is None:
        return effect
    return effect.evidence.opposes(
        "The tools differ, but the kernel copies here, and the lookups make up only {share} of the "
        "difference.",
        share=effects.as_share(share),
    )


IMAGE_AND_TOOLS = rules.CauseRule(
    name="image-and-tools",
    hypothesis="The slower side's image has slower tools.",
    fact=rules.RankedFactRule(
        name="tools",
        read=_tools,
        unseen="The result does not have the versions of the tools.",
        unranked="The tools differ, and the workload has no times to compare their cost with.",
    ).compare,
    cost=_image_and_tools,
    applies_to=_LOOKS_UP,
    weighed_facts={effects.Fact.UNCLEAR},
    acts_through=in_lookups(*ON_CPU) | in_copies(*ON_CPU),
    tried_by=TrialKind.LOOKUP,
    change=_NO_LOOKUPS,
    remedies=(rules.RemedyRule("use the same image on both sides", Push.other_pool),),
)


LOOKUP_COST = rules.CauseRule(
    name="lookup-cost",
    hypothesis="The lookups (grep) take longer.",
    on_windows="The lookups (grep or findstr) take longer.",
    fact=partial(
        _by_lookups,
        enough="The workload spawn shows whether grep or starting it takes the time.",
        rest="The rest is in the copies.",
    ),
    applies_to=_LOOKS_UP,
    excluded_by=(_FIRST_START,),
    acts_through=_PARTS,
    tried_by=TrialKind.LOOKUP,
    change=_NO_LOOKUPS,
)


def _spawn_cost(case: Case) -> effects.Effect:
    """Compare how much longer a process takes than other work does with a retrieve's difference."""
    spawned = case.measured("spawn")
    if not spawned or case.difference_ns is None:
        unknown = "How much of that is starting grep is not known."
        effect = _by_lookups(case, unknown, "Starting grep is only a part of a lookup.")
        if not effect.is_slower:
            return effect
        return replace(effect, fact=effects.Fact.UNCLEAR, workload="spawn")
    spawn = spawned[0]
    evidence = effects.SideEvidence(
        lambda: (_process_start(spawn.baseline.mean_ns), _process_start(spawn.candidate.mean_ns))
    )
    slower, faster = case.slower_first(spawn)
    longer_ns = slower.mean_ns - faster.mean_ns * general_slowdown(case)
    share = case.share_of(longer_ns) or 0.0
    template = "The one process that a retrieve starts makes up {share} of the difference."
    effect = _if_other_work_is_known(case, evidence.by_share(share, template))
    return effect.may_be_chance() if effect.is_slower and not spawn.is_decided else effect


SPAWN_COST = rules.CauseRule(
    name="spawn-cost",
    hypothesis="Starting a process (fork, exec) takes longer.",
    on_windows="Starting a process (CreateProcess) takes longer.",
    fact=_spawn_cost,
    applies_to=_LOOKS_UP,
    acts_through=_PARTS,
    tried_by=TrialKind.LOOKUP,
    change=_NO_LOOKUPS,
)


def _process_start(mean_ns: float) -> Evidence:
    started = statement("process started in {time}", time=Quantity(mean_ns, Unit.NANOSECONDS))
    return Evidence.led_by(Observation.of_side("process-start", started))


def _random_io(case: Case) -> effects.Effect:
    measurements = case.measured(_RANDOM_IO)
    if not measurements:
        return effects.NOT_MEASURED.unseen(
            "These copies are sequential and do not show how many small reads and writes per "
            "second the disks do.",
            workload=_RANDOM_IO,
        )
    is_itself = case.subject.workload == _RANDOM_IO
    many = [match for match in measurements if match.subject.variant.endswith(_AT_ONCE)]
    chosen = (case.sibling() if is_itself else None) or case.slowest(many or measurements)
    evidence = effects.SideEvidence.from_means(measurements, chosen)
    ratio = 1.0 if chosen is None else case.times_as_long(chosen)
    # Sequential copies are hardly slower for that.
    if chosen is None or ratio < (effects.SLOWER_AT_RATIO if is_itself else _SLOWER_RATIO):
        return evidence.opposes("The slower side's disks do about as many operations per second.")
    effect = evidence.supports(
        "The slower side's disks do {ratio} fewer operations per second ({variant}).",
        # Copies are sequential: whatever slows them may slow these operations as well.
        proof=None if is_itself else effects.Proof.LEFTOVER,
        ratio=ratio_of(ratio),
        variant=chosen.subject.variant,
    )
    return effect if chosen.is_decided else effect.may_be_chance()


RANDOM_IO = rules.CauseRule(
    name="random-io",
    hypothesis="The slower side's disks do fewer operations per second.",
    fact=_random_io,
    applies_to=rules.Only(
        ("cache-retrieve", _RANDOM_IO), "others are not known to follow its figures"
    ),
    is_mechanism=True,
    change=NoChange("a task's profile does not count small reads and writes"),
    remedies=(
        rules.RemedyRule(
            "use the faster side's kind and number of disks",
            Push.other_pool,
            useless_next_to=("device-count",),
        ),
    ),
)


def _slow_flush(case: Case) -> effects.Effect:
    in_place = case.measured(SYNC_WRITE, _IN_PLACE)
    if not in_place:
        return effects.NOT_MEASURED.needs(f"the variants {_IN_PLACE} of sync-write", SYNC_WRITE)
    evidence = effects.SideEvidence.from_means(in_place)
    ratio = case.times_as_long(in_place[0])
    if ratio < _SLOWER_RATIO or not in_place[0].is_decided:
        return evidence.opposes(
            "A write in place, which needs no journal, is as fast on the slower side, or not known "
            "to be slower."
        )
    return evidence.supports(
        "The slower side's disk takes {ratio} as long to confirm a write, without any journal.",
        effects.Size.measured(case, ratio),
        effects.Proof.LEFTOVER,
        ratio=ratio_of(ratio),
    )


SLOW_FLUSH = rules.CauseRule(
    name="slow-flush",
    hypothesis="The slower side's disk takes longer to confirm a synchronous write.",
    fact=_slow_flush,
    applies_to=_BY_VARIANTS,
    excluded_by=(_NOT_USED,),
    change=NoChange("which disks confirm writes sooner is not known"),
    remedies=(
        rules.RemedyRule("use the faster side's disks, or make fewer writes wait", Push.other_pool),
    ),
)


def _slow_journal(case: Case) -> effects.Effect:
    in_place = case.measured(SYNC_WRITE, _IN_PLACE)
    growing = [write for variant in _GROWING for write in case.measured(SYNC_WRITE, variant)]
    slowest_growing = case.slowest(growing)
    if not in_place or slowest_growing is None:
        return effects.NOT_MEASURED.needs(
            f"the variants {_IN_PLACE} and {_GROWING[0]} of sync-write", SYNC_WRITE
        )
    evidence = effects.SideEvidence.from_means([*in_place, *growing], slowest_growing)
    journal = case.times_as_long(slowest_growing) / case.known_times_as_long(in_place[0])
    if journal < _SLOWER_RATIO or not slowest_growing.is_decided:
        return evidence.opposes(
            "Appending, which commits the file's new size, is slower only as far as writing in "
            "place is."
        )
    return evidence.supports(
        "Appending is {ratio} slower than writing in place accounts for: the slower side waits for "
        "its journal's commits.",
        effects.Size.measured(case, journal),
        effects.Proof.LEFTOVER,
        ratio=ratio_of(journal),
    )


SLOW_JOURNAL = rules.CauseRule(
    name="slow-journal",
    hypothesis="The slower side's file system takes longer to commit its journal.",
    fact=_slow_journal,
    applies_to=_BY_VARIANTS,
    excluded_by=(
        _NOT_USED,
        rules.OtherCause(
            "scheduler-idling",
            "That writes wait for the journal counts as scheduler-idling.",
            facts=rules.SEEN,
        ),
        rules.OtherCause(
            "scheduler",
            "That writes wait for the journal counts as scheduler.",
            where=starves,
            facts=rules.SEEN,
        ),
    ),
    change=Change(Resource.DISKS, Target.IMAGE),
    remedies=(
        rules.RemedyRule("use the faster side's file system and its options", Push.other_pool),
    ),
)
