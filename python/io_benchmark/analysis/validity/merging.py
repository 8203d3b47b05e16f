# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Problems of the whole comparison: repeated ones, and sides with no measurement in common."""

from collections.abc import Sequence
from dataclasses import replace

from io_benchmark.analysis.model import Problem, Severity, Subject
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import SubjectReport
from io_benchmark.analysis.statements import statement


def merge_repeated(problems: Sequence[Problem], reports: Sequence[SubjectReport]) -> list[Problem]:
    """Merge problems that are the same for every subject that their sides were compared on."""
    subjects: dict[Problem, dict[Subject | None, None]] = {}
    for problem in problems:
        subjects.setdefault(replace(problem, subject=None), {})[problem.subject] = None
    merged = []
    for problem, of_problem in subjects.items():
        everywhere = {r.subject for r in reports if set(problem.sides) <= set(r.figures)}
        if len(everywhere) > 1 and everywhere <= set(of_problem):
            merged.append(problem)
        else:
            merged += [replace(problem, subject=subject) for subject in of_problem]
    return merged


def nothing_in_common(plan: Plan, reports: Sequence[SubjectReport]) -> list[Problem]:
    """Return a problem for each pair of sides that no subject has in common."""
    return [
        Problem(
            "nothing-in-common",
            Severity.REFUSED,
            None,
            (baseline, candidate),
            statement(
                "{baseline} and {candidate} have no comparable measurement in common",
                baseline=baseline,
                candidate=candidate,
            ),
        )
        for candidate, baseline in plan.pairs
        if not any(candidate in r.figures and baseline in r.figures for r in reports)
    ]
