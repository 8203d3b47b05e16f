# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""An overlay mounted volatile: its fsync does nothing, so nobody waits for the disk."""

from collections.abc import Sequence

from io_benchmark.analysis.diagnosis.case import Case, Finding, Rule, View
from io_benchmark.analysis.diagnosis.evidence import span
from io_benchmark.analysis.diagnosis.judging import Reading, Words, by_rank
from io_benchmark.analysis.model import State

NAME = "volatile-overlay"
MS = 1_000_000
# The only destination that is synced while retrieves go on: what it trims was written before.
SYNCED_BETWEEN = "fresh"


def _waits(view: View) -> Reading | None:
    place = view.place
    if place is None or place.kind in (None, "unknown"):
        return None
    if place.overlay is not None and place.overlay.volatile:
        return Reading("an overlay mounted volatile", 0.0)
    return Reading("no volatile overlay", 1.0)


def _times(views: Sequence[View]) -> str:
    """What an fsync of 8 MiB took before the run, and the sync after the last retrieve."""
    text = f"; an fsync of 8 MiB took {span(views, _fsync_ms, 'ms', 1)}"
    if all(view.retrieves is None for view in views):
        return text
    return f"{text}, the final sync {span(views, _final_sync_ms, 'ms', 1)}"


def _fsync_ms(view: View) -> float | None:
    probe = view.place.probe if view.place is not None else None
    return None if probe is None or probe.fsync_ns is None else probe.fsync_ns / MS


def _final_sync_ms(view: View) -> float | None:
    final_ns = view.retrieves.facts.final_sync_ns if view.retrieves is not None else None
    return None if final_ns is None else final_ns / MS


def volatile_overlay(case: Case) -> Finding:
    finding = by_rank(
        case,
        _waits,
        Words(
            supported="only the faster side's overlay is mounted volatile: its fsync does nothing and "
            "its writes never wait for a disk, so they are lost with the machine",
            missing="what kind of place it was could not be seen",
            same="volatile on both sides, or on neither",
        ),
    )
    evidence = (
        finding.baseline_evidence + _times(case.baseline),
        finding.candidate_evidence + _times(case.candidate),
    )
    destination = case.subject.destination
    if finding.state is State.SUPPORTED and destination not in ("", SYNCED_BETWEEN):
        return Finding(
            State.RULED_OUT,
            *evidence,
            f"only the faster side's is volatile, but retrieves to destination {destination} sync "
            "nothing: it spares the final sync alone, which is timed apart",
        )
    return Finding(finding.state, *evidence, finding.explanation)


RULES = (
    Rule(
        NAME,
        "The faster side's writes never wait: its overlay is mounted volatile.",
        volatile_overlay,
        frozenset(("cache-retrieve", "sync-write")),
    ),
)
