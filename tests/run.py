# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Runs pytest twice: what may run in parallel, then the tests marked `serial`, one at a time.

Tests marked `serial` fill disks, read clocks or start containers, and would disturb the others.
Arguments are handed on to pytest. With `-m` among them there is one run, not in parallel.
"""

import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PASSED, INTERRUPTED, NOTHING_COLLECTED = 0, 2, 5
# More workers than this gain nothing here, and each one imports and generates everything again.
PARALLEL = ("--numprocesses=auto", "--maxprocesses=4", "--dist=worksteal", "-m", "not serial")
SERIAL = ("-m", "serial")


def parts(arguments: list[str]) -> list[tuple[str, ...]]:
    """The options of each of the runs."""
    if any(argument.startswith("-m") for argument in arguments):
        return [()]
    return [PARALLEL, SERIAL]


def merged(codes: list[int]) -> int:
    """One exit code for all runs; a run that found no test is none to complain of, unless all did."""
    failures = [code for code in codes if code not in (PASSED, NOTHING_COLLECTED)]
    if failures:
        return failures[0]
    return PASSED if PASSED in codes else NOTHING_COLLECTED


def run(options: tuple[str, ...], arguments: list[str]) -> int:
    """pytest's exit code; one that a signal ended counts as interrupted."""
    command = [sys.executable, "-m", "pytest", *options, *arguments]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    return code if code >= 0 else INTERRUPTED


def main(arguments: list[str]) -> int:
    """Run the parts in turn, and stop where one was interrupted."""
    # pytest gets the terminal's Ctrl-C itself and says where it was; this one only has to wait.
    signal.signal(signal.SIGINT, lambda _number, _frame: None)
    codes: list[int] = []
    for options in parts(arguments):
        codes.append(run(options, arguments))
        if codes[-1] == INTERRUPTED:
            break
    return merged(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
