# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Problems of the whole comparison: what holds everywhere is said once, what nothing has in common."""

from collections.abc import Sequence
from dataclasses import replace

from io_benchmark.analysis.model import Problem, Severity
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import SubjectReport


def shared(problems: Sequence[Problem], reports: Sequence[SubjectReport]) -> list[Problem]:
    """What holds of all that the same sides were compared on is said once."""
    alike: dict[tuple[str, Severity, tuple[str, ...], str], list[Problem]] = {}
    for problem in problems:
        key = (problem.rule, problem.severity, problem.sides, problem.message)
        alike.setdefault(key, []).append(problem)
    found = []
    for same in alike.values():
        subjects = {problem.subject for problem in same}
        everywhere = {r.subject for r in reports if set(same[0].sides) <= set(r.figures)}
        if len(everywhere) > 1 and everywhere <= subjects:
            found.append(replace(same[0], subject=None))
        else:
            found += dict.fromkeys(same)
    return found


def nothing_in_common(plan: Plan, reports: Sequence[SubjectReport]) -> list[Problem]:
    problems = []
    for candidate, baseline in plan.pairs:
        if not any(candidate in r.figures and baseline in r.figures for r in reports):
            problems.append(
                Problem(
                    "nothing-in-common",
                    Severity.REFUSED,
                    None,
                    (baseline, candidate),
                    f"{baseline} and {candidate} have no measurement in common that may be "
                    "compared",
                )
            )
    return problems
