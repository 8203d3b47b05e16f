# SPDX-License-Identifier: MPL-2.0
"""A task's payload, as docker and native workers take it. Anybody may have written it.

A docker image has one command, a list of words. A native worker of Linux has a list of such
commands, that of Windows a list of lines. Standard library only.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

RUN_TASK = "run-task"


def commands_of(payload: Mapping[str, Any]) -> list[list[Any]]:
    """Return the commands, each a list of words: texts, or references to tasks."""
    command = payload.get("command")
    parts = command if isinstance(command, list) else []
    if any(isinstance(part, list) for part in parts):
        return [part if isinstance(part, list) else [part] for part in parts]
    return [parts] if parts else []


def text_of(payload: Mapping[str, Any]) -> str:
    """Return the words of all commands, with spaces between."""
    words = (word for command in commands_of(payload) for word in command)
    return " ".join(word for word in words if isinstance(word, str))


def after_run_task(payload: Mapping[str, Any]) -> list[Any] | None:
    """Return the command that run-task runs; None for other commands.

    A native worker makes run-task executable before.
    """
    *before, command = commands_of(payload) or [[]]
    is_made_executable = before in ([], [["chmod", "+x", RUN_TASK]])
    if not is_made_executable or "--" not in command or not _is_run_task(command[0]):
        return None
    return command[command.index("--") + 1 :]


def line_of_windows(payload: Mapping[str, Any]) -> str | None:
    """Return the line that run-task runs on a Windows worker; None for any other task."""
    command = payload.get("command")
    if payload.get("image") or not isinstance(command, list) or len(command) != 1:
        return None
    before, dashes, line = str(command[0]).partition(" -- ")
    return line if dashes and RUN_TASK in before.split() else None


def is_of_run_task(mount: Mapping[str, Any]) -> bool:
    """Return whether the mount of a native worker's task is run-task."""
    return posixpath.normpath(str(mount.get("file"))) == RUN_TASK


def _is_run_task(word: Any) -> bool:
    return isinstance(word, str) and posixpath.basename(word).startswith(RUN_TASK)
