# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""An overlay that is mounted volatile: its fsync does nothing, so writes never wait for the disk."""

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.cause_rule import CauseJudgement, CauseRule, Sides
from io_benchmark.analysis.diagnosis.evidence import span
from io_benchmark.analysis.diagnosis.measured_gains import follows
from io_benchmark.analysis.diagnosis.ranking import RankedFact, by_rank, fact_tally
from io_benchmark.analysis.model import State
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.analysis.statements import Unit, statement

ORDER = 50
# The only destination that is synced between retrieves: what it trims was written before.
_SYNCED_BETWEEN = "fresh"


def _waits(view: View) -> RankedFact | None:
    place = view.place
    if place is None or place.kind in (None, "unknown"):
        return None
    if place.overlay is not None and place.overlay.volatile:
        return RankedFact(statement("an overlay mounted volatile"), 0.0)
    return RankedFact(statement("not a volatile overlay"), 1.0)


def _fsync_ns(view: View) -> float | None:
    probe = view.place.probe if view.place is not None else None
    return probe.fsync_ns if probe is not None else None


def _final_sync_ns(view: View) -> float | None:
    return view.retrieves.final_sync_ns if view.retrieves is not None else None


def volatile_overlay(case: Case) -> CauseJudgement:
    """Judge whether only the faster side's writes are never synced."""
    observe = [
        fact_tally("overlay", _waits),
        span("fsync", _fsync_ns, Unit.NANOSECONDS, "an fsync of 8 MiB took {value}"),
    ]
    if any(view.retrieves is not None for view in case.views):
        observe.append(
            span("final-sync", _final_sync_ns, Unit.NANOSECONDS, "the final sync took {value}")
        )
    judgement = by_rank(
        case,
        _waits,
        supported="Only the faster side's overlay is mounted volatile: its fsync does nothing "
        "and its writes never wait for a disk, so they are lost with the machine.",
        unseen="The kind of the place could not be seen.",
        same="The overlay is volatile on both sides or on neither.",
        name="overlay",
        evidence=Sides.of(case, *observe),
    )
    destination = case.subject.destination
    if judgement.state is State.SUPPORTED and destination not in ("", _SYNCED_BETWEEN):
        return judgement.evidence.ruled_out(
            "Only the faster side's overlay is volatile, but retrieves to destination {destination} "
            "do not sync: this saves only the final sync, which is timed separately.",
            destination=destination,
        )
    return judgement


RULES = (
    CauseRule(
        "volatile-overlay",
        "The faster side's writes never wait: its overlay is mounted volatile.",
        volatile_overlay,
        frozenset(("cache-retrieve", "sync-write")),
        {
            "measure both sides on the same kind of mount": follows(
                "What a volatile overlay has not written is lost with the machine, so its speed "
                "is not available to files that must last."
            )
        },
    ),
)
