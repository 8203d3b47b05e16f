# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What several commands do in the same words."""

import argparse
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from io_benchmark.errors import UsageError
from io_benchmark.report.formats import FORMATS
from io_benchmark.sources.text import one_line
from io_benchmark.writing import write_file

TELL_LENGTH = 4000  # some list what there is


def tell(text: str) -> None:
    """Progress and remarks go to stderr: stdout is for what a program may read."""
    # Names in it come from anywhere, and must not speak to the terminal.
    lines = [one_line(line, TELL_LENGTH) for line in text.split("\n")]
    # In one piece: print writes the line's end apart, and a reader may come between.
    sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.flush()


def tell_unread(lines: Sequence[str], prefix: str, form: str) -> None:
    """What could not be read; only how many where the report on the same terminal names each."""
    on_one_terminal = sys.stdout.isatty() and sys.stderr.isatty()
    if not (on_one_terminal and FORMATS[form].lists_unreadable):
        for line in lines:
            tell(f"{prefix}: {line}")
    elif lines:
        results = "1 result" if len(lines) == 1 else f"{len(lines)} results"
        tell(f"{prefix}: {results} could not be read; the report says why")


def names_of_jobs(text: str) -> list[str]:
    """What `-j NAME[,NAME]` names."""
    names = [name for name in text.split(",") if name]
    if not names:
        raise UsageError("-j: no name is given; try -j io-benchmark")
    return names


def add_output_options(parser: argparse.ArgumentParser, formats: Collection[str]) -> None:
    """`--format`, `--json` and `--write`, of a command that ends in a report."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=formats, default="text", help="what stdout gets")
    form.add_argument(
        "--json", dest="format", action="store_const", const="json", help="as --format json"
    )
    parser.add_argument(
        "--write",
        action="append",
        default=[],
        type=lambda text: _format_and_file(text, formats),
        metavar="FORMAT=FILE",
        help="write this format to a file as well; may repeat",
    )


def _format_and_file(text: str, formats: Collection[str]) -> tuple[str, Path]:
    """What `--write FORMAT=FILE` names."""
    form, equals, path = text.partition("=")
    if form not in formats or not equals or not path:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not FORMAT=FILE with a format of {', '.join(formats)}"
        )
    return form, Path(path)


def write_whole(path: Path, text: str) -> str | None:
    """What `--write` asks for; what was wrong, if anything."""
    try:
        write_file(path, text.encode("utf-8", "replace"))
    except OSError as error:
        return f"--write {one_line(str(path))}: {error.strerror}"
    return None
