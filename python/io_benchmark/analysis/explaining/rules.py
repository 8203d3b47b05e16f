# SPDX-License-Identifier: MPL-2.0
"""How a cause is declared: all that is known of it, in one record.

Its rule has two steps: how a fact of both sides compares, and what it costs where the slower side
has the slower one. `judging` takes them, `deciding` makes a state of what they find.
"""

import math
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet

from msgspec import Struct

from io_benchmark.analysis.explaining import effects
from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.measured_gains import FindGain
from io_benchmark.analysis.model.cause import Change, NoChange
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.statements import Statement
from io_benchmark.analysis.model.time_parts import Kind, Part, in_copies
from io_benchmark.results import workloads
from io_benchmark.results.workloads.cache_retrieve import TrialKind


class AllBut(Struct, frozen=True):
    """Every workload except these, each with the reason."""

    reasons: Mapping[str, str]

    def includes(self, workload: str) -> bool:
        # Results of a later version may have workloads of which nothing is known here.
        return workload in workloads.WORKLOADS and workload not in self.reasons

    def __or__(self, other: "AllBut") -> "AllBut":
        return AllBut({**self.reasons, **other.reasons})


class Only(Struct, frozen=True):
    """These workloads alone: the cause is judged by figures that no other workload has."""

    workloads: tuple[str, ...]
    reason: str

    def includes(self, workload: str) -> bool:
        return workload in self.workloads


def all_but(*names: str, because: str) -> AllBut:
    return AllBut(dict.fromkeys(names, because))


EVERY_WORKLOAD = AllBut({})
WAITS_FOR_DISKS = all_but(
    "spawn", "metadata", "exec", "upload", because="its operations do not wait for a disk"
) | all_but("download", because="its operations wait for the network")
NEEDS_BANDWIDTH = WAITS_FOR_DISKS | all_but(
    "random-io", "sync-write", because="a small operation waits for the disk's latency"
)
USES_A_PLACE = all_but("spawn", "upload", because="it uses no place") | all_but(
    "download", because="it is compared with downloads that use no place"
)
READS_ITS_PLACE = USES_A_PLACE | all_but("exec", because="its binary is in the page cache")


CompareFact = Callable[[Case], effects.Effect]
FindCost = Callable[[Case, effects.Effect], effects.Effect]
ONLY_SLOWER = frozenset((effects.Fact.SLOWER,))
SEEN = frozenset(effects.Fact) - {effects.Fact.UNSEEN}
EVERY_FACT = frozenset(effects.Fact)


class OtherCause(Struct, frozen=True):
    """Another cause that is held against a cause, where its own rule finds the slower fact."""

    cause: str
    reason: str
    where: Callable[[Case], bool] = lambda _case: True
    facts: frozenset[effects.Fact] = ONLY_SLOWER  # how this cause's own fact has to compare


class Objection(Struct, frozen=True):
    """What whole sides show against a cause. A single worker that differs need not show it."""

    where: Callable[[Case], bool]
    reason: str


class RemedyRule(Struct, frozen=True):
    """A remedy of a cause, and how much it gains."""

    action: str
    find_gain: FindGain
    useless_next_to: tuple[str, ...] = ()  # causes that make it useless where they are supported
    only_on: str = ""  # the system on which it can be done; empty: any


class CauseRule(Struct, frozen=True, kw_only=True):
    """All that is known of a cause; nothing else names it."""

    name: str
    hypothesis: str
    on_windows: str = ""  # the hypothesis there, where other words are needed
    fact: CompareFact
    change: Change | NoChange  # what an investigation proposes because of it
    applies_to: AllBut | Only = EVERY_WORKLOAD
    # What the fact costs, for these results of the comparison.
    cost: FindCost | None = None
    weighed_facts: AbstractSet[effects.Fact] = ONLY_SLOWER
    excluded_by: tuple[OtherCause, ...] = ()  # they count instead of this one
    doubted_by: tuple[OtherCause, ...] = ()  # next to them nothing shows what this one costs
    objections: tuple[Objection, ...] = ()
    remedies: tuple[RemedyRule, ...] = ()
    only_on: str = ""  # the system that alone can have it; empty: any
    # Other causes act through it: it does not compete with them for the gain of a remedy.
    is_mechanism: bool = False
    # The parts of the time through which it acts; empty: not known, so nothing limits it.
    acts_through: frozenset[Part] = in_copies(Kind.BLOCKED)
    proof: effects.Proof = effects.Proof.COST
    tried_by: TrialKind | None = None  # the trial that confirms or refutes it

    def applies(self, case: Case) -> bool:
        """Return whether it may explain this workload on the system of both sides."""
        is_of_system = self.only_on in ("", case.system)
        return is_of_system and self.applies_to.includes(case.subject.workload)


class RankedFact(Struct, frozen=True):
    """A fact of one worker; the higher rank is the slower one."""

    value: Statement
    rank: float = 0.0

    def __float__(self) -> float:
        return float(self.rank)  # what facts are averaged by


class RankedFactRule(Struct, frozen=True, kw_only=True):
    """A fact that is compared by its rank, and the sentence for each outcome."""

    name: str  # of the observation
    read: Callable[[Run], RankedFact | None]
    unseen: str
    supports: str = ""
    same: str = "Both sides have the same."
    neither: str = ""  # in place of `same` where nothing has a rank
    # Facts of one rank that differ; without a sentence they cost the same.
    unranked: str = ""
    no_waits: str = ""  # against a fact of disks for which the slower side never waits
    observe: tuple[effects.Observe, ...] = ()  # the evidence, where that is more than the fact

    @property
    def tally(self) -> effects.Observe:
        return effects.tally(self.name, self.read, to_statement=lambda fact: fact and fact.value)

    def compare(self, case: Case) -> effects.Effect:
        """Support a cause where the slower side has the slower fact."""
        evidence = effects.SideEvidence.of(case, *(self.observe or (self.tally,)))
        slower, faster = case.means(self.read)
        if slower is None or faster is None:
            return evidence.unseen(self.unseen)
        if not math.isclose(slower, faster, rel_tol=1e-9, abs_tol=1e-9):
            effect = evidence.compared(slower, faster, self.supports)
            is_idle = effect.is_slower and self.no_waits and case.slower_never_waits
            return evidence.opposes(self.no_waits) if is_idle else effect
        if self._values(case.slower) == self._values(case.faster):
            return evidence.same(self.same if slower else self.neither or self.same)
        if self.unranked:
            return evidence.unclear(self.unranked)
        return evidence.opposes("The sides differ in nothing that costs time here.")

    def _values(self, side: Side) -> set[Statement]:
        return {fact.value for fact in side.values(self.read) if fact is not None}
