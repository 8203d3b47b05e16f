# SPDX-License-Identifier: MPL-2.0
"""Predictions: how long profiled tasks take on other pools, and why some could not be predicted."""

from collections.abc import Iterator
from statistics import fmean

from msgspec.structs import replace

from io_benchmark.analysis.prediction.prediction_model import (
    PREDICTION_LEVEL,
    ExplainedPredictions,
    Predictions,
)
from io_benchmark.number_text import compact, count, digits, number_of, percent, ratio, signed, size
from io_benchmark.report import blocks
from io_benchmark.report.content import text_of
from io_benchmark.report.facts import VERSION, addresses_of
from io_benchmark.report.sections.real_tasks import prediction_answers
from io_benchmark.report.sections.real_tasks.profiled_task import (
    PAID,
    ProfiledTask,
    best_ns,
    money_text,
)
from io_benchmark.text import name

_LEAST_ADDED = 0.005  # a smaller share of the profiled time is not shown
_ANSWERED = 4  # tasks that have sentences in the answer
_DRAWN = 5  # pools in the picture of the answer
_ROWS_SHOWN = 30  # the page folds a longer table
# On the first screen: rows of the table of a single task, those that are left out last, and notes.
_SCREEN_ROWS = 8
_ROWS_KEPT = 3
_SCREEN_NOTES = 2
_NOTE_LENGTH = 220


def document(predictions: Predictions) -> blocks.Document:
    tasks = [ProfiledTask.of(task) for task in predictions.tasks]
    is_single = len(tasks) == 1
    answers: list[blocks.Block] = [
        prediction_answers.answers(task, len(tasks)) for task in tasks[:_ANSWERED]
    ]
    if len(tasks) > _ANSWERED:
        further = number_of(len(tasks) - _ANSWERED, "more task")
        answers.append(blocks.Paragraph(f"and {further}", blocks.QUIET))
    picture = prediction_answers.picture(tasks[0], _DRAWN) if is_single else ()
    content = [
        block
        for number, task in enumerate(tasks)
        for block in _task(task, is_single=is_single, is_answered=number < _ANSWERED)
    ]
    content += blocks.Items.lists(
        ("Results that could not be read", predictions.unreadable),
        ("Messages about the results", predictions.remarks),
    )
    screen = [*answers, *_screen_warnings(predictions)]
    if is_single and (tasks[0].known or tasks[0].ranges):
        screen.append(_first_rows(tasks[0]))
    return blocks.Document(
        "How long tasks take on other pools",
        content,
        screen,
        facts=[*_facts(predictions)],
        answer=[*picture, *answers],
    )


def _facts(predictions: Predictions) -> Iterator[blocks.Line]:
    profiles = sum(len(task.measured_ns) for task in predictions.tasks)
    yield f"{number_of(len(predictions.tasks), 'task')}, {number_of(profiles, 'profile')}"
    pools = {pool.pool for task in predictions.tasks for pool in task.pools}
    yield f"results of {number_of(len(pools), 'other pool')}"
    if isinstance(predictions, ExplainedPredictions):
        yield from addresses_of(predictions.addresses)
    yield VERSION


def _screen_warnings(predictions: Predictions) -> Iterator[blocks.Items]:
    """Write the first lines of what a screen has no room for."""
    lines = [name(f"Not read: {line}", _NOTE_LENGTH) for line in predictions.unreadable]
    lines += [name(line, _NOTE_LENGTH) for line in predictions.remarks]
    if lines:
        items = [blocks.Item(blocks.Words(line, blocks.WARNING), mark="!") for line in lines]
        yield blocks.Items(items, noun="; --details shows them", shown=_SCREEN_NOTES)


def _first_rows(task: ProfiledTask) -> blocks.Table:
    """Write the first rows of a task's table; several tasks have sentences alone on a screen."""
    table = _table(task)
    rows = [
        replace(row, rank=prediction_answers.TABLE_RANK if position < _ROWS_KEPT else 0)
        for position, row in enumerate(table.rows[:_SCREEN_ROWS])
    ]
    return replace(table, rows=rows, shown=0, left_out=len(table.rows) - len(rows))


def _task(task: ProfiledTask, *, is_single: bool, is_answered: bool) -> Iterator[blocks.Block]:
    """Write one task: what its profiles recorded, its times on other pools, and why some lack."""
    data = task.data
    yield blocks.Heading(task.title)
    if None not in (data.cpus_used, data.written_bytes, data.read_bytes):
        syncs = f", up to {count(data.syncs)} syncs" if data.syncs else ""
        yield blocks.Paragraph(
            f"On {task.profiled_on}: {digits(data.cpus_used or 0)} CPUs used, "
            f"{size(data.written_bytes or 0)} written to its disks, "
            f"{size(data.read_bytes or 0)} read{syncs}."
        )
    if task.known or task.ranges:
        yield _table(task)
    if task.known:
        if not is_single or len(task.known) > _DRAWN:
            yield from prediction_answers.picture(task)
        yield from blocks.Picture.costs(task.profiled_on, _cost_ratios(task))
        yield from blocks.Picture.demand(data.written)
    reasons = prediction_answers.refusals(task)
    if not is_answered or len(reasons) > prediction_answers.REASONS:
        yield blocks.Items.of(reasons, "Not predicted")
    if not is_answered:
        yield blocks.Items.of([f"{text_of(note)}." for note in data.notes], "Notes")


def _cost_ratios(task: ProfiledTask) -> dict[str, tuple[object, object]]:
    """Return the ratios of time and of cost by pool."""
    ratios: dict[str, tuple[object, object]] = {}
    for pool in task.known:
        time, price_ratio = task.ratio(pool), task.price_ratio(pool)
        if time is not None and price_ratio is not None:
            ratios[pool.pool] = time, time.times(price_ratio)
    return ratios


def _table(task: ProfiledTask) -> blocks.Table:
    """Write what was profiled, then a row per pool; a column without any cell is left out."""
    interval_head = f"{percent(PREDICTION_LEVEL)} of tasks"
    profiled = {
        "time": task.time(task.profiled_ns),
        interval_head: "profiled",
        "at ceiling": _share(task.data.at_ceiling_share),
        PAID: money_text(task.profiled_ns, task.data.price),
    }
    rows = [(task.profiled_on, profiled)]
    for pool in (*task.known, *task.ranges):
        measured_ns = fmean(pool.measured_ns) if pool.measured_ns else None
        cells = {
            "CPUs": f"{pool.cpus:g}" if pool.cpus and pool.at_least_ns else "",
            "time": task.time(pool.time_ns),
            interval_head: task.interval(pool),
            "ratio": ratio(pool.time_ns / task.profiled_ns) if pool.time_ns else "",
            "writes": _added(task, pool.added_by_writes_ns),
            "syncs": _added(task, pool.added_by_syncs_ns),
            "CPU": _added(task, pool.added_by_cpu_ns),
            "at ceiling": _share(pool.at_ceiling_share),
            "measured": task.time(measured_ns),
            PAID: money_text(best_ns(pool), pool.price),
        }
        rows.append((pool.pool, cells))
    heads = list(cells)
    table = [blocks.Row(pool, [cells.get(head, "") for head in heads]) for pool, cells in rows]
    drop = ("CPU", "syncs", "at ceiling", "writes", "measured", "ratio")
    whole = blocks.Table("pool", heads, table, drop=drop, shown=_ROWS_SHOWN, noun=" pools")
    return whole.without_empty_columns()


def _share(share: float | None) -> str:
    """Write a share; nothing where it is not worth a number."""
    return percent(share) if share and share >= _LEAST_ADDED else ""


def _added(task: ProfiledTask, added_ns: float | None) -> str:
    """Return what waiting adds; nothing where it is not worth a number."""
    if not added_ns or abs(added_ns) < _LEAST_ADDED * task.profiled_ns:
        return ""
    return signed(task.time(abs(added_ns), compact), added_ns)
