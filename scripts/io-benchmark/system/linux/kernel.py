# SPDX-License-Identifier: MPL-2.0
"""What the kernel shows in /proc and /sys: small files, read whole."""

import os
import re

# The root of the file system to read; tests put a recorded tree here.
ROOT = ""


def read_text(path):
    try:
        with open(ROOT + path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return None


def read_lines(path):
    return (read_text(path) or "").splitlines()


def read_int(path):
    try:
        return int(read_text(path) or "")
    except ValueError:
        return None


def first_match(pattern, path):
    match = re.search(pattern, read_text(path) or "", re.MULTILINE)
    return match.group(1).strip() if match else None


def first_int(pattern, path):
    number = first_match(pattern, path)
    return None if number is None else int(number)


def list_names(path):
    try:
        return sorted(os.listdir(ROOT + path))
    except OSError:
        return []


def exists(path):
    return os.path.exists(ROOT + path)


def is_folder(path):
    return os.path.isdir(ROOT + path)
