# SPDX-License-Identifier: MPL-2.0
"""Run the linters, and pytest in three parts: parallel tests, containers, and `serial` tests.

All run at the same time. Tests marked `container` wait for downloads most of the time. Tests marked
`serial` wait for slow disks most of the time, and measure them. Each of these two parts runs its
tests one at a time. What they and the linters print is shown after the output of the parallel part.
Serial tests get the CPUs first, by a cgroup. Where no cgroup can be made, they run after the
others. Arguments are handed on to pytest; then no linters run. With `-m` among them there is one
run, not in parallel. `--line FILE:NUMBER` runs the tests that run this line.
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parent.parent
PASSED, INTERRUPTED, NOTHING_COLLECTED = 0, 2, 5
CPU_GROUPS = Path("/sys/fs/cgroup/cpu")
# The highest that the kernel takes: 256 times the share of another session.
SHARES = 262_144
# One more than CPUs, because many tests wait; more than this gain nothing, and each one imports
# and collects everything again.
WORKERS = min(len(os.sched_getaffinity(0)) + 1, 4)
PARALLEL = (
    f"--numprocesses={WORKERS}",
    "--dist=worksteal",
    "-m",
    "not serial and not container and not windows",
)
CONTAINER, SERIAL = "container", "serial"  # marks
LINTERS = ROOT / "tests" / "lint.py"
LINE_MAP = ROOT / "tests" / "lines" / "line_map.py"


def files_with(mark: str) -> list[str]:
    """Return the test files that use a mark, so that a part need not collect all others."""
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    return [
        str(path) for path in tests if f"pytest.mark.{mark}" in path.read_text(encoding="utf-8")
    ]


def marked(mark: str, arguments: list[str]) -> tuple[tuple[str, str], list[str]]:
    """Return the options and arguments of a part.

    Without arguments it leaves out what takes long.
    """
    if arguments:
        return ("-m", f"{mark} and not windows"), arguments
    # `tox -e lab` and `tox -e windows` run these.
    return ("-m", f"{mark} and not lab and not windows"), files_with(mark)


def merged(codes: list[int]) -> int:
    """One exit code for all runs.

    A run that found no test is none to complain of, unless all did.
    """
    failures = [code for code in codes if code not in (PASSED, NOTHING_COLLECTED)]
    if failures:
        return failures[0]
    return PASSED if PASSED in codes else NOTHING_COLLECTED


def start(
    options: tuple[str, ...], arguments: list[str], group: Path | None = None, **how: Any
) -> subprocess.Popen[bytes]:
    """Start pytest; in this cgroup, if there is one."""
    command = [sys.executable, "-m", "pytest", *options, *arguments]
    if group is not None:
        # The shell's own number, so that nothing is ever started outside.
        # Mounts of its own: a container that starts meanwhile would keep a copy of the lab's busy.
        # Where the root is no mount point, as after chroot, nobody can have them.
        private = "unshare --mount --propagation private"
        joining = (
            f'echo $$ > "$0" || exit; {private} true 2>/dev/null && exec {private} "$@"; exec "$@"'
        )
        command = ["sh", "-c", joining, str(group / "cgroup.procs"), *command]
    return subprocess.Popen(command, cwd=ROOT, **how)


def start_linters(**how: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, str(LINTERS)], cwd=ROOT, **how)


def code_of(process: subprocess.Popen[bytes]) -> int:
    """pytest's exit code, when it has ended; one that a signal ended counts as interrupted."""
    code = process.wait()
    return code if code >= 0 else INTERRUPTED


@contextmanager
def first_at_the_cpus() -> Iterator[Path | None]:
    """Make a cgroup whose processes wait for no other's CPU time, where this is possible."""
    group = CPU_GROUPS / f"io-benchmark-tests-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        yield None
        return
    try:
        (group / "cpu.shares").write_text(str(SHARES))
        yield group
    finally:
        # What a test left running keeps it.
        with suppress(OSError):
            group.rmdir()


class Part:
    """A process whose output is kept until it is shown."""

    def __init__(self, output: IO[bytes], process: subprocess.Popen[bytes]) -> None:
        self._output = output
        self._process = process

    def interrupt(self) -> None:
        self._process.send_signal(signal.SIGINT)

    def finish(self) -> int:
        """Wait for its end, show what it printed if it ran a test, and return its exit code."""
        code = code_of(self._process)
        self._output.seek(0)
        if code != NOTHING_COLLECTED:
            print(self._output.read().decode(errors="replace"), end="", flush=True)
        return code


def run_parts(arguments: list[str]) -> list[int]:
    """Return each part's exit code."""
    with ExitStack() as stack:
        group = stack.enter_context(first_at_the_cpus())

        def start_quietly(begin: Callable[..., subprocess.Popen[bytes]]) -> Part:
            output = stack.enter_context(tempfile.TemporaryFile())
            # In a session of its own, so that Ctrl-C reaches it once: from here.
            return Part(output, begin(stdout=output, stderr=output, start_new_session=True))

        def start_tests(mark: str, group: Path | None = None) -> Part:
            return start_quietly(partial(start, *marked(mark, arguments), group))

        parts = [start_tests(CONTAINER)]
        if group is not None:
            parts.append(start_tests(SERIAL, group))
        if not arguments:
            parts.append(start_quietly(start_linters))
        codes = [code_of(start(PARALLEL, arguments))]
        if codes == [INTERRUPTED]:
            for part in parts:
                part.interrupt()
        codes += [part.finish() for part in parts]
        if group is None and INTERRUPTED not in codes:
            codes.append(code_of(start(*marked(SERIAL, arguments))))
    return codes


def main(arguments: list[str]) -> int:
    """Run the parts."""
    # pytest gets the terminal's Ctrl-C itself and says where it was; this one only has to wait.
    signal.signal(signal.SIGINT, lambda _number, _frame: None)
    if arguments[:1] == ["--line"]:
        return code_of(subprocess.Popen([sys.executable, str(LINE_MAP), *arguments[1:]], cwd=ROOT))
    if any(argument.startswith("-m") for argument in arguments):
        return code_of(start((), arguments))
    return merged(run_parts(arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
