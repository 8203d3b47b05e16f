# SPDX-License-Identifier: MPL-2.0
"""Which processes are left of a group: what a run should not leave behind."""

from pathlib import Path


def processes_of_group(group: int) -> list[str]:
    """Return the line of /proc/PID/stat of each process of the group."""
    members = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        if int(text.rpartition(")")[2].split()[2]) == group:
            members.append(text)
    return members
