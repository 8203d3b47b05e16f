# SPDX-License-Identifier: MPL-2.0
"""Where the time of runs went: a sentence and a table per run, or the means of each pool."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from io_benchmark.analysis.phases.phase_model import PhaseName, Waits
from io_benchmark.analysis.phases.phase_report import (
    ExplainedPhases,
    PhaseReport,
    PhaseTotal,
    PoolPhases,
    ReportedRun,
)
from io_benchmark.number_text import NOTHING, digits, duration, duration_unit, number_of, percent
from io_benchmark.number_text import size as size_text
from io_benchmark.report import blocks
from io_benchmark.report.drawn import BarPart, BarRow
from io_benchmark.report.facts import VERSION, addresses_of
from io_benchmark.text import capitalized, name

_S = 10**9
_MIB = 1024 * 1024
_RUNS_IN_FULL = 4  # more runs have a row each, below the means of their pools
_RUNS_SHOWN = 40
_BARS = 60
_NAME_CELLS = 32
_SCREEN_ROWS, _SCREEN_NOTES = 8, 3
_NOTE_LENGTH = 220
_MEANS = "Mean of each pool's runs"
_INTRODUCTION = (
    "Phases are divided at known lines of each run's log; the queue gives its start and its end. "
    "Other is what lies between two known lines. The last phase lasts until the run was resolved, "
    "so that it includes the upload of the log. Sizes and rates are those that the log has."
)


def document(report: PhaseReport) -> blocks.Document:
    in_full = len(report.runs) <= _RUNS_IN_FULL
    sentences = blocks.Items(_sentences(report, in_full=in_full))
    answer: list[blocks.Block] = [*_picture(report.runs), sentences]
    tables = [_run_table(run) for run in report.runs] if in_full else [*_overview(report)]
    notes = [
        f"{_title(run)}: {message}" if len(report.runs) > 1 else message
        for run in report.runs
        for message in run.messages
    ]
    content: list[blocks.Block] = [blocks.Heading("Phases"), *tables] if tables else []
    content += blocks.Items.lists(
        ("Not read", report.unreadable), ("Messages about the logs", [*notes, *report.remarks])
    )
    content += [blocks.Heading("How to read this"), blocks.Paragraph(_INTRODUCTION, blocks.QUIET)]
    warnings = [name(line, _NOTE_LENGTH) for line in (*report.unreadable, *notes, *report.remarks)]
    items = [blocks.Item(blocks.Words(line, blocks.WARNING), mark="!") for line in warnings]
    screen: list[blocks.Block] = [sentences, *_for_screen(tables)]
    if items:
        screen.append(blocks.Items(items, noun="; --details shows them", shown=_SCREEN_NOTES))
    return blocks.Document(
        "Where the time of runs went", content, screen, facts=[*_facts(report)], answer=answer
    )


def _facts(report: PhaseReport) -> Iterator[blocks.Line]:
    yield number_of(len(report.runs), "run")
    if report.pools:
        yield f"on {number_of(len(report.pools), 'pool')}"
    if isinstance(report, ExplainedPhases):
        yield from addresses_of(report.addresses)
    yield VERSION


def _title(run: ReportedRun) -> str:
    """Return the label, else the id of the task, with the number of a repeated run."""
    title = name(run.label or run.task_id or "a task without a name", _NAME_CELLS)
    return f"{title} run {run.run_id}" if run.run_id else title


def _sentences(report: PhaseReport, *, in_full: bool) -> list[blocks.Item]:
    if in_full:
        items = [_sentence(_title(run), run.pool, run, "took") for run in report.runs]
    else:
        pools = report.pools
        items = [
            _sentence(name(row.pool or "no pool"), "", row, "took on average") for row in pools
        ]
    nothing = "No log is complete." if report.runs else "No log could be read."
    return items or [blocks.Item.answer(blocks.NO_VERDICT, nothing)]


def _sentence(title: str, pool: str, run: ReportedRun | PoolPhases, verb: str) -> blocks.Item:
    """Write how long a run took, its own work, and the longest of the other phases."""
    on = f" on {name(pool)}" if pool else ""
    still = ""
    if isinstance(run, ReportedRun) and not run.is_complete:
        verb, still = "took so far", " Its log is not complete."
    totals = {total.phase: total for total in run.phases if total.share is not None}
    own = totals.pop(PhaseName.OWN_WORK, None)
    parts = [] if own is None else [f"own work {_time_and_share(own)}"]
    longest = sorted(totals.values(), key=lambda total: -total.duration_ns)[:2]
    parts += [f"{total.phase} {_time_and_share(total)}" for total in longest]
    sentence = f"{on} {verb} {duration(run.run_ns / _S)}: {', '.join(parts)}.{still}"
    return blocks.Item((blocks.Words(title, blocks.STRONG), sentence))


def _time_and_share(total: PhaseTotal) -> str:
    return f"{duration(total.duration_ns / _S)} ({percent(total.share or 0.0)})"


def _for_screen(tables: Sequence[blocks.Table]) -> Iterator[blocks.Table]:
    """Let a screen leave out rows: of several tables all, and of runs the last first."""
    for table in tables:
        rows = [
            replace(row, rank=1 if table.noun and number < _SCREEN_ROWS else 0)
            for number, row in enumerate(table.rows)
        ]
        has_room = len(tables) == 1 and not table.noun
        yield table if has_room or table.title == _MEANS else replace(table, rows=rows)


def _run_table(run: ReportedRun) -> blocks.Table:
    rows = [
        blocks.Row(
            total.phase,
            [
                _seconds(total.duration_ns),
                NOTHING if total.share is None else percent(total.share),
                "" if total.size_bytes is None else size_text(total.size_bytes),
                f"{digits(total.bytes_per_s / _MIB)} MiB/s" if total.bytes_per_s else "",
                "" if total.waits is Waits.UNKNOWN else total.waits,
            ],
        )
        for total in run.phases
    ]
    rows.append(blocks.Row("run", [_seconds(run.run_ns), "", "", "", ""], is_strong=True))
    heads = ("time", "share", "bytes", "rate", "waits for")
    table = blocks.Table("phase", heads, rows, _title(run), drop=heads[4:])
    return table.without_empty_columns()


def _seconds(time_ns: int) -> str:
    return f"{time_ns / _S:,.2f} s"


def _overview(report: PhaseReport) -> Iterator[blocks.Table]:
    """Write the means of each pool, and a row per run."""
    if report.pools:
        present = {total.phase for pool in report.pools for total in pool.phases}
        phases = [phase for phase in PhaseName if phase in present]
        yield blocks.Table(
            "phase",
            [name(pool.pool or "no pool", _NAME_CELLS) for pool in report.pools],
            [
                blocks.Row(phase, [_mean(pool.phases, phase) for pool in report.pools])
                for phase in phases
            ],
            title=_MEANS,
            turned_corner="pool",
        ).turned_if_wide()
    heads = ("pool", "time", "own work", "longest other phase", "worker")
    rows = [
        blocks.Row(_title(run), _run_cells(run))
        for run in sorted(report.runs, key=lambda run: -run.run_ns)
    ]
    yield blocks.Table(
        "run", heads, rows, title="Runs", drop=heads[4:], shown=_RUNS_SHOWN, noun=" runs"
    )


def _mean(totals: Sequence[PhaseTotal], phase: PhaseName) -> str:
    times = [total.duration_ns for total in totals if total.phase is phase]
    return duration(times[0] / _S) if times else NOTHING


def _run_cells(run: ReportedRun) -> list[str]:
    totals = [total for total in run.phases if total.share is not None]
    others = [total for total in totals if total.phase is not PhaseName.OWN_WORK]
    longest = max(others, key=lambda total: total.duration_ns, default=None)
    return [
        name(run.pool, _NAME_CELLS),
        duration(run.run_ns / _S),
        _mean(totals, PhaseName.OWN_WORK),
        "" if longest is None else f"{longest.phase} {duration(longest.duration_ns / _S)}",
        name(run.worker, _NAME_CELLS),
    ]


def _picture(runs: Sequence[ReportedRun]) -> list[blocks.Picture]:
    """Draw a bar per run, the longest first where there are many."""
    drawn = [run for run in runs if run.run_ns]
    if len(drawn) > _RUNS_IN_FULL:
        drawn = sorted(drawn, key=lambda run: -run.run_ns)[:_BARS]
    unit_s, unit = duration_unit(max((run.run_ns for run in drawn), default=0) / _S)
    rows = [
        BarRow(
            _title(run),
            name(run.pool, _NAME_CELLS),
            duration(run.run_ns / _S),
            [
                BarPart(
                    span.duration_ns / _S / unit_s,
                    _kind(span.phase),
                    f"{capitalized(span.phase)}: {duration(span.duration_ns / _S)}",
                )
                for span in run.spans
                if not span.phase.is_before_run
            ],
        )
        for run in drawn
    ]
    present = {part.kind for row in rows for part in row.parts}
    kinds = [Waits.DISKS, Waits.NETWORK, Waits.BOTH, PhaseName.OWN_WORK, PhaseName.OTHER]
    caption = "Phases of each run one after another, by what they wait for most"
    shown_kinds = [kind for kind in kinds if kind in present]
    return [blocks.Picture(caption, "bars", (rows, shown_kinds, unit, caption))] if rows else []


def _kind(phase: PhaseName) -> str:
    """Return what a part of the bar stands for: own work, or what its phase waits for."""
    if phase is PhaseName.OWN_WORK:
        return phase
    return PhaseName.OTHER if phase.waits is Waits.UNKNOWN else phase.waits
