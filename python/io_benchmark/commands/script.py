# SPDX-License-Identifier: MPL-2.0
"""Write the worker's script to one file that runs on any machine with Python 3.8.

The file is a zip application: `python3 FILE --help` shows its commands. Its
results name the program by the sha256 of its modules' contents, as tasks do.
With --report it is an archive of the program that compares, for a release;
with --archive, one of the script, as tasks in Firefox's tree fetch it.
Needs io-benchmark[all].

Exit code: 0 written, 1 failed, 2 wrong usage.
"""

import hashlib
from pathlib import Path

from io_benchmark import __version__
from io_benchmark.commands.options.common import ROOT
from io_benchmark.commands.options.option import Given, flag, required
from io_benchmark.context import Context
from io_benchmark.errors import UsageError
from io_benchmark.paths import explain_refusal, write_file
from io_benchmark.text import clean

USAGE = "-o FILE [OPTION ...]"
EXAMPLES = (
    "io-benchmark script -o io-benchmark.pyz",
    "io-benchmark script -o io-benchmark.pyz --root .",
)
MANUAL = "other-ci.md"
REPORT = flag("--report", "write the program that compares, which the report in Firefox fetches")
ARCHIVE = flag("--archive", "put the file into an archive, which tasks in Firefox fetch")
OUTPUT = required("-o, --output", "FILE", "the file to write; - is stdout", str)
OPTIONS = {"what to write": (ROOT, ARCHIVE, REPORT), "output": (OUTPUT,)}


def run(given: Given, context: Context) -> int:
    from io_benchmark.adopt.firefox_release import report_program, worker_archive
    from io_benchmark.graph.root import Root

    if given[REPORT] and given[ARCHIVE]:
        raise UsageError("--archive cannot be combined with --report, which is an archive")
    if given[REPORT]:
        data, lines = report_program(), [f"io-benchmark {__version__}, which compares"]
    else:
        with Root.find(given[ROOT]).modules() as module:
            program = module("worker_program").WorkerProgram.read()
        data = worker_archive(program.file()) if given[ARCHIVE] else program.file()
        lines = [
            f"io-benchmark {program.version} with {', '.join(program.workload_names())}",
            f"sha256 in its results: {program.sha256}",
        ]
    name = given[OUTPUT]
    if name == "-":
        context.write_bytes(data, "--output -")
    else:
        with explain_refusal(f"--output {clean(name)}", "name a file that can be written"):
            write_file(Path(name), data)
    lines.insert(1, f"sha256 of the file: {hashlib.sha256(data).hexdigest()}")
    target = "the file to stdout" if name == "-" else clean(name)
    context.tell(f"Wrote {target}: " + "\n".join(lines))
    return 0
