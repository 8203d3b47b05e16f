# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What several commands do in the same words."""

import argparse
from collections.abc import Collection
from pathlib import Path

from io_benchmark.errors import UsageError
from io_benchmark.text import clean
from io_benchmark.writing import write_file


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
        return f"--write {clean(str(path))}: {error.strerror}"
    return None
