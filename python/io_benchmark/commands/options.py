# SPDX-License-Identifier: MPL-2.0
"""Options that several commands have, and what the commands do with them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Collection
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from io_benchmark.analysis.inference.levels import DEFAULT_MARGIN
from io_benchmark.commands.context import Context
from io_benchmark.errors import UsageError
from io_benchmark.text import clean
from io_benchmark.writing import write_file

if TYPE_CHECKING:
    from io_benchmark.analysis.history.history_model import History
    from io_benchmark.analysis.prediction.prediction_model import Predictions
    from io_benchmark.analysis.report_model import Report
    from io_benchmark.analysis.tasks.task_model import TaskReport
    from io_benchmark.costs.worker_time import Price


def parse_job_names(text: str) -> list[str]:
    """Return the names in `-j NAME[,NAME]`."""
    names = [name for name in text.split(",") if name]
    if not names:
        raise UsageError(f"-j {clean(text)}: contains no name; try -j io-benchmark")
    return names


_ROOT = "tree with taskcluster/ (default: the checkout around this folder, else the installed copy)"


def add_root_option(group: argparse._ArgumentGroup, text: str = _ROOT) -> None:
    """Add `--root`, of a command that works on a tree with the kinds."""
    group.add_argument("--root", type=Path, metavar="DIR", help=text)


def add_output_options(
    group: argparse._ArgumentGroup,
    formats: Collection[str],
    format_text: str | None = None,
    write_text: str = "also write this format to FILE; can be given more than once",
    *,
    has_prices: bool = False,
) -> None:
    """Add `--format`, `--json` and `--write`, of a command that ends in a report, and `--prices`."""
    if has_prices:
        text = "prices of worker hours, to show costs in money"
        group.add_argument("--prices", type=_prices, default={}, metavar="FILE", help=text)
    form = group.add_mutually_exclusive_group()
    form.add_argument(
        "--format",
        choices=formats,
        default="text",
        metavar="FORMAT",
        help=format_text or f"format printed to stdout: {', '.join(formats)} (default: text)",
    )
    form.add_argument(
        "--json",
        dest="format",
        action="store_const",
        const="json",
        help="same as --format json",
    )
    group.add_argument(
        "--write",
        action="append",
        default=[],
        type=lambda text: _format_and_file(text, formats),
        metavar="FORMAT=FILE",
        help=write_text,
    )


def add_margin_option(group: argparse._ArgumentGroup) -> None:
    """Add `--margin`, of a command that ends in verdicts."""
    group.add_argument(
        "--margin",
        type=parse_percentage,
        default=DEFAULT_MARGIN,
        metavar="PERCENT",
        help=f"smaller differences count as equal (default: {100 * DEFAULT_MARGIN:g}%%)",
    )


def refuse_baseline_with_against(arguments: argparse.Namespace) -> None:
    if arguments.against and arguments.baseline is not None:
        raise UsageError(
            "--baseline cannot be combined with --against: each pool is its own baseline; omit one"
        )


def parse_percentage(text: str) -> float:
    """Parse the value of an option such as `--margin 5%`."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)%?", text)
    if match is None or not 0 < float(match[1]) < 100:
        raise argparse.ArgumentTypeError(f"{text!r} is not a percentage such as 5%")
    return float(match[1]) / 100


def whole_number(most: int) -> Callable[[str], int]:
    """Return what parses the value of an option that is a number from 1 to `most`."""

    def parse(text: str) -> int:
        if not re.fullmatch("[0-9]{1,10}", text) or not 1 <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{clean(text)!r} is not a number from 1 to {most:,}")
        return int(text)

    return parse


def parse_date(text: str) -> date:
    """Parse the value of an option such as `--since`."""
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).date()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date such as 2026-05-01") from None


def _prices(path: str) -> dict[str, Price]:
    """Read the value of `--prices`, which is prices by name."""
    from io_benchmark.costs.prices import read_prices

    return read_prices(Path(path))


def _format_and_file(text: str, formats: Collection[str]) -> tuple[str, Path]:
    """Parse the value of `--write FORMAT=FILE`."""
    form, equals, path = text.partition("=")
    if form not in formats or not equals or not path:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not FORMAT=FILE; use one of these formats: {', '.join(formats)}"
        )
    return form, Path(path)


def output_report(
    report: Report | History | TaskReport | Predictions,
    arguments: argparse.Namespace,
    context: Context,
    *,
    details: bool = False,
) -> list[str]:
    """Write the files of `--write`, then show the report on stdout; return the files' problems."""
    from io_benchmark.report.formats import output

    problems, page = [], ""
    # First of all: who reads stdout may have gone, and one file's folder says nothing of another's.
    for form, path in arguments.write:
        text = output.rendered(report, form, details=details)
        try:
            write_file(path, text.encode("utf-8", "replace"))
        except OSError as error:
            problems.append(f"--write {clean(str(path))}: {error.strerror}")
            continue
        page = clean(str(path)) if form == "html" else page
    output.show(
        report,
        arguments.format,
        context.stdout,
        context.environment,
        details=details,
        page=page,
        lines_below=len(problems) + (1 if report.unreadable else 0),
    )
    return problems
