# SPDX-License-Identifier: MPL-2.0
"""The process that undoes what a storage lab has made, in reverse, once its standard input ends.

That is when the lab is closed, and when the test that had it is killed. A step that was announced and
never taken is nothing to undo. What cannot be undone is printed, and the exit code is 1.
"""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

BUSY_FOR_S = 20.0
STOPS_WITHIN_S = 30.0


def call(*command: str) -> str:
    """What it complains of; nothing where it did it."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"{' '.join(command)}: {done.stderr.strip()}"


def is_mounted(point: str) -> bool:
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    escaped = point.replace("\\", "\\134").replace(" ", "\\040")
    return any(line.split()[4] == escaped for line in mounts.splitlines())


def unmount(point: str) -> str:
    """Whoever still works there is given a moment to go."""
    until = time.monotonic() + BUSY_FOR_S
    while is_mounted(point):
        complaint = call("umount", point)
        if complaint and time.monotonic() > until:
            return complaint
        if complaint:
            time.sleep(0.2)
    return ""


def detach(image: str) -> str:
    found = subprocess.run(
        ["losetup", "--associated", image, "--noheadings", "--output", "NAME"],
        capture_output=True,
        text=True,
        check=False,
    )
    return "; ".join(filter(None, (call("losetup", "-d", name) for name in found.stdout.split())))


def write(path: str, text: str) -> str:
    try:
        Path(path).write_text(text, encoding="ascii")
    except FileNotFoundError:
        return ""  # gone with the device that it was about
    except OSError as error:
        return f"{path}: {error.strerror}"
    return ""


def stop(process: int, started: str) -> str:
    """A program that was started, if it is still that one: it cleans up by itself."""
    until = time.monotonic() + STOPS_WITHIN_S
    signalled = False
    while start_of(process) == started:
        if not signalled:
            os.kill(process, signal.SIGTERM)
            signalled = True
        if time.monotonic() > until:
            return f"process {process} does not stop"
        time.sleep(0.1)
    return ""


def start_of(process: int) -> str:
    """When it was started, in the kernel's ticks; nothing where it has ended."""
    try:
        fields = (
            Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        )
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def remove(path: str) -> str:
    """A cgroup is busy for as long as a process of it ends."""
    until = time.monotonic() + BUSY_FOR_S
    while True:
        try:
            Path(path).rmdir()
        except FileNotFoundError:
            return ""
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > until:
                return f"{path}: {error.strerror}"
            time.sleep(0.1)
        else:
            return ""


def undo(step: dict[str, Any]) -> str:
    kind = step.pop("kind")
    if kind == "mount":
        return unmount(step["point"])
    if kind == "loop":
        return detach(step["image"])
    if kind == "write":
        return write(step["path"], step["text"])
    if kind == "process":
        return stop(step["process"], step["started"])
    return remove(step["path"])


def main() -> int:
    # Ctrl-C ends the test, which ends this by closing the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    steps = []
    for line in sys.stdin:
        steps.append(json.loads(line))
        print("known", flush=True)
    complaints = [complaint for step in reversed(steps) if (complaint := undo(step))]
    try:
        for complaint in complaints:
            print(complaint, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
