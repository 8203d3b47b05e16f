# SPDX-License-Identifier: MPL-2.0
"""The two parts of a pool's command: what bash runs, and the program that it unpacks."""

import base64
import bz2
import io
import zipfile
from collections.abc import Sequence


def shell_text(command: Sequence[str]) -> str:
    """What people read of a task's command, with or without run-task before it."""
    return command[command.index("-ec") + 1]


def application(command: Sequence[str]) -> bytes:
    """The worker's script as the task unpacks it."""
    (encoded,) = command[command.index("-ec") + 3 :]
    return bz2.decompress(base64.b85decode(encoded))


def modules(command: Sequence[str]) -> dict[str, bytes]:
    """The script's modules by path, as the task carries them."""
    with zipfile.ZipFile(io.BytesIO(application(command))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
