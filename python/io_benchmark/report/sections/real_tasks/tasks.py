# SPDX-License-Identifier: MPL-2.0
"""Real tasks: the document with its answers, pictures and notes, and the tables of times."""

import math
from collections.abc import Iterator, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from io_benchmark.analysis.tasks.task_model import (
    ExplainedTasks,
    LabelRow,
    TaskComparison,
    TaskReport,
)
from io_benchmark.number_text import (
    NOTHING,
    count,
    duration_unit,
    money,
    number_of,
    percent,
    ratio,
)
from io_benchmark.report import blocks
from io_benchmark.report.content import baseline_text, ends_text, text_of
from io_benchmark.report.drawn import Dot, StripRow
from io_benchmark.report.facts import VERSION, addresses_of
from io_benchmark.report.sections.real_tasks import phase_differences, task_answers
from io_benchmark.text import LINE_LENGTH, name

_LABELS_SHOWN = 40  # in the table of a pair
_LABELS_OPEN = 12  # a longer table is folded
_ANSWERED = 4  # pools in the answer
_SCREEN_NOTES = 2  # on the first screen
# Characters of a title, a head of a column, and a note.
_TITLE_LENGTH = 200
_HEAD_CELLS = 26
_NOTE_LENGTH = 220
_ROWS_KEPT = (8, 6, 3)  # how many pools keep their row at each step of leaving out more


def document(report: TaskReport) -> blocks.Document:
    pool_answers = task_answers.answers(report)
    if len(report.comparisons) == 1:
        table = _pair_table(report.comparisons[0])
    else:
        table = _pools_table(report)
    tables = [table] if table.rows else []
    notes = _notes(report)
    remarks = [text_of(remark) for remark in report.remarks]
    pairs = task_answers.in_order(report.comparisons)
    # The answer has a few pools of many, so that it stays on the first screen of a page.
    # What limits all of them comes first.
    answered = len(pool_answers.items) - max(len(pairs) - _ANSWERED, 0)
    first = replace(pool_answers, items=pool_answers.items[:answered])
    further = replace(pool_answers, items=pool_answers.items[answered:])
    answer: list[blocks.Block] = [*_picture(report, pairs[:_ANSWERED]), first]
    content: list[blocks.Block] = []
    if further.items:
        answer.append(blocks.Paragraph(f"and {number_of(len(further.items), 'more pool')}"))
        content += [blocks.Heading("All pools"), *_picture(report, pairs), further]
    if tables:
        content += [blocks.Heading("Times and runs"), *tables]
    if report.phases is not UNSET:
        content += phase_differences.tables(report.phases)
        remarks += [text_of(note) for note in report.phases.notes]
    paid = {pair.candidate: (pair, pair.cost) for pair in pairs if pair.cost is not None}
    if paid:
        content += [blocks.Heading("Costs"), *blocks.Picture.costs("the baseline", paid)]
    for comparison in report.comparisons:
        if len(comparison.labels) > 1:
            content += _labels(comparison)
    content += blocks.Items.lists(
        ("Notes", notes), ("Not read", report.unreadable), ("Messages about the runs", remarks)
    )
    unwritten = _notes(report, is_full=False)
    screen: list[blocks.Block] = [
        pool_answers,
        _screen_warnings(report, unwritten, remarks),
        *tables,
    ]
    return blocks.Document(_title(report), content, screen, facts=[*_facts(report)], answer=answer)


def _facts(report: TaskReport) -> Iterator[blocks.Line]:
    """Yield what was read and compared, when it ran, and by which program."""
    runs = sum(side.completed for side in report.sides)
    pools = {side.queue or side.side for side in report.sides}
    yield f"{number_of(runs, 'completed run')} on {number_of(len(pools), 'pool')}"
    labels = {label.label for pair in report.comparisons for label in pair.labels}
    if labels:
        yield f"{number_of(len(labels), 'label')} compared"
    if isinstance(report, ExplainedTasks):
        if report.days:
            yield f"from {' to '.join(report.days)}"
        yield from addresses_of(report.addresses)
    yield VERSION


def _picture(report: TaskReport, pairs: Sequence[TaskComparison]) -> Sequence[blocks.Picture]:
    """Draw a row per pool below its baseline, with a dot per label where it has several."""
    rows = []
    baselines = dict.fromkeys(pair.baseline for pair in pairs)
    for baseline in baselines:
        rows.append(
            StripRow(
                name=baseline, verdict=blocks.BASELINE, chip="baseline", ratio=1.0, noun="label"
            )
        )
        rows += [_strip_row(pair) for pair in pairs if pair.baseline == baseline]
    caption = "Time of a task divided by the baseline's, with its interval"
    if any(row.dots for row in rows):
        caption += ": each dot is a label"
    return blocks.Picture.strip(caption, rows, report.margin_ratio)


def _strip_row(pair: TaskComparison) -> StripRow:
    labels = pair.labels[:_LABELS_SHOWN] if len(pair.labels) > 1 else ()
    return StripRow(
        name=pair.candidate,
        verdict=pair.verdict.value,
        chip=pair.verdict.value,
        ratio=pair.ratio,
        interval=pair.interval,
        interval_90=pair.interval_90,
        noun="label",
        dots=[Dot(label.ratio, _dot_title(label)) for label in labels],
    )


def _dot_title(label: LabelRow) -> str:
    return f"{name(label.label)}: {ratio(label.ratio)}, {percent(label.share)} of the time"


def _title(report: TaskReport) -> str:
    pools = name(report.title, _TITLE_LENGTH)
    if len(report.comparisons) > task_answers.POOLS_NAMED and report.baseline:
        pools = f"{len(report.comparisons):,} pools against {report.baseline}"
    if report.baseline:
        pools += baseline_text(report.baseline_reason)
    return f"How long the same tasks take: {pools}"


def _notes(report: TaskReport, *, is_full: bool = True) -> list[str]:
    """Return the warnings of all pairs, with the names of their pools where there are several.

    A screen has only those that are not in the answer.
    """
    notes = []
    for pair in report.comparisons:
        lead = f"{pair.candidate}: " if len(report.comparisons) > 1 else ""
        warnings = [
            warning
            for warning in pair.warnings
            if is_full or warning not in task_answers.in_answer(pair)
        ]
        notes += [lead + text_of(warning) for warning in warnings]
    return list(dict.fromkeys(notes))


def _screen_warnings(
    report: TaskReport, notes: Sequence[str], remarks: Sequence[str]
) -> blocks.Items:
    """Return the first lines of what a screen has no room for."""
    # Sources that were not read name what to set or to ask for, such as a scope.
    lines = [name(f"Not read: {line}", LINE_LENGTH) for line in report.unreadable]
    lines += [name(line, _NOTE_LENGTH) for line in (*notes, *remarks)]
    items = [blocks.Item(blocks.Words(line, blocks.WARNING), mark="!") for line in lines]
    return blocks.Items(items, noun="; --details shows them", shown=_SCREEN_NOTES)


def _pair_table(comparison: TaskComparison) -> blocks.Table:
    """Write a row per part of the time, and per number of runs; a column per side."""
    sides = (comparison.baseline, comparison.candidate)
    before, after = (comparison.times[side] for side in sides)
    parts = {
        "Pending": (before.pending_s, after.pending_s),
        "Set-up": (before.set_up_s, after.set_up_s),
        "Own work": (before.work_s, after.work_s),
        "Tear-down": (before.tear_down_s, after.tear_down_s),
        "Task": (before.task_s, after.task_s),
    }
    rows = {
        title: [_time(mean_s, before.task_s) for mean_s in means_s]
        for title, means_s in parts.items()
        if means_s != (None, None)
    }
    cost = comparison.cost
    costs = [cost.baseline, cost.candidate] if cost is not None else []
    if cost is not None:
        rows[f"1,000 tasks, {cost.currency}"] = [money(side.per_1000) for side in costs]
    workers, completed = comparison.workers, comparison.completed
    rows["Workers"] = [count(workers.baseline), count(workers.candidate)]
    rows["Completed runs"] = [count(completed.baseline), count(completed.candidate)]
    for title, ended in (
        ("Failed runs", comparison.failed),
        ("Lost runs", comparison.lost),
        ("Stopped runs", comparison.stopped),
    ):
        if ended.baseline or ended.candidate:
            shares = comparison.shares(ended)
            rows[title] = [
                _with_share(ended.baseline, shares.baseline),
                _with_share(ended.candidate, shares.candidate),
            ]
    if any(side.lost_share for side in costs):
        rows["Time of lost runs"] = [f"+{percent(side.lost_share)}" for side in costs]
    ranks = task_answers.RANKS
    ranked = [blocks.Row(head, rows[head], rank=ranks.get(head, blocks.ALWAYS)) for head in rows]
    return blocks.Table("", [name(side, _HEAD_CELLS) for side in sides], ranked)


def _with_share(runs: int, share: float) -> str:
    """Write '1 (7.7 %)': the runs that ended in some way, of these and the completed ones."""
    return f"{count(runs)} ({percent(share)})" if runs else count(runs)


def _pools_table(report: TaskReport) -> blocks.Table:
    """Write a row for each comparison, or for each side where there is none."""
    heads: tuple[str, ...] = ("Baseline", "Task", "Ratio", "Verdict", "Cost", "Lost")
    rows = []
    for pair in task_answers.in_order(report.comparisons):
        baseline_s = pair.times[pair.baseline].task_s
        candidate_s = pair.times[pair.candidate].task_s
        cells = [
            _time(baseline_s, baseline_s),
            _time(candidate_s, baseline_s),
            ratio(pair.ratio),
            pair.verdict.value,
            NOTHING if pair.cost is None else task_answers.change_text(pair.cost.ratio),
            _with_share(pair.lost.candidate, pair.shares(pair.lost).candidate),
        ]
        rows.append((pair.candidate, cells))
    if not rows:
        heads = ("Completed", "Failed", "Lost", "Stopped")
        for side in report.sides:
            numbers = (side.completed, side.failed, side.lost, side.stopped)
            rows.append((side.side, [count(number) for number in numbers]))
    ranked = [
        blocks.Row(pool, cells, rank=task_answers.pool_rank(position, _ROWS_KEPT))
        for position, (pool, cells) in enumerate(rows)
    ]
    return blocks.Table("", heads, ranked, drop=_least_first(heads), noun=" pools")


def _least_first(heads: Sequence[str]) -> list[str]:
    """Return all columns but the first two; a narrow screen leaves out the last one first."""
    return list(reversed(heads[2:]))


def _labels(comparison: TaskComparison) -> Iterator[blocks.Block]:
    """Write a row per label, those first that take most of the time."""
    title = f"{comparison.candidate} against {comparison.baseline}, by label"
    if len(comparison.labels) > _LABELS_SHOWN:
        title += f" (the {_LABELS_SHOWN} with most time, of {len(comparison.labels):,})"
    if any(label.differs for label in comparison.labels[:_LABELS_SHOWN]):
        title += " (*: not by the ratio of all labels)"
    heads = ("Share", "Baseline", "Task", "Ratio", "Interval", "Workers")
    rows = [
        blocks.Row(
            name(label.label) + (" *" if label.differs else ""),
            (
                percent(label.share),
                _time(label.means_s.baseline, label.means_s.baseline),
                _time(label.means_s.candidate, label.means_s.baseline),
                ratio(label.ratio),
                NOTHING if label.interval is None else ends_text(label.interval),
                f"{label.workers.baseline:,}, {label.workers.candidate:,}",
            ),
        )
        for label in comparison.labels[:_LABELS_SHOWN]
    ]
    yield blocks.Heading(title)
    table = blocks.Table("", heads, rows, drop=_least_first(heads))
    is_long = len(rows) > _LABELS_OPEN
    yield blocks.Fold(number_of(len(rows), "label"), [table]) if is_long else table


def _time(seconds: float | None, whole_s: float) -> str:
    """Write a time in the unit and with the decimals that suit the whole."""
    if seconds is None:
        return NOTHING
    unit_s, unit = duration_unit(whole_s)
    decimals = min(max(2 - math.floor(math.log10(whole_s / unit_s)), 0), 3)
    return f"{seconds / unit_s:,.{decimals}f} {unit}"
