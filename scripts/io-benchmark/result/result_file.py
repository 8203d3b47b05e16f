# SPDX-License-Identifier: MPL-2.0
"""The result file: one JSON document that grows by rename and is valid at every moment.

There is no fsync, because it would flush the disk that is being measured. Only a crash of the machine can
leave a truncated file, because a rename happens completely or not at all.
"""

import fcntl
import hashlib
import importlib
import json
import os
import re
import stat
import time
from contextlib import suppress

from settings import config_of

# 1 (2026-11): the first.
# 2 (2026-11-22): `outcome` with a state, where `completed` and `incomplete_reason` were.
VERSION = 2
SCRIPT_VERSION = "1.0.0"
UTC = "%Y-%m-%dT%H:%M:%SZ"
GROW_EVERY_NS = 10 * 1_000_000_000
TEXT_LENGTH = 10_000  # characters that a reader accepts in one text
TASK_VARIABLES = {
    "task_id": "TASK_ID",
    "task_group_id": "TASK_GROUP_ID",
    "root_url": "TASKCLUSTER_ROOT_URL",
    "instance_type": "TASKCLUSTER_INSTANCE_TYPE",
}
TAKEN = "another run writes its result there; wait for it, or use another --output"
# encode() and not dump(): only encode() runs in C, ten times as fast.
JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _script_sha256():
    """Return the sha256 of each module's path, length and contents; a zip application has it as a module."""
    with suppress(ImportError):
        return importlib.import_module("program_sha256").SHA256
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    paths = [os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names]
    digest = hashlib.sha256()
    for path in sorted(path for path in paths if path.endswith(".py")):
        with open(path, "rb") as file:
            module = file.read()
        name = os.fsencode(os.path.relpath(path, folder))
        digest.update(b"%s %d\n" % (name, len(module)) + module)
    return digest.hexdigest()


def _describe_task(pool):
    """Return which task of which pool this is, by the variables that Taskcluster or a CI system sets."""
    task = {"pool": pool}
    task.update((key, os.environ.get(name) or None) for key, name in TASK_VARIABLES.items())
    task["ci"] = None
    run_id = os.environ.get("RUN_ID", "")
    task["run_id"] = int(run_id) if re.fullmatch("[0-9]{1,9}", run_id) else None
    try:
        location = json.loads(os.environ.get("TASKCLUSTER_WORKER_LOCATION") or "{}")
        task["location"] = {key: str(value) for key, value in sorted(location.items())}
    except (ValueError, AttributeError, RecursionError):
        task["location"] = {}  # not JSON, not a mapping, or nested too deeply
    if task["task_id"] is None:
        import ci  # noqa: PLC0415 - as in reading.py

        task["ci"] = ci.describe()
    return task


def head(version, pool):
    """Return the keys that every file begins with."""
    return {
        "version": version,
        "script": {"version": SCRIPT_VERSION, "sha256": _script_sha256()},
        "started": time.strftime(UTC, time.gmtime()),
        "ended": None,
        "task": _describe_task(pool),
    }


class ResultFile:
    def __init__(self, settings, origin_ns):
        import place_folder  # noqa: PLC0415 - as in reading.py

        folder = os.path.join(settings.artifacts, "io-benchmark")
        self.path = os.path.join(folder, "io-benchmark.json")
        self._origin_ns = origin_ns
        self.due_ns = origin_ns + GROW_EVERY_NS
        self.document = {
            **head(VERSION, settings.pool),
            "duration_ns": 0,
            "config": config_of(settings),
            "host": None,
            "storage": {"places": []},
            "limits": None,
            "workloads": [],
            "timeline": None,
            "warnings": [],
            "outcome": outcome("running"),
        }
        os.makedirs(folder, exist_ok=True)
        place_folder.check_owner(settings.artifacts)
        place_folder.check_owner(folder)
        self._lock = _lock(folder)

    def warn(self, name, message):
        """Add a warning; the same one is kept once, also if it is true of several places."""
        warning = {"name": name, "message": message}
        if warning not in self.document["warnings"]:
            self.document["warnings"].append(warning)

    def write(self):
        """Write the whole file; after an OSError, the previous file is kept."""
        self.document["duration_ns"] = time.monotonic_ns() - self._origin_ns
        try:
            write(self.path, self.document)
        finally:
            self.due_ns = time.monotonic_ns() + GROW_EVERY_NS

    def write_if_possible(self):
        """Write, but continue if that fails: a full disk must not end the measurement."""
        try:
            self.write()
        except OSError as error:
            self.warn("result-not-written", "an interim result: %s" % error.strerror)

    def finish(self, run_outcome):
        self.document["ended"] = time.strftime(UTC, time.gmtime())
        self.document["outcome"] = run_outcome
        self.write()


def _lock(folder):
    """Return a descriptor by which this run alone holds the folder, until the process ends."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise OSError(error.errno, TAKEN, folder) from None
    except OSError:
        pass  # a file system without locks
    return descriptor


def outcome(state, reason=None):
    """Return how the run or an entry ended; the reader lists the states."""
    return {"state": state, "reason": reason}


def write(path, document, *, may_replace=True):
    """Write the document completely or not at all; return the path, which has a number if it must be new."""
    # In names that are not UTF-8, a question mark replaces each invalid byte.
    data = JSON.encode(_readable(document)).encode("utf-8", "replace") + b"\n"
    try:
        if may_replace and os.path.lexists(path):
            _write_existing(path, data)
            return path
        return _write_whole(path, data, None, may_replace)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None


def _write_existing(path, data):
    """Write into a device, a pipe or an open file, such as /dev/stdout; replace any other file."""
    shared = _open_descriptor(path)
    # The kernel decides whether the file may be changed, and whether a link to it may be followed.
    flags = os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | os.O_NOCTTY
    descriptor = os.open(path, flags, 0o666) if shared is None else shared
    with open(descriptor, "wb") as file:
        before = os.fstat(descriptor)
        is_replaced = shared is None and stat.S_ISREG(before.st_mode)
        if not is_replaced:
            os.set_blocking(descriptor, True)
            file.write(data)
    if is_replaced:
        _write_whole(os.path.realpath(path), data, before)


def _open_descriptor(path):
    """Return a copy of the descriptor by which this process already writes to the file, if one does."""
    for number in map(int, os.listdir("/proc/self/fd")):
        with suppress(OSError):  # the descriptor that listed the folder; a link to nothing
            mode = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE
            if mode and os.path.samestat(os.fstat(number), os.stat(path)):
                return os.dup(number)
    return None


def _write_whole(path, data, before, may_replace=True):
    """Write a file by rename; the one before gives it mode and owner. Return its path."""
    folder = os.path.dirname(path)
    temporary = os.path.join(folder, ".io-benchmark-" + os.urandom(8).hex())
    try:
        with open(temporary, "xb") as file:  # does not follow a link
            file.write(data)
            if before is not None:
                with suppress(PermissionError):
                    os.fchown(file.fileno(), before.st_uid, before.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
        path = path if may_replace else _make_first_free(path)
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    return path


def _make_first_free(path):
    """Make an empty file under this name, or under the first numbered one that no other run has."""
    (stem, ending), number = os.path.splitext(path), 1
    while True:
        try:
            open(path, "xb").close()
        except FileExistsError:
            number += 1
            path = "%s-%d%s" % (stem, number, ending)
        else:
            return path


def _readable(value):
    """Return the document with each text cut to the length that a reader accepts."""
    if isinstance(value, str):
        return value[:TEXT_LENGTH]
    if isinstance(value, dict):
        return {key[:TEXT_LENGTH]: _readable(part) for key, part in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], (str, dict, list)):
        return [_readable(part) for part in value]
    return value
