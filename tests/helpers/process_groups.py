# SPDX-License-Identifier: MPL-2.0
"""Which processes are left of a run: what it should not leave behind."""

import time
from pathlib import Path


def processes_of(session: int, workspace: Path) -> list[str]:
    """Return those of the session, or with the workspace in their command, that have not ended."""
    running = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
            command = (folder / "cmdline").read_bytes()
        except (OSError, UnicodeDecodeError):
            continue
        fields = stat.rpartition(")")[2].split()
        is_member = int(fields[3]) == session or bytes(workspace) in command
        if is_member and fields[0] != "Z":
            running.append(stat)
    return running


def assert_gone(session: int, workspace: Path) -> None:
    """Wait until no process of the session is left: one that was killed may take a moment to go."""
    deadline_s = time.monotonic() + 60
    while processes_of(session, workspace) and time.monotonic() < deadline_s:
        time.sleep(0.02)
    assert processes_of(session, workspace) == []
