# SPDX-License-Identifier: MPL-2.0
"""Write the worker's script to one file that runs on any machine with Python 3.8.

The file is a zip application: `python3 FILE --help` shows its commands. Each
task and each release has the same bytes. A result names them by their sha256.

Exit code: 0 written, 1 failed, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from io_benchmark.commands.context import Context
from io_benchmark.commands.options import add_root_option
from io_benchmark.errors import IoBenchmarkError
from io_benchmark.paths import current_folder
from io_benchmark.text import clean
from io_benchmark.writing import write_file

USAGE = "-o FILE [OPTION ...]"
EXAMPLES = (
    "io-benchmark script -o io-benchmark.pyz",
    "io-benchmark script -o io-benchmark.pyz --root .",
)
MANUAL = "other-ci.md"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to write")
    add_root_option(group)
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="the file to write"
    )


def run(arguments: argparse.Namespace, context: Context) -> int:
    from io_benchmark.graph.root import Root
    from io_benchmark.graph.worker_script import build_worker_script

    application = build_worker_script(Root.find(arguments.root, current_folder()))
    _write(arguments.output, application.data)
    context.tell(
        f"Wrote {clean(str(arguments.output))}: io-benchmark {application.version} with "
        f"{', '.join(application.workloads)}\nsha256 {application.sha256}"
    )
    return 0


def _write(path: Path, data: bytes) -> None:
    """A new file is executable as far as the umask allows; one that exists keeps its mode."""
    try:
        is_new = not path.exists()
        write_file(path, data)
        if is_new and path.is_file():
            umask = os.umask(0o077)
            os.umask(umask)
            path.chmod(0o777 & ~umask)
    except OSError as error:
        raise IoBenchmarkError(
            f"--output {clean(str(path))}: {error.strerror}; name a file that can be written"
        ) from None
