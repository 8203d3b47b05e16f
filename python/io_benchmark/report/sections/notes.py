# SPDX-License-Identifier: MPL-2.0
"""Refusals, warnings and what could not be read: some on a first screen, else all."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from io_benchmark.analysis.model.comparison import Problem, Severity
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.model.run import WorkerLine
from io_benchmark.analysis.validity.rules import COMPARISON_RULES, SIDE_RULES
from io_benchmark.number_text import listed, number_of
from io_benchmark.report import blocks
from io_benchmark.report.caveats import ENDED_BADLY, Caveats
from io_benchmark.report.content import text_of
from io_benchmark.results import workloads
from io_benchmark.text import LINE_LENGTH, ending_in_words, name

_SIDES_SHOWN = 6
# A screen has two warnings of a kind, then a count; without an answer there is room for more.
_SHOWN, _SHOWN_ALONE = 2, 4
_WARNING_LENGTH = 300
_NOTHING_LEFT = "nothing-in-common"  # what also follows where every run of a side is refused
NOTE_RANK = 5  # notes about how it was measured are left out first
# Rules that change most how a verdict is read come first, those about single runs last.
_RANKS = {**dict.fromkeys(SIDE_RULES, 1), **dict.fromkeys(COMPARISON_RULES, 0)}


def warnings(
    report: Report, caveats: Caveats, candidates: Collection[str]
) -> Iterator[blocks.Item]:
    """Write what changes how the answers are read; more than a few are counted.

    What the sentences of these candidates say is not repeated.
    """
    yield from _first(refusals(report), "refused comparisons")
    lead = blocks.Words("Not read:", blocks.WARNING)
    missing = [(lead, f" {line}") for line in report.unreadable]
    most = _SHOWN if report.subjects else _SHOWN_ALONE
    # They name what to set or to ask for, such as a scope.
    yield from _first(missing, "results not read", most=most, length=LINE_LENGTH)
    ended_early = [
        f"{run.side}: task {run.task_id}{'' if run.run_id is None else f' run {run.run_id}'} "
        f"{ending_in_words(run.state, run.reason)}; {_use(run)}."
        for run in report.workers
        if run.is_counted and run.state in ENDED_BADLY and not caveats.is_written(run, candidates)
    ]
    yield from _first(ended_early, "cautions about workers")
    for severity, rank in ((Severity.ALLOWED, blocks.ALWAYS), (Severity.WARNING, NOTE_RANK)):
        unwritten = [
            alike
            for alike in _alike(report, severity)
            if not caveats.is_written(alike[0], candidates)
        ]
        by_rule = grouped(unwritten, lambda alike: alike[0].rule)
        rules = sorted(by_rule, key=lambda rule: _RANKS.get(rule, 2))
        lines = []
        for rule in rules:
            sentence, *further = dict.fromkeys(map(_brief, by_rule[rule]))
            more = f" (and {number_of(len(further), 'more such warning')})" if further else ""
            lines.append((blocks.Words(f"{rule}:", blocks.WARNING), f" {sentence}{more}"))
        yield from _first(lines, f"kinds of warnings: {', '.join(rules[_SHOWN - 1 :])}", rank=rank)
    yield from _first([*map(text_of, report.remarks)], "remarks", rank=NOTE_RANK)


def _use(run: WorkerLine) -> str:
    """Write which of a run's measurements are used: a rule may leave out some or all of them."""
    if run.measurements_used == 0:
        return "nothing that it measured is used"
    if run.measurements_used == run.measurements:
        return "what it measured until then is used"
    measurements = number_of(run.measurements, "measurement")
    return f"{run.measurements_used:,} of its {measurements} are used"


def _first(
    lines: Sequence[blocks.Line],
    kind: str,
    *,
    rank: int = blocks.ALWAYS,
    most: int = _SHOWN,
    length: int = _WARNING_LENGTH,
) -> Iterator[blocks.Item]:
    """Yield a few lines, cut; then how many more there are."""
    visible = lines if len(lines) <= most else lines[: most - 1]
    for line in visible:
        lead, rest = line if isinstance(line, tuple) else ("", line)
        cut = name(blocks.plain(rest), length)
        yield blocks.Item((lead, f" {cut}") if lead else cut, mark="!", rank=rank)
    if len(lines) > len(visible):
        yield blocks.Item(f"and {len(lines) - len(visible):,} more {kind}", mark="!", rank=rank)


def notes(report: Report) -> Iterator[blocks.Block]:
    items = [
        blocks.Item((blocks.Words(alike[0].rule, blocks.CODE), f": {_full(alike, report)}"))
        for alike in _alike(report, Severity.ALLOWED, Severity.WARNING)
    ]
    lines = ((items, "warning"), (report.remarks, "remark"))
    counts = [number_of(len(same), noun) for same, noun in lines if same]
    if counts or report.unreadable:
        yield blocks.Heading("Notes")
        yield blocks.Items.of(report.unreadable, "Not read")
    if counts:
        remarks = blocks.Items.of(map(text_of, report.remarks), "Remarks")
        lists = [blocks.Items(items, shown=0), remarks]
        yield blocks.Fold(", ".join(counts), lists, is_named_in_text=False)


def refusals(report: Report) -> list[blocks.Line]:
    """Return the refusing rules with what they are about, and the message with its consequence."""
    return [
        (
            blocks.Words(f"REFUSED by {alike[0].rule}", blocks.NO_VERDICT),
            f" ({_where(alike, report)}): {_refusal(alike[0], report)}",
        )
        for alike in _alike(report, Severity.REFUSED)
    ]


def _refusal(problem: Problem, report: Report) -> str:
    """Return the message, and what follows from it for the rest of its side."""
    compared = {
        side
        for part in report.subjects
        if problem.subject in (None, part.subject)
        for comparison in part.comparisons
        for side in (comparison.candidate, comparison.baseline)
    }
    consequence = f"No verdict is given{_way_to_allow(problem, report)}."
    if len(problem.sides) == 1 and compared.issuperset(problem.sides):
        consequence = "This run is left out."
    return f"{text_of(problem.message).rstrip('.')}. {consequence}"


def _way_to_allow(problem: Problem, report: Report) -> str:
    """Return the options that compare what is refused: they allow all rules that refuse it."""
    same = [
        refused
        for refused in report.problems
        if refused.severity is Severity.REFUSED
        and (refused is problem or refused.rule != _NOTHING_LEFT)
        and set(problem.sides) & set(refused.sides)
        and (problem.subject == refused.subject or None in (problem.subject, refused.subject))
    ]
    if not all(refused.can_be_allowed for refused in same):
        return ""
    options = " ".join(dict.fromkeys(f"--allow {refused.rule}" for refused in same))
    return f". To compare nevertheless, use {options} of compare"


def _alike(report: Report, *severities: Severity) -> list[list[Problem]]:
    """Group problems with the same rule, sides and message, which differ in their subject alone.

    Workloads in batches have dozens of measurements, so there one warning represents all of a rule.
    """

    def key(problem: Problem) -> tuple[object, ...]:
        workload = problem.subject.workload if problem.subject is not None else ""
        same = (problem.rule, problem.severity, problem.sides)
        if problem.severity is Severity.WARNING and workload in workloads.IN_BATCHES:
            return same
        return (*same, problem.message, problem.explanation)

    problems = (problem for problem in report.problems if problem.severity in severities)
    return list(grouped(problems, key).values())


def _full(alike: Sequence[Problem], report: Report) -> str:
    """Return a warning with the measurements that it is about, and its explanation."""
    explanation, full = alike[0].explanation, _brief(alike)
    if len(report.subjects) > 1:
        full = f"{_allowed(alike[0])}{_where(alike, report)}: {_message(alike)}"
    return full if explanation is None else f"{full}. {text_of(explanation)}"


def _brief(alike: Sequence[Problem]) -> str:
    """Return a warning with its sides, which its message may name already."""
    problem, message = alike[0], _message(alike)
    is_named = all(side in message for side in problem.sides)
    return f"{_allowed(problem)}{'' if is_named else f'{_sides(problem)}: '}{message}"


def _message(alike: Sequence[Problem]) -> str:
    further = len({similar.message for similar in alike}) - 1
    similar = f", and {number_of(further, 'similar message')}" if further else ""
    return text_of(alike[0].message) + similar


def _allowed(problem: Problem) -> str:
    return f"allowed by --allow {problem.rule}, " if problem.severity is Severity.ALLOWED else ""


def _where(alike: Sequence[Problem], report: Report) -> str:
    """Return the sides that these problems are about, and the measurements if there are several."""
    sides = _sides(alike[0])
    subjects = list(dict.fromkeys(problem.subject for problem in alike if problem.subject))
    if len(report.subjects) < 2 or not subjects:
        return sides
    if len(subjects) == 1:
        return f"{sides}; {subjects[0]}"
    measurements = (
        f"{workload} ({count:,} measurements)" if count > 1 else workload
        for workload, count in Counter(subject.workload for subject in subjects).items()
    )
    return f"{sides}; {', '.join(measurements)}"


def _sides(problem: Problem) -> str:
    return listed(problem.sides, _SIDES_SHOWN) or "all"
