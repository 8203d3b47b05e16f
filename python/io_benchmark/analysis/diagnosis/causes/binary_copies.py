# SPDX-License-Identifier: MPL-2.0
"""What makes executing a binary slow: a copy of it for each builder."""

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.cause_rule import CauseJudgement, CauseRule
from io_benchmark.analysis.diagnosis.evidence import NOT_MEASURED, detail_evidence
from io_benchmark.analysis.diagnosis.measured_gains import other_subject
from io_benchmark.analysis.parts.time_parts import ON_CPU, in_all
from io_benchmark.analysis.statements import Unit
from io_benchmark.results.workloads.exec import OVER_HARDLINKED

ORDER = 130
_EXEC = "exec"
_COPIES = "copies"
_COSTS_MORE_RATIO = 1.1


def _per_builder_copies(case: Case) -> CauseJudgement:
    """Compare copies with hardlinks, which share one file's pages in the caches."""
    copies = case.sibling(variant=_COPIES)
    costs = case.detail(copies, OVER_HARDLINKED) if copies is not None else None
    if copies is None or costs is None:
        return NOT_MEASURED.not_observable(
            "This needs the variants hardlinked and copies on both sides.",
            workload=_EXEC,
        )
    evidence = detail_evidence(
        copies,
        OVER_HARDLINKED,
        Unit.RATIO,
        "time of copies {figure} that of hardlinks",
    )
    if not case.differs:
        return evidence.nothing_to_explain()
    if case.subject.variant != _COPIES:
        return evidence.ruled_out(
            "Hardlinks to one file differ as well, so copies are not the cause."
        )
    slower, faster = costs
    if slower < _COSTS_MORE_RATIO * faster or not copies.is_decided:
        return evidence.ruled_out("Copies cost the slower side no more than the faster side.")
    hardlinked = case.known_times_as_long(case.sibling(variant="hardlinked"))
    return evidence.supported(
        "The slower side's caches do not hold a copy of the binary for each process.",
        predicted_ratio=case.part_of(case.times_as_long(copies) / hardlinked),
        is_part=True,
    )


RULES = (
    CauseRule(
        "per-builder-copies",
        "Copies of a binary, one for each process, do not fit the slower side's caches.",
        _per_builder_copies,
        frozenset((_EXEC,)),
        {
            "hardlink the binaries of all builders to one file": other_subject(
                "variant", "hardlinked", "executing hardlinks"
            )
        },
        acts_through=in_all(*ON_CPU),
    ),
)
