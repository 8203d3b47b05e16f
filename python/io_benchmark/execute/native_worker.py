# SPDX-License-Identifier: MPL-2.0
"""What a native worker does for a task before its command: files in its folder, and a user.

The worker makes a user per task. Here root runs a task as `nobody`; any other user as itself.
"""

import os
import pwd
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from io_benchmark.errors import IoBenchmarkError
from io_benchmark_taskgraph.payloads import is_of_run_task

_USER = "nobody"
# Starts what the benchmark needs, in the folders that it needs; its exit code says whether it can.
_CAN_WORK = "import os, sys; sys.exit(not all(os.access(path, 7) for path in sys.argv[1:]))"
_MOST_S = 10  # for a Python that only looks at folders


class TaskUser(NamedTuple):
    keywords: Mapping[str, Any]  # for Popen
    remark: str  # for the log


def task_user(folders: Sequence[Path], variables: Mapping[str, str]) -> TaskUser:
    """Return the user of a task; give these folders to it, the task's own first."""
    if os.geteuid() != 0:
        return TaskUser({}, f"runs as the user {os.geteuid()}, who is not root")
    try:
        user = pwd.getpwnam(_USER)
    except KeyError:
        return TaskUser({}, f"runs as root, because there is no user {_USER}")
    keywords: dict[str, Any] = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    try:
        _give(folders, user.pw_uid, user.pw_gid)
        done = subprocess.run(
            ["python3", "-I", "-c", _CAN_WORK, *map(str, folders)],
            cwd=folders[0],
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_MOST_S,
            check=False,
            **keywords,
        )
        can_work = done.returncode == 0
    except (OSError, subprocess.SubprocessError):
        can_work = False
    if can_work:
        return TaskUser(keywords, f"runs as the user {_USER}")
    with suppress(OSError):
        # The script works in no folder of another user.
        _give(folders, os.geteuid(), os.getegid())
    places = ", ".join(map(str, folders))
    return TaskUser({}, f"runs as root, because {_USER} cannot start python3 or work in {places}")


def _give(folders: Sequence[Path], user: int, group: int) -> None:
    for folder in folders:
        os.chown(folder, user, group)


def write_mounts(payload: Mapping[str, Any], folder: Path, label: str) -> None:
    """Write the files that the definition itself has; run-task is not needed here."""
    for mount in payload.get("mounts") or ():
        if is_of_run_task(mount):
            continue
        path = PurePosixPath(str(mount.get("file")))
        content = (mount.get("content") or {}).get("raw")
        if not isinstance(content, str) or path.is_absolute() or len(path.parts) != 1:
            raise IoBenchmarkError(
                f"{label}: the mount {mount.get('file') or mount.get('directory')} is not a file "
                "of the task's folder whose text is in the definition; only such a mount can be "
                "rehearsed"
            )
        (folder / path).write_text(content, encoding="utf-8")
        (folder / path).chmod(0o644)
