# SPDX-License-Identifier: MPL-2.0
"""Write the worker's script to one file that runs on any machine with Python 3.8.

The file is a zip application: `python3 FILE --help` shows its commands. Its
results name the program by the sha256 of its modules' contents, as tasks do.
With --report it is an archive of the program that compares, for a release.
Needs io-benchmark[all].

Exit code: 0 written, 1 failed, 2 wrong usage.
"""

import hashlib
from pathlib import Path

from io_benchmark import __version__
from io_benchmark.commands.options.common import ROOT
from io_benchmark.commands.options.option import Given, flag, required
from io_benchmark.context import Context
from io_benchmark.paths import explain_refusal, write_file
from io_benchmark.text import clean

USAGE = "-o FILE [OPTION ...]"
EXAMPLES = (
    "io-benchmark script -o io-benchmark.pyz",
    "io-benchmark script -o io-benchmark.pyz --root .",
)
MANUAL = "other-ci.md"
REPORT = flag("--report", "write the program that compares, which the report in Firefox fetches")
OUTPUT = required("-o, --output", "FILE", "the file to write; - is stdout", str)
OPTIONS = {"what to write": (ROOT, REPORT), "output": (OUTPUT,)}


def run(given: Given, context: Context) -> int:
    from io_benchmark.adopt.firefox_kind import report_program
    from io_benchmark.graph.root import Root

    if given[REPORT]:
        data, lines = report_program(), [f"io-benchmark {__version__}, which compares"]
    else:
        with Root.find(given[ROOT]).modules() as module:
            program = module("worker_program").WorkerProgram.read()
        data = program.file()
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
