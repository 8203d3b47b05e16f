# SPDX-License-Identifier: MPL-2.0
"""What makes uploads slow: a server that does not answer Expect, or connecting each time."""

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.cause_rule import (
    CauseJudgement,
    CauseRule,
    Sides,
    is_enough,
    part,
)
from io_benchmark.analysis.diagnosis.evidence import NOT_MEASURED, figures, span
from io_benchmark.analysis.diagnosis.measured_gains import follows, other_subject
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.analysis.statements import Quantity, Unit
from io_benchmark.results.workloads.upload import UploadEntry

ORDER = 140
_UPLOAD = "upload"
_EACH, _KEPT = "connection-each", "keep-alive"


# --- expect-continue-stall ---


def _stalled(view: View) -> float | None:
    """Return the part of the objects that waited for an answer that did not come."""
    measured = view.entry.measured if view.entry is not None else None
    if view.entry is None or not isinstance(measured, UploadEntry):
        return None
    stalls = measured.observed.expect_100_stalls
    return None if stalls is None else stalls / view.entry.operations_done


def _stall(case: Case) -> CauseJudgement:
    evidence = Sides.of(
        case, span("stalled-uploads", _stalled, Unit.SHARE, "{value} of uploads stalled")
    )
    slower, faster = case.slower.mean(_stalled), case.faster.mean(_stalled)
    if slower is None or faster is None:
        return evidence.not_observable(
            "A side's client did not send Expect: 100-continue, so it could not wait for it.",
        )
    if not slower and not faster:
        return evidence.ruled_out("No upload waited for an answer that did not come.")
    if not case.differs:
        return evidence.nothing_to_explain()
    if slower <= faster:
        return evidence.ruled_out("The faster side's uploads stall as often.")
    return evidence.supported(
        "The slower side's uploads wait about a second each for an answer to Expect: 100-continue "
        "that does not come.",
    )


# --- connection-each ---


def _connection_each(case: Case) -> CauseJudgement:
    """Compare a connection for each object with a connection that is kept."""
    pair = [each for variant in (_EACH, _KEPT) for each in case.measured(_UPLOAD, variant)]
    if len(pair) != 2:
        return NOT_MEASURED.not_observable(
            "This needs the variants connection-each and keep-alive on both sides.",
            workload=_UPLOAD,
        )
    evidence = figures(pair)
    each, kept = pair
    if not case.differs:
        return evidence.nothing_to_explain()
    if case.subject.variant != _EACH:
        return evidence.ruled_out("Uploads over a connection that is kept differ as well.")
    more_ns = each.difference_ns - kept.difference_ns
    share = more_ns / each.difference_ns
    if not is_enough(share) or not each.is_decided:
        return evidence.ruled_out(
            "Connecting makes up {share} of the difference; the rest is in the uploads.",
            share=part(share),
        )
    return evidence.supported(
        "A connection for each object costs the slower side {more} more, {share} of the difference.",
        more=Quantity(abs(more_ns), Unit.NANOSECONDS),
        share=part(share),
    )


RULES = (
    CauseRule(
        "expect-continue-stall",
        "The slower side's uploads wait for a server that does not answer Expect: 100-continue.",
        _stall,
        frozenset((_UPLOAD,)),
        {
            "do not send Expect: 100-continue (curl -H 'Expect:')": follows(
                "Without that header no upload waits for the server's permission. This is not "
                "measured here."
            )
        },
    ),
    CauseRule(
        "connection-each",
        "Opening a connection for each object costs the slower side more.",
        _connection_each,
        frozenset((_UPLOAD,)),
        {
            "keep the connection for the next object": other_subject(
                "variant", "keep-alive", "an object over a connection that is kept"
            ),
            "upload many objects at once": other_subject(
                "variant", "concurrent", "an object uploaded with many others"
            ),
        },
    ),
)
