# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The report task's shell command: `io-benchmark compare`, as people call it.

IO_BENCHMARK_REPORT_OF, IO_BENCHMARK_REPORT_PYTHON and IO_BENCHMARK_ARTIFACTS are for a rehearsal:
on a worker they are not set.
"""

import shlex

from io_benchmark_taskgraph.report_stanza import ReportSettings
from io_benchmark_taskgraph.stanza import ARTIFACTS_PATH

PYTHON = "/opt/io-benchmark/bin/python3"  # in the image io-benchmark-report
FOLDER = "io-benchmark"
# What is written, by the format's name, below the artifacts.
FILES = {
    "html": f"{FOLDER}/report.html",
    "markdown": f"{FOLDER}/report.md",
    "json": f"{FOLDER}/report.json",
    "perfherder": "perfherder-data-io-benchmark-comparison.json",
}


def build(settings: ReportSettings) -> str:
    """Return the whole command, for `bash -c`."""
    quote = shlex.quote
    options = [f"--wait {settings.wait_minutes} --partial"]
    if settings.baseline is not None:
        options.append(f"--baseline {quote(settings.baseline)}")
    if settings.margin is not None:
        options.append(f"--margin {quote(settings.margin)}")
    # With an equals sign, because a value may begin with a hyphen.
    options += [f"--expect={quote(text)}" for text in settings.expectations]
    options += [f'--write {form}="$artifacts/{path}"' for form, path in FILES.items()]
    start = [
        f'exec "${{IO_BENCHMARK_REPORT_PYTHON:-{PYTHON}}}" -u -m io_benchmark.cli compare',
        '"${IO_BENCHMARK_REPORT_OF:-group:$TASK_GROUP_ID}"',
    ]
    lines = [
        "set -e",
        f'artifacts="${{IO_BENCHMARK_ARTIFACTS:-{ARTIFACTS_PATH}}}"',
        f'mkdir -p "$artifacts/{FOLDER}"',
        " \\\n  ".join([*start, *options]),
    ]
    return "\n".join(lines) + "\n"
