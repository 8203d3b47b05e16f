# SPDX-License-Identifier: MPL-2.0
"""End a command with its report: the files, then stdout, then messages about what is missing."""

from typing import TYPE_CHECKING

from io_benchmark.commands.options import Given
from io_benchmark.context import MESSAGE_LENGTH, Context
from io_benchmark.number_text import number_of
from io_benchmark.paths import write_file
from io_benchmark.report.content import text_of
from io_benchmark.report.formats import FORMATS, Layout, rendered, show
from io_benchmark.text import clean

if TYPE_CHECKING:
    from io_benchmark.analysis.report_model import Report
    from io_benchmark.report.formats import AnyReport

EXIT_FAILED = 1  # of every command
EXIT_EXPECTATION = 3


def print_report(
    report: "AnyReport",
    given: Given,
    context: Context,
    nothing: str = "",
    *,
    unreadable: str = "error",
) -> int:
    """Write and print a report, tell what is missing, and return the exit code.

    `nothing` says why the report is empty. `unreadable` begins the lines about results that could not
    be read; it is a failure only where these are errors.
    """
    printed = "json" if "json" in given else given.get("format", "text")
    layout = Layout("details" in given)
    problems, page = [], ""
    # Before stdout, whose reader may have ended. If one file cannot be written, others may still be.
    for form, path in given.get("write", ()):
        content = rendered(report, form, layout)
        try:
            write_file(path, content.encode("utf-8", "replace"))
        except OSError as error:
            problems.append(f"--write {clean(str(path))}: {error.strerror}")
            continue
        page = clean(str(path)) if form == "html" else page
    # The first screen has room for what comes below it.
    lines_below = len(problems) + (1 if report.unreadable else 0)
    layout = layout._replace(page=page, lines_below=lines_below)
    show(report, printed, context.stdout, context.environment, layout)
    _tell_unreadable(report.unreadable, unreadable, printed, context)
    problems += [nothing] if nothing else []
    context.tell_errors(problems)
    is_complete = not report.unreadable or unreadable != "error"
    return 0 if is_complete and not problems else EXIT_FAILED


def print_comparison(report: "Report", given: Given, context: Context) -> int:
    """Print a comparison of pools, judge what is expected of it, and return the exit code."""
    nothing = "nothing could be compared; see the report for the reasons"
    if any(subject.comparisons for subject in report.subjects):
        nothing = ""
    unreadable = "missing" if "partial" in given else "error"
    exit_code = print_report(report, given, context, nothing, unreadable=unreadable)
    outcomes = [expectation.judge(report) for expectation in given.get("expect", ())]
    for outcome in outcomes:
        context.tell(clean(text_of(outcome.message), MESSAGE_LENGTH))
    return exit_code if all(outcome.met for outcome in outcomes) else EXIT_EXPECTATION


def _tell_unreadable(lines: tuple[str, ...], prefix: str, form: str, context: Context) -> None:
    """Name the results that could not be read.

    Only count them where the report on the same terminal names each.
    """
    on_one_terminal = context.stdout.isatty() and context.stderr.isatty()
    if not (on_one_terminal and FORMATS[form].lists_unreadable):
        for line in lines:
            context.tell(f"{prefix}: {line}")
    elif lines:
        results = number_of(len(lines), "result")
        context.tell(f"{prefix}: {results} could not be read; see the report for the reasons")
