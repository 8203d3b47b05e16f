# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What makes uploads slow (seed 002): a server that never says to go on, or connecting each time."""

from io_benchmark.analysis import words
from io_benchmark.analysis.diagnosis.case import Case, Finding, Rule, View, mean_of
from io_benchmark.analysis.diagnosis.evidence import span
from io_benchmark.analysis.diagnosis.judging import NOTHING_TO_EXPLAIN, explains, percent
from io_benchmark.analysis.diagnosis.other_measurements import NOT_MEASURED, decided, texts
from io_benchmark.analysis.model import State
from io_benchmark.results.workloads.upload import UploadEntry

NAME = "upload"
EACH, KEPT = "connection-each", "keep-alive"


def _stalled(view: View) -> float | None:
    """The part of the objects that waited in vain."""
    measured = view.entry.measured if view.entry is not None else None
    if view.entry is None or not isinstance(measured, UploadEntry):
        return None
    stalls = measured.observed.expect_100_stalls
    return None if stalls is None else stalls / float(view.entry.operations.sum())


def stall(case: Case) -> Finding:
    baseline, candidate = (
        span(
            views,
            lambda view: None if (s := _stalled(view)) is None else 100 * s,
            "% of uploads stalled",
        )
        for views in (case.baseline, case.candidate)
    )
    slower, faster = mean_of(case.slower, _stalled), mean_of(case.faster, _stalled)
    if slower is None or faster is None:
        return Finding(
            State.NOT_OBSERVABLE,
            baseline,
            candidate,
            "a side's client sent no Expect: 100-continue, so no server could leave it waiting",
        )
    if not slower and not faster:
        return Finding(
            State.RULED_OUT, baseline, candidate, "no upload waited for an answer that did not come"
        )
    if not case.differs:
        return Finding(State.RULED_OUT, baseline, candidate, NOTHING_TO_EXPLAIN)
    if slower <= faster:
        return Finding(
            State.RULED_OUT, baseline, candidate, "the faster side's uploads stall as often"
        )
    return Finding(
        State.SUPPORTED,
        baseline,
        candidate,
        "the slower side's uploads wait about a second each for an answer to Expect: 100-continue "
        "that does not come",
    )


def connection_each(case: Case) -> Finding:
    """What a connection costs: an object by one of its own, less an object by one kept alive."""
    pair = [one for variant in (EACH, KEPT) for one in case.measured(NAME, variant)]
    evidence = texts(pair)
    if len(pair) != 2:
        return Finding(
            State.NOT_OBSERVABLE,
            NOT_MEASURED,
            NOT_MEASURED,
            "needs the variants connection-each and keep-alive on both sides",
            workload=NAME,
        )
    each, kept = pair
    if not case.differs:
        return Finding(State.RULED_OUT, *evidence, NOTHING_TO_EXPLAIN)
    if case.subject.variant != EACH:
        return Finding(
            State.RULED_OUT, *evidence, "uploads over a connection that is kept differ as well"
        )
    more_ns = each.difference_ns - kept.difference_ns
    share = more_ns / each.difference_ns
    if not explains(share) or not decided(each):
        return Finding(
            State.RULED_OUT,
            *evidence,
            f"connecting makes up {percent(share)} of the difference: the rest lies in the uploads",
        )
    return Finding(
        State.SUPPORTED,
        *evidence,
        f"a connection for each object costs the slower side {words.time(abs(more_ns))} more, "
        f"{percent(share)} of the difference",
    )


RULES = (
    Rule(
        "expect-continue-stall",
        "The slower side's uploads wait for a server that never says to go on.",
        stall,
        frozenset((NAME,)),
    ),
    Rule(
        "connection-each",
        "Opening a connection for each object costs the slower side more.",
        connection_each,
        frozenset((NAME,)),
    ),
)
