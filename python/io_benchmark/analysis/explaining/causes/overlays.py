# SPDX-License-Identifier: MPL-2.0
"""An overlay that never waits: the fsync of one that is mounted volatile does nothing."""

from io_benchmark.analysis.explaining import rules
from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.effects import Effect
from io_benchmark.analysis.explaining.measured_gains import follows
from io_benchmark.analysis.model.cause import NoChange
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import statement
from io_benchmark.results.workloads import NOT_SYNCED

# The only destination that is synced between retrieves: what it trims was written before.
_SYNCED_BETWEEN = "fresh"


def _waits(run: Run) -> rules.RankedFact | None:
    place = run.place
    if place is None or place.kind in (None, "unknown"):
        return None
    if place.overlay is not None and place.overlay.volatile:
        return rules.RankedFact(statement("an overlay mounted volatile"), 0.0)
    return rules.RankedFact(statement("not a volatile overlay"), 1.0)


def volatile_overlay(case: Case, effect: Effect) -> Effect:
    destination, variant = case.subject.destination, case.subject.variant
    if variant in NOT_SYNCED:
        return effect.opposed(
            "Only the faster side's overlay is volatile, but {variant} does not sync.",
            variant=variant,
        )
    if destination not in ("", _SYNCED_BETWEEN):
        return effect.opposed(
            "Only the faster side's overlay is volatile, but retrieves to destination "
            "{destination} do not sync: this saves only the final sync, which is timed separately.",
            destination=destination,
        )
    return effect


VOLATILE_OVERLAY = rules.CauseRule(
    name="volatile-overlay",
    hypothesis="The faster side's writes never wait: its overlay is mounted volatile.",
    fact=rules.RankedFactRule(
        name="overlay",
        read=_waits,
        supports="Only the faster side's overlay is mounted volatile: its fsync does nothing "
        "and its writes never wait for a disk, so they are lost with the machine.",
        unseen="The kind of the place could not be seen.",
        same="The overlay is volatile on both sides or on neither.",
    ).compare,
    cost=volatile_overlay,
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
