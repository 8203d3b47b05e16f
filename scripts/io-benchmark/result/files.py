# SPDX-License-Identifier: MPL-2.0
"""The files of a run: one JSON document, and a folder in each place, which is removed at the end.

The document grows by rename and is valid at every moment. There is no fsync, because it would flush
the disk that is being measured. Only a crash of the machine can leave a truncated file, because a
rename happens completely or not at all.
"""

import errno
import fcntl
import hashlib
import importlib
import itertools
import json
import os
import re
import stat
import time
from contextlib import suppress

from result.public_text import without_passwords

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
OPEN_TO_ALL = (
    "every user can write there and replace what this run writes; "
    "run `chmod o-w` on it or use another path"
)
# Marks a place that a run made, so that the last run that leaves it removes it.
MADE_HERE = 0o1700
NO_FOLDERS = "no folder can be made there; use a path on a disk"
OF_ANOTHER = (
    "belongs to another user (uid %d), who could redirect what this run writes; "
    "run as that user or use another path"
)
OF_ANOTHER_POOL = "has a result of the pool %s; use another --output for each pool, or remove it"
NO_READER = "no program reads this pipe; start one before, or use a file"
TAKEN = "another run writes its result there; wait for it, or use another --output"
# encode() and not dump(): only encode() runs in C, ten times as fast.
JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _script_sha256():
    """Return the sha256 of each module's path, length and contents.

    A zip application has it as a module.
    """
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
            _check_owner(path, settings.job)
        self._lock = _lock(folder)
        _check_pool(self.path, settings.pool)

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


def _check_pool(path, pool):
    """Refuse to replace the result of another pool; what cannot be read is no result."""
    try:
        with open(path, "rb") as file:
            earlier = json.load(file)["task"]["pool"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return
    if earlier != pool:
        raise OSError(None, OF_ANOTHER_POOL % str(earlier)[:100], path)


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
    """Write the document completely or not at all; return the path, numbered if it must be new.

    A file that is replaced keeps its mode. A link is replaced: it may lead where others want to.
    """
    data = _encoded(document)
    temporary = os.path.join(os.path.dirname(path), ".io-benchmark-" + os.urandom(8).hex())
    try:
        with open(temporary, "xb") as file:  # does not follow a link
            with suppress(FileNotFoundError):
                earlier = os.lstat(path)
                if may_replace and stat.S_ISREG(earlier.st_mode):
                    os.fchmod(file.fileno(), stat.S_IMODE(earlier.st_mode))
            file.write(data)
        path = path if may_replace else _make_first_free(path)
        os.replace(temporary, path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
    return path


def write_as_named(path, document):
    """Write to a path that a person gave: through a link, and into a pipe or device."""
    target = os.path.realpath(path)
    if os.path.isfile(target):
        os.close(os.open(target, os.O_WRONLY))  # the kernel decides whether it may be changed
    if os.path.isfile(target) or not os.path.lexists(target):
        write(target, document)
        return
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        raise OSError(error.errno, NO_READER, path) from None
    os.set_blocking(descriptor, True)
    with open(descriptor, "wb") as file:
        file.write(_encoded(document))


def _encoded(document):
    # In names that are not UTF-8, a question mark replaces each invalid byte.
    return JSON.encode(_readable(document)).encode("utf-8", "replace") + b"\n"


def _make_first_free(path):
    """Make an empty file under this name, or under the first numbered one that no other run has."""
    stem, ending = os.path.splitext(path)
    for number in itertools.count(2):
        try:
            open(path, "xb").close()
        except FileExistsError:
            path = "%s-%d%s" % (stem, number, ending)
        else:
            break
    return path


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
    import tempfile  # noqa: PLC0415 - measure must not load it

    try:
        os.mkdir(path, MADE_HERE)
    except FileExistsError:
        _check_owner(path, job)
        mode = os.stat(path).st_mode
        is_open = stat.S_ISDIR(mode) and mode & stat.S_IWOTH and not mode & stat.S_ISVTX
        if is_open and not _is_of_job(path, job):
            raise OSError(errno.EPERM, OPEN_TO_ALL) from None
    try:
        return tempfile.mkdtemp(prefix="io-benchmark-", dir=path)
    except FileNotFoundError:
        if not attempts:
            raise OSError(errno.ENOENT, NO_FOLDERS) from None
        return claim_folder(path, job, attempts - 1)  # another run has just removed the place
    except OSError:
        _remove_if_made_here(path)
        raise


def leave_folder(folder, path):
    """Remove the folder of this run, and the place if a run made it and no other works there."""
    import shutil  # noqa: PLC0415 - measure must not load it

    shutil.rmtree(folder)
    _remove_if_made_here(path)


def _remove_if_made_here(path):
    with suppress(OSError):  # another run works there, or has removed it
        if stat.S_IMODE(os.stat(path).st_mode) == MADE_HERE:
            os.rmdir(path)


def _check_owner(path, job):
    """Refuse a folder or link of another user, who could redirect what is written there."""
    for status in (os.lstat(path), os.stat(path)):
        if status.st_uid not in (0, os.geteuid()) and not _is_of_job(path, job):
            raise OSError(errno.EPERM, OF_ANOTHER % status.st_uid, path)


def _is_of_job(path, job):
    """Return whether the CI system gave the job this folder.

    Who can write there decides what the job runs. In a container it often belongs to a user of the
    host, or every user can write to it.
    """
    if job is None or job.folder is None:
        return False
    folder, path = os.path.realpath(job.folder), os.path.realpath(path)
    return folder != "/" and os.path.commonpath([folder, path]) == folder
