# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What makes executing a binary slow (seed 004): a copy of it for each builder."""

from io_benchmark.analysis.diagnosis.case import Case, Finding, Rule
from io_benchmark.analysis.diagnosis.judging import NOTHING_TO_EXPLAIN
from io_benchmark.analysis.diagnosis.other_measurements import (
    NOT_MEASURED,
    decided,
    detail,
    detail_texts,
    known_to_be_slower,
    part_of,
    slower_by,
)
from io_benchmark.analysis.model import State
from io_benchmark.analysis.summary import workload_figures

NAME = "exec"
COPIES = "copies"
DEARER_RATIO = 1.1


def per_builder_copies(case: Case) -> Finding:
    """Hardlinks share one file's pages; copies each want their own part of the caches."""
    one = case.sibling(variant=COPIES)
    dearer = detail(case, one, workload_figures.COPIES) if one is not None else None
    if one is None or dearer is None:
        return Finding(
            State.NOT_OBSERVABLE,
            NOT_MEASURED,
            NOT_MEASURED,
            "needs the variants hardlinked and copies on both sides",
            workload=NAME,
        )
    evidence = detail_texts(one, workload_figures.COPIES, "by copies (hardlinks are 1)")
    if not case.differs:
        return Finding(State.RULED_OUT, *evidence, NOTHING_TO_EXPLAIN)
    if case.subject.variant != COPIES:
        return Finding(
            State.RULED_OUT, *evidence, "hardlinks to one file differ as well: it lies elsewhere"
        )
    slower, faster = dearer
    if slower < DEARER_RATIO * faster or not decided(one):
        return Finding(
            State.RULED_OUT,
            *evidence,
            "copies cost the slower side no more than they cost the other",
        )
    more = slower_by(case, one) / known_to_be_slower(case, case.sibling(variant="hardlinked"))
    return Finding(
        State.SUPPORTED,
        *evidence,
        "the slower side's caches do not hold a copy of the binary for each process",
        predicted_ratio=part_of(case, more),
        is_part=True,
    )


RULES = (
    Rule(
        "per-builder-copies",
        "Copies of a binary, one for each process, crowd the slower side's caches.",
        per_builder_copies,
        frozenset((NAME,)),
    ),
)
