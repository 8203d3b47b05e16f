# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Small files of /proc and /sys, read whole; None where one is absent or refused."""

import os
import subprocess

# The file system that is looked at; a recorded tree stands here in tests.
ROOT = ""


def read_text(path):
    try:
        with open(ROOT + path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return None


def read_int(path):
    text = read_text(path)
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def list_names(path):
    try:
        return sorted(os.listdir(ROOT + path))
    except OSError:
        return []


def exists(path):
    return os.path.exists(ROOT + path)


def is_folder(path):
    return os.path.isdir(ROOT + path)


def target_of(path):
    """Where a path leads once every link is followed."""
    return os.path.realpath(ROOT + path)


def first_line_of(command, timeout_s=10):
    """What a tool says of itself, or None where it is absent or does not answer."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=timeout_s,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return lines[0].strip()[:200] if lines else None
