# SPDX-License-Identifier: MPL-2.0
"""What makes executing a binary slow (a copy of it for each builder), and what makes uploads slow.

Uploads wait for a server that does not answer Expect, or for a connection for each object.
"""

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.evidence import detail_evidence, figures, not_measured, span
from io_benchmark.analysis.diagnosis.measured_gains import follows, other_subject
from io_benchmark.analysis.diagnosis.rules import (
    Effect,
    SideEvidence,
    Size,
    as_share,
    cause,
    is_enough,
)
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.analysis.parts.time_parts import ON_CPU, in_all
from io_benchmark.analysis.statements import Quantity, Unit
from io_benchmark.results.workloads.exec import OVER_HARDLINKED
from io_benchmark.results.workloads.upload import UploadEntry

ORDER = 130
_EXEC, _COPIES = "exec", "copies"
_COSTS_MORE_RATIO = 1.1
_UPLOAD = "upload"
_EACH, _KEPT = "connection-each", "keep-alive"


@cause(
    "per-builder-copies",
    "Copies of a binary, one for each process, do not fit the slower side's caches.",
    workloads=frozenset((_EXEC,)),
    remedies={
        "hardlink the binaries of all builders to one file": other_subject(
            "variant", "hardlinked", "executing hardlinks"
        )
    },
    acts_through=in_all(*ON_CPU),
)
def _per_builder_copies(case: Case) -> Effect:
    """Compare copies with hardlinks, which share one file's pages in the caches."""
    copies = case.sibling(variant=_COPIES)
    costs = case.detail(copies, OVER_HARDLINKED) if copies is not None else None
    if copies is None or costs is None:
        return SideEvidence(not_measured).unseen(
            "This needs the variants hardlinked and copies on both sides.", workload=_EXEC
        )
    template = "time of copies {figure} that of hardlinks"
    evidence = SideEvidence(detail_evidence(copies, OVER_HARDLINKED, Unit.RATIO, template))
    if case.subject.variant != _COPIES:
        return evidence.opposes(
            "Hardlinks to one file differ as well, so copies are not the cause."
        )
    slower, faster = costs
    if slower < _COSTS_MORE_RATIO * faster or not copies.is_decided:
        return evidence.opposes("Copies cost the slower side no more than the faster side.")
    hardlinked = case.known_times_as_long(case.sibling(variant="hardlinked"))
    return evidence.supports(
        "The slower side's caches do not hold a copy of the binary for each process.",
        Size(case.part_of(case.times_as_long(copies) / hardlinked), is_measured=True),
    )


def _stalled(view: View) -> float | None:
    """Return the part of the objects that waited for an answer that did not come."""
    measured = view.entry.measured if view.entry is not None else None
    if view.entry is None or not isinstance(measured, UploadEntry):
        return None
    stalls = measured.observed.expect_100_stalls
    return None if stalls is None else stalls / view.entry.operations_done


@cause(
    "expect-continue-stall",
    "The slower side's uploads wait for a server that does not answer Expect: 100-continue.",
    workloads=frozenset((_UPLOAD,)),
    remedies={
        "do not send Expect: 100-continue (curl -H 'Expect:')": follows(
            "Without that header no upload waits for the server's permission. This is not "
            "measured here."
        )
    },
)
def _stall(case: Case) -> Effect:
    evidence = SideEvidence.of(
        case, span("stalled-uploads", _stalled, Unit.SHARE, "{value} of uploads stalled")
    )
    slower, faster = case.means(_stalled)
    if slower is None or faster is None:
        return evidence.unseen(
            "A side's client did not send Expect: 100-continue, so it could not wait for it."
        )
    if not slower and not faster:
        return evidence.same("No upload waited for an answer that did not come.")
    if slower <= faster:
        return evidence.opposes("The faster side's uploads stall as often.")
    return evidence.supports(
        "The slower side's uploads wait about a second each for an answer to Expect: 100-continue "
        "that does not come."
    )


@cause(
    "connection-each",
    "Opening a connection for each object costs the slower side more.",
    workloads=frozenset((_UPLOAD,)),
    remedies={
        "keep the connection for the next object": other_subject(
            "variant", "keep-alive", "an object over a connection that is kept"
        ),
        "upload many objects at once": other_subject(
            "variant", "concurrent", "an object uploaded with many others"
        ),
    },
)
def _connection_each(case: Case) -> Effect:
    """Compare a connection for each object with a connection that is kept."""
    pair = [each for variant in (_EACH, _KEPT) for each in case.measured(_UPLOAD, variant)]
    if len(pair) != 2:
        return SideEvidence(not_measured).unseen(
            "This needs the variants connection-each and keep-alive on both sides.",
            workload=_UPLOAD,
        )
    evidence = SideEvidence(figures(pair))
    each, kept = pair
    if case.subject.variant != _EACH:
        return evidence.opposes("Uploads over a connection that is kept differ as well.")
    more_ns = each.difference_ns - kept.difference_ns
    share = more_ns / each.difference_ns
    if not is_enough(share) or not each.is_decided:
        return evidence.opposes(
            "Connecting makes up {share} of the difference; the rest is in the uploads.",
            share=as_share(share),
        )
    return evidence.supports(
        "A connection for each object costs the slower side {more} more, {share} of the difference.",
        more=Quantity(abs(more_ns), Unit.NANOSECONDS),
        share=as_share(share),
    )
