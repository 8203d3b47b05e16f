# SPDX-License-Identifier: MPL-2.0
"""End a command with its report: the files, then stdout, then messages about what is missing."""

from typing import TYPE_CHECKING

from io_benchmark.commands.options.common import DETAILS, EXPECT, FORMAT, JSON, PARTIAL, WRITE
from io_benchmark.commands.options.option import Given
from io_benchmark.context import MESSAGE_LENGTH, Context
from io_benchmark.number_text import number_of
from io_benchmark.paths import write_file
from io_benchmark.report.content import text_of
from io_benchmark.report.formats import ALL_FORMATS, Layout, rendered, show
from io_benchmark.text import clean

if TYPE_CHECKING:
    from io_benchmark.analysis.gate.gate_model import GateReport
    from io_benchmark.analysis.model.report import Report
    from io_benchmark.report.formats import AnyReport

EXIT_FAILED = 1  # of every command
EXIT_UNDECIDED = 3  # or an expectation is not met, or a gate not passed


def print_report(
    report: "AnyReport",
    given: Given,
    context: Context,
    nothing: str = "",
    *,
    unreadable: str = "error",
    whole: str = "",
) -> int:
    """Write and print a report, tell what is missing, and return the exit code.

    `nothing` says why the report is empty. `unreadable` begins the lines about results that could
    not be read, which are a failure only as errors. `whole` is the command that shows everything,
    for a command without --details.
    """
    printed = "json" if given[JSON] else given[FORMAT]
    layout = Layout(given[DETAILS])
    problems = []
    page = ""
    # Before stdout, whose reader may have ended. If one file cannot be written, others may be.
    for form, path in given[WRITE]:
        content = rendered(report, form, layout)
        try:
            write_file(path, content.encode("utf-8", "replace"))
        except OSError as error:
            problems.append(f"--write {clean(str(path))}: {error.strerror}")
            continue
        if form == "html":
            page = clean(str(path))
    # The first screen has room for what comes below it: one line is about all unreadable results.
    lines_below = len(problems)
    if report.unreadable:
        lines_below += 1
    layout = layout._replace(page=page, whole=whole, lines_below=lines_below)
    show(report, printed, context.stdout, context.environment, layout)
    # Only counted where the report on the same terminal names each.
    on_one_terminal = context.stdout.isatty() and context.stderr.isatty()
    lines = report.unreadable
    if lines and on_one_terminal and ALL_FORMATS[printed].lists_unreadable:
        count = number_of(len(lines), "result")
        lines = (f"{count} could not be read; see the report for the reasons",)
    for line in lines:
        context.tell(f"{unreadable}: {line}")
    if nothing:
        problems.append(nothing)
    context.tell_errors(problems)
    return EXIT_FAILED if problems or (lines and unreadable == "error") else 0


def print_comparison(report: "Report", given: Given, context: Context, *, whole: str = "") -> int:
    """Print a comparison of pools, judge what is expected of it, and return the exit code."""
    is_compared = any(subject.comparisons for subject in report.subjects)
    nothing = "" if is_compared else "nothing could be compared; see the report for the reasons"
    unreadable = "missing" if given[PARTIAL] else "error"
    exit_code = print_report(report, given, context, nothing, unreadable=unreadable, whole=whole)
    outcomes = [expectation.judge(report) for expectation in given[EXPECT]]
    for outcome in outcomes:
        context.tell(clean(text_of(outcome.message), MESSAGE_LENGTH))
    return exit_code if all(outcome.met for outcome in outcomes) else EXIT_UNDECIDED


def print_gates(report: "GateReport", given: Given, context: Context, *, whole: str = "") -> int:
    """Print the answers of gates, and return the exit code: 0 only if all have passed.

    A result that could not be read belongs to a pool of no gate, where all have passed.
    """
    from io_benchmark.analysis.gate.gate_model import Answer

    exit_code = print_report(report, given, context, unreadable="missing", whole=whole)
    has_passed = all(gate.answer is Answer.PASSED for gate in report.gates)
    return exit_code if has_passed else EXIT_UNDECIDED
