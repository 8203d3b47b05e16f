# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Options, and the arguments behind them, that several commands have."""

import argparse
from collections.abc import Collection
from pathlib import Path

from io_benchmark.errors import UsageError
from io_benchmark.text import clean
from io_benchmark.writing import write_file


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
) -> None:
    """Add `--format`, `--json` and `--write`, of a command that ends in a report."""
    form = group.add_mutually_exclusive_group()
    form.add_argument(
        "--format",
        choices=formats,
        default="text",
        metavar="FORMAT",
        help=format_text or f"format printed to stdout: {', '.join(formats)} (default: text)",
    )
    form.add_argument(
        "--json", dest="format", action="store_const", const="json", help="same as --format json"
    )
    group.add_argument(
        "--write",
        action="append",
        default=[],
        type=lambda text: _format_and_file(text, formats),
        metavar="FORMAT=FILE",
        help=write_text,
    )


def _format_and_file(text: str, formats: Collection[str]) -> tuple[str, Path]:
    """Parse the value of `--write FORMAT=FILE`."""
    form, equals, path = text.partition("=")
    if form not in formats or not equals or not path:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not FORMAT=FILE; use one of these formats: {', '.join(formats)}"
        )
    return form, Path(path)


def write_report_file(path: Path, text: str) -> str | None:
    """Write the file of `--write`; return the problem, if any."""
    try:
        write_file(path, text.encode("utf-8", "replace"))
    except OSError as error:
        return f"--write {clean(str(path))}: {error.strerror}"
    return None
