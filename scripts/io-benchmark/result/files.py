# SPDX-License-Identifier: MPL-2.0
"""The files of a run: one JSON document, and a folder in each place, which is removed at the end.

The document grows by rename and is valid at every moment. There is no fsync, because it would flush
the disk that is being measured. Only a crash of the machine can leave a truncated file, because a
rename happens completely or not at all.
"""

import errno
import importlib
import json
import os
import re
import time
from contextlib import suppress

from system import clock, folders

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
NO_FOLDERS = "no folder can be made there; use a path on a disk"
OF_ANOTHER_POOL = "has a result of the pool %s; use another --output for each pool, or remove it"
# Results are public, and a URL may hold a password.
_USER_INFO = re.compile(r"(?<=://)[^/?#\s]*(?=@)")
# encode() and not dump(): only encode() runs in C, ten times as fast.
JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _script_sha256():
    """Return the sha256 of each module's path, length and contents."""
    with suppress(ImportError):
        return importlib.import_module("program_sha256").SHA256  # of a zip application
    return importlib.import_module("folder_sha256").read()


def _describe_task(pool, job):
    """Return which task of which pool this is, by Taskcluster's variables or a CI system's job."""
    task = {"pool": pool}
    task.update((key, os.environ.get(name) or None) for key, name in TASK_VARIABLES.items())
    task["ci"] = job.description if job is not None and task["task_id"] is None else None
    run_id = os.environ.get("RUN_ID", "")
    task["run_id"] = int(run_id) if re.fullmatch("[0-9]{1,9}", run_id) else None
    try:
        location = json.loads(os.environ.get("TASKCLUSTER_WORKER_LOCATION") or "{}")
        task["location"] = {key: str(value) for key, value in sorted(location.items())}
    except (ValueError, AttributeError, RecursionError):
        task["location"] = {}  # not JSON, not a mapping, or nested too deeply
    return task


def head(version, settings):
    """Return the keys that every file begins with."""
    return {
        "version": version,
        "script": {"version": SCRIPT_VERSION, "sha256": _script_sha256()},
        "started": time.strftime(UTC, time.gmtime()),
        "ended": None,
        "task": _describe_task(settings.pool, settings.job),
    }


class ResultFile:
    def __init__(self, settings, origin_ns):
        folder = os.path.join(settings.artifacts, "io-benchmark")
        self.path = os.path.join(folder, "io-benchmark.json")
        self._origin_ns = origin_ns
        self.due_ns = origin_ns + GROW_EVERY_NS
        self.document = {
            **head(VERSION, settings),
            "duration_ns": 0,
            "config": settings.as_config(),
            "host": None,
            "storage": {"places": []},
            "limits": None,
            "workloads": [],
            "timeline": None,
            "warnings": [],
            "outcome": outcome("running"),
        }
        os.makedirs(folder, exist_ok=True)
        for path in (settings.artifacts, folder):
            folders.check_owner(path, settings.job)
        self._lock = folders.lock(folder)
        _check_pool(self.path, settings.pool)

    def warn(self, name, message):
        """Add a warning; the same one is kept once, also if it is true of several places."""
        warning = {"name": name, "message": message}
        if warning not in self.document["warnings"]:
            self.document["warnings"].append(warning)

    def write(self):
        """Write the whole file; after an OSError, the previous file is kept."""
        self.document["duration_ns"] = clock.now_ns() - self._origin_ns
        violations = folders.sharing_violations()
        if violations is not None:
            self.document["sharing_violations"] = violations
        try:
            write(self.path, self.document)
        finally:
            self.due_ns = clock.now_ns() + GROW_EVERY_NS

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


def _check_pool(path, pool):
    """Refuse to replace the result of another pool; what cannot be read is no result."""
    try:
        with open(path, "rb") as file:
            earlier = json.load(file)["task"]["pool"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return
    if earlier != pool:
        raise OSError(None, OF_ANOTHER_POOL % str(earlier)[:100], path)


def outcome(state, reason=None):
    """Return how the run or an entry ended; the reader lists the states."""
    return {"state": state, "reason": reason}


def write(path, document):
    """Write the document completely or not at all.

    A file that is replaced keeps its mode. A link is replaced: it may lead where others want to.
    """
    data = encoded(document)
    temporary = os.path.join(os.path.dirname(path), ".io-benchmark-" + os.urandom(8).hex())
    try:
        with open(temporary, "xb") as file:  # does not follow a link
            folders.keep_mode(file.fileno(), path)
            file.write(data)
        folders.replace(temporary, path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def encoded(document):
    # In names that are not UTF-8, a question mark replaces each invalid byte.
    return JSON.encode(_readable(document)).encode("utf-8", "replace") + b"\n"


def has_password(text):
    """Return whether a URL in the text has a user or a password, or `***` in their place."""
    return _USER_INFO.search(text) is not None


def without_passwords(text):
    """Return the text with `***` in place of the user and the password of each URL."""
    return _USER_INFO.sub("***", text) if "@" in text else text


def _readable(value):
    """Return the document with texts as readers accept them: without passwords, not longer."""
    if isinstance(value, str):
        return without_passwords(value)[:TEXT_LENGTH]
    if isinstance(value, dict):
        return {key[:TEXT_LENGTH]: _readable(part) for key, part in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], (str, dict, list)):
        return [_readable(part) for part in value]
    return value


def claim_folder(path, job, attempts=10):
    """Make a new folder in the place, for this run alone, and a missing place; return its path."""
    path = folders.long_path(path)
    # Not by tempfile, which tries for ever in a folder of Windows where nobody may write.
    folder = os.path.join(path, "io-benchmark-" + os.urandom(6).hex())
    try:
        folders.make_marked(path)
    except FileExistsError:
        folders.check_owner(path, job)
        folders.check_not_open_to_all(path, job)
    try:
        os.mkdir(folder, 0o700)
    except FileNotFoundError:
        if not attempts:
            raise OSError(errno.ENOENT, NO_FOLDERS) from None
        return claim_folder(path, job, attempts - 1)  # another run has just removed the place
    except OSError:
        _remove_if_made_here(path)
        raise
    return folder


def leave_folder(folder, path):
    """Remove the folder of this run, and the place if a run made it and no other works there."""
    folders.remove_tree(folder)
    _remove_if_made_here(folders.long_path(path))


def _remove_if_made_here(path):
    with suppress(OSError):  # another run works there, or has removed it
        if folders.is_made_here(path):
            os.rmdir(path)
