# SPDX-License-Identifier: MPL-2.0
"""Write the worker's script to one file that runs on any machine with Python 3.8.

The file is a zip application: `python3 FILE --help` shows its commands. Its
results name the program by the sha256 of its modules' contents, as tasks do.

Exit code: 0 written, 1 failed, 2 wrong usage.
"""

import hashlib
from pathlib import Path

from io_benchmark.commands.options import ROOT, Given, option
from io_benchmark.context import Context
from io_benchmark.errors import IoBenchmarkError
from io_benchmark.paths import current_folder, write_file
from io_benchmark.text import clean

USAGE = "-o FILE [OPTION ...]"
EXAMPLES = (
    "io-benchmark script -o io-benchmark.pyz",
    "io-benchmark script -o io-benchmark.pyz --root .",
)
MANUAL = "other-ci.md"

OPTIONS = {
    "what to write": (ROOT,),
    "output": (option("-o, --output", "FILE", "the file to write", Path, required=True),),
}


def run(given: Given, context: Context) -> int:
    from io_benchmark.graph.root import Root, build_worker_script

    application = build_worker_script(Root.find(given.get("root"), current_folder()))
    path: Path = given["output"]
    _write(path, application.data)
    context.tell(
        f"Wrote {clean(str(path))}: io-benchmark {application.version} with "
        f"{', '.join(application.workloads)}\n"
        f"sha256 of the file: {hashlib.sha256(application.data).hexdigest()}\n"
        f"sha256 in its results: {application.program_sha256}"
    )
    return 0


def _write(path: Path, data: bytes) -> None:
    """Write a file. A new one can be executed by who can read it; one that exists keeps its mode."""
    try:
        is_new = not path.exists()
        write_file(path, data)
        if is_new and path.is_file():
            mode = path.stat().st_mode
            path.chmod(mode | (mode & 0o444) >> 2)
    except OSError as error:
        raise IoBenchmarkError(
            f"--output {clean(str(path))}: {error.strerror}; name a file that can be written"
        ) from None
