# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The answer in words."""

import pytest
import sample_report
from msgspec.structs import replace

from io_benchmark.analysis.model import Advice, Cause, Severity, State, Verdict
from io_benchmark.analysis.statements import statement
from io_benchmark.report.content import document
from io_benchmark.report.content.report_index import NO_VERDICT


def sentences(report):
    """Every answer, subject by subject."""
    return [
        [f"{answer.lead} {answer.after_lead}" for answer in part.answers]
        for part in document.build(report).sections
    ]


def with_causes(*causes: Cause):
    """The seed's case with other hypotheses and no remedies."""
    report = sample_report.seed_case(5)
    (diagnosis,) = report.diagnoses
    return replace(report, diagnoses=(replace(diagnosis, causes=causes, remedies=()),))


def with_advice(workers_to_add: int | None):
    """The seed's undecided pool alone, with other advice."""
    report = sample_report.seed_case(5)
    (part,) = report.subjects
    advice = Advice(Verdict.EQUIVALENT, workers_to_add, 0.05, statement(""))
    undecided = replace(part.comparisons[1], advice=advice)
    return replace(report, subjects=(replace(part, comparisons=(undecided,)),), diagnoses=())


def test_the_seeds_answer():
    """Who is slower, by how much, how sure, why, and what to try; and what would decide the other."""
    ((slower, undecided),) = sentences(sample_report.seed_case(5))
    assert slower == (
        "amd-16 is 1.92× slower than intel (95 % interval 1.68 to 2.19): 1 local SSD against 2 "
        "local SSDs striped explains 94 %. Try: Use a machine type with two local SSDs, such as "
        "c3d-standard-30-lssd (1.90× faster, measured)."
    )
    assert undecided == (
        "amd-30 compared with intel is inconclusive at 1.01× (95 % interval 0.88 to 1.16); 12 "
        "more workers per pool should settle it."
    )


def test_causes_belong_to_one_subject():
    """With two destinations, causes stand with the first, by whose ratio they were judged."""
    overwritten, unlinked = sentences(sample_report.several_subjects())
    assert unlinked[0] == (
        "amd-16 is 1.21× slower than intel (95 % interval 1.06 to 1.38), 1.96× by the median, "
        "which varies less where nothing waits for a disk."
    )
    assert "explains 94 %" in overwritten[0]


@pytest.mark.parametrize(
    ("causes", "ending"),
    [
        pytest.param(
            [replace(sample_report.SUPPORTED, share=None)],
            "1 local SSD against 2 local SSDs striped (device-count, supported).",
            id="no-share",
        ),
        pytest.param(
            [
                replace(
                    sample_report.SUPPORTED,
                    candidate_evidence=sample_report.evidence(statement("x" * 101)),
                )
            ],
            "Fewer local SSDs share the writes explains 94 %.",
            id="long-evidence",
        ),
        pytest.param(
            [replace(sample_report.SUPPORTED, name="other", share=None), sample_report.SUPPORTED],
            "1 local SSD against 2 local SSDs striped explains 94 %; also supported: other.",
            id="the-largest-share-first",
        ),
        pytest.param(
            [replace(sample_report.SUPPORTED, state=State.RULED_OUT)],
            "no cause is supported by the observations.",
            id="none-supported",
        ),
    ],
)
def test_causes(causes, ending):
    """What explains the difference, with how much of it."""
    answer = sentences(with_causes(*causes))[0][0]
    assert answer == f"amd-16 is 1.92× slower than intel (95 % interval 1.68 to 2.19): {ending}"


@pytest.mark.parametrize(
    ("workers", "ending"),
    [
        pytest.param(1, "; 1 more worker per pool should settle it.", id="one"),
        pytest.param(12, "; 12 more workers per pool should settle it.", id="twelve"),
        pytest.param(None, "; more workers would not settle it.", id="not-by-repetition"),
    ],
)
def test_advice(workers, ending):
    """What would decide it stands in the answer."""
    assert sentences(with_advice(workers))[0][1].endswith(ending)


def test_refused_and_missing():
    """Each candidate without a verdict says why: the rule, or that there is no counterpart."""
    report = sample_report.refused(5)
    assert sentences(report) == [
        ["amd-16 compared with intel: no verdict, refused by copy-method."]
    ]
    (part,) = report.subjects
    alone = replace(part, figures={"amd-16": sample_report.AMD_16})
    report = replace(report, subjects=(alone,), problems=())
    assert sentences(report) == [
        ["amd-16 compared with intel: no verdict, because intel has no samples of this."]
    ]


def test_a_refused_side_without_figures():
    """A side that is refused altogether is still named in the answer."""
    report = sample_report.refused(5)
    (part,) = report.subjects
    (problem,) = report.problems
    report = replace(
        report,
        subjects=(replace(part, figures={"intel": sample_report.INTEL}),),
        problems=(replace(problem, subject=None),),
    )
    (section,) = document.build(report).sections
    assert [(answer.candidate, answer.verdict) for answer in section.answers] == [
        ("amd-16", NO_VERDICT)
    ]


def test_marks():
    """A warning's number stands at the sides it names, a subject's at its title, in the order given."""
    report = sample_report.seed_case(5)
    few, cache = report.problems
    report = replace(
        report,
        problems=(replace(few, sides=()), replace(cache, severity=Severity.ALLOWED), few),
    )
    built = document.build(report)
    (section,) = built.sections
    assert section.marks == (1,)
    assert [head.marks for head in section.table.heads] == [(3,), (3,), (2, 3)]
    assert [answer.marks for answer in section.answers] == [(3,), (2, 3)]
    assert built.notes.footnotes[1].text.startswith(
        "allowed by --allow page-cache, amd-30: drop_caches"
    )


def test_repeated_worker():
    """A machine that ran twice is noticed, in the list and in words."""
    built = document.build(sample_report.before_after(5))
    assert [row.repeated for row in built.workers.rows] == [True, False, False, True]
    assert built.workers.cautions == (
        "Worker group/0 ran 2 of these tasks, so they are not independent.",
    )
