# SPDX-License-Identifier: MPL-2.0
"""What makes executing a binary and uploads slow.

Binaries wait for a copy of them for each builder; uploads for a server that does not answer Expect,
or for a connection for each object.
"""

from io_benchmark.analysis.explaining import effects
from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.measured_gains import follows, other_subject
from io_benchmark.analysis.explaining.rules import CauseRule, Only, RemedyRule
from io_benchmark.analysis.model.cause import NoChange
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import Quantity, Unit
from io_benchmark.analysis.model.time_parts import ON_CPU, in_all
from io_benchmark.results.parts import BatchEntry
from io_benchmark.results.workloads import OVER_HARDLINKED

_NOT_PROFILED = NoChange("a task's profile does not have its uploads")
_OF_UPLOADS = Only(("upload",), "no other workload sends objects")
_EXEC, _COPIES = "exec", "copies"
_UPLOAD = "upload"
_EACH, _KEPT = "connection-each", "keep-alive"


def _per_builder_copies(case: Case) -> effects.Effect:
    """Compare copies with hardlinks, which share one file's pages in the caches."""
    copies = case.sibling(variant=_COPIES)
    costs = case.detail(copies, OVER_HARDLINKED) if copies else None
    if copies is None or costs is None:
        return effects.NOT_MEASURED.needs("the variants hardlinked and copies", _EXEC)
    template = "time of copies {figure} that of hardlinks"
    evidence = effects.SideEvidence.from_detail(copies, OVER_HARDLINKED, Unit.RATIO, template)
    if case.subject.variant != _COPIES:
        return evidence.opposes(
            "Hardlinks to one file differ as well, so copies are not the cause."
        )
    slower, faster = costs
    if slower < effects.SLOWER_AT_RATIO * faster or not copies.is_decided:
        return evidence.opposes("Copies cost the slower side no more than the faster side.")
    hardlinked = case.known_times_as_long(case.sibling(variant="hardlinked"))
    return evidence.supports(
        "The slower side's caches do not hold a copy of the binary for each process.",
        effects.Size.measured(case, case.times_as_long(copies) / hardlinked),
    )


PER_BUILDER_COPIES = CauseRule(
    name="per-builder-copies",
    hypothesis="Copies of a binary, one for each process, do not fit the slower side's caches.",
    fact=_per_builder_copies,
    applies_to=Only((_EXEC,), "no other workload executes copies of a binary"),
    acts_through=in_all(*ON_CPU),
    change=NoChange("a task's profile does not name the binaries that it executes"),
    remedies=(
        RemedyRule(
            "hardlink the binaries of all builders to one file",
            other_subject("variant", "hardlinked", "executing hardlinks"),
        ),
    ),
)


def _stalled(run: Run) -> float | None:
    """Return the part of the objects that waited for an answer that did not come."""
    measured = run.measured
    stalls = measured.observed.expect_100_stalls if isinstance(measured, BatchEntry) else None
    return None if stalls is None else stalls / run.operations_done


def _stall(case: Case) -> effects.Effect:
    evidence = effects.SideEvidence.of(
        case, effects.span("stalled-uploads", _stalled, Unit.SHARE, "{value} of uploads stalled")
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


EXPECT_CONTINUE_STALL = CauseRule(
    name="expect-continue-stall",
    hypothesis="The slower side's uploads wait for a server that does not answer Expect: "
    "100-continue.",
    fact=_stall,
    applies_to=_OF_UPLOADS,
    acts_through=frozenset(),
    change=_NOT_PROFILED,
    remedies=(
        RemedyRule(
            "do not send Expect: 100-continue (curl -H 'Expect:')",
            follows(
                "Without that header no upload waits for the server's permission. This is not "
                "measured here."
            ),
        ),
    ),
)


def _connection_each(case: Case) -> effects.Effect:
    pair = [upload for variant in (_EACH, _KEPT) for upload in case.measured(_UPLOAD, variant)]
    if len(pair) != 2:
        return effects.NOT_MEASURED.needs("the variants connection-each and keep-alive", _UPLOAD)
    evidence = effects.SideEvidence.from_means(pair)
    if case.subject.variant != _EACH:
        return evidence.opposes("Uploads over a connection that is kept differ as well.")
    separate_ns, kept_ns = map(case.longer_ns, pair)
    share = (separate_ns - kept_ns) / separate_ns
    if not effects.is_enough(share) or not pair[0].is_decided:
        return evidence.opposes(
            "Connecting makes up {share} of the difference; the rest is in the uploads.",
            share=effects.as_share(share),
        )
    return evidence.supports(
        "A connection for each object costs the slower side {more} more, {share} of the "
        "difference.",
        more=Quantity(abs(separate_ns - kept_ns), Unit.NANOSECONDS),
        share=effects.as_share(share),
    )


CONNECTION_EACH = CauseRule(
    name="connection-each",
    hypothesis="Opening a connection for each object costs the slower side more.",
    fact=_connection_each,
    applies_to=_OF_UPLOADS,
    acts_through=frozenset(),
    change=_NOT_PROFILED,
    remedies=(
        RemedyRule(
            "keep the connection for the next object",
            other_subject("variant", "keep-alive", "an object over a connection that is kept"),
        ),
        RemedyRule(
            "upload many objects at once",
            other_subject("variant", "concurrent", "an object uploaded with many others"),
        ),
    ),
)
