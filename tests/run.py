# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Runs pytest in parts: what may run in parallel, beside it the containers, then what is `serial`.

Tests marked `serial` fill disks or read clocks, and would disturb the others; they run one at a time
and alone. Those marked `container` wait for downloads most of the time: they run one at a time while
the parallel part does, and what they say is shown after it.
Arguments are handed on to pytest. With `-m` among them there is one run, not in parallel.
"""

import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PASSED, INTERRUPTED, NOTHING_COLLECTED = 0, 2, 5
PLAIN: tuple[str, ...] = ()
# More workers than this gain nothing here, and each one imports and generates everything again.
PARALLEL = (
    *("--numprocesses=auto", "--maxprocesses=4", "--dist=worksteal"),
    *("-m", "not serial and not container"),
)
CONTAINER = ("-m", "container")
SERIAL = ("-m", "serial")


def merged(codes: list[int]) -> int:
    """One exit code for all runs; a run that found no test is none to complain of, unless all did."""
    failures = [code for code in codes if code not in (PASSED, NOTHING_COLLECTED)]
    if failures:
        return failures[0]
    return PASSED if PASSED in codes else NOTHING_COLLECTED


def start(options: tuple[str, ...], arguments: list[str], **how: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "pytest", *options, *arguments]
    return subprocess.Popen(command, cwd=ROOT, **how)


def code_of(process: subprocess.Popen[bytes]) -> int:
    """pytest's exit code, when it has ended; one that a signal ended counts as interrupted."""
    code = process.wait()
    return code if code >= 0 else INTERRUPTED


def parallel_and_containers(arguments: list[str]) -> list[int]:
    """Both codes; what the containers' part says is shown when it has ended, if it ran a test."""
    with tempfile.TemporaryFile() as said:
        # In a session of its own, so that Ctrl-C reaches it once: from here.
        apart = {"stdout": said, "stderr": said, "start_new_session": True}
        containers = start(CONTAINER, arguments, **apart)
        codes = [code_of(start(PARALLEL, arguments))]
        if codes == [INTERRUPTED]:
            containers.send_signal(signal.SIGINT)
        codes.append(code_of(containers))
        said.seek(0)
        if codes[-1] != NOTHING_COLLECTED:
            print(said.read().decode(errors="replace"), end="", flush=True)
    return codes


def main(arguments: list[str]) -> int:
    """Run the parts, and stop where one was interrupted."""
    # pytest gets the terminal's Ctrl-C itself and says where it was; this one only has to wait.
    signal.signal(signal.SIGINT, lambda _number, _frame: None)
    if any(argument.startswith("-m") for argument in arguments):
        return code_of(start(PLAIN, arguments))
    codes = parallel_and_containers(arguments)
    if INTERRUPTED not in codes:
        codes.append(code_of(start(SERIAL, arguments)))
    return merged(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
