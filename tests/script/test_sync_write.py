# SPDX-License-Identifier: MPL-2.0
"""The workload sync-write, run as a worker runs it."""

# Notes each file's size at its end, and in a process that writes how it opened the file and synced
# it.
NOTING = """
import os
from system.linux import files, folders
from workloads import sync_write
sync_write.QUICK['time_limit_s'] = 600.0
opened, synced, tell_all, plain = [], [], sync_write._write_and_tell, os.open
def remove(path):
    os.write(1, b'size %d\\n' % os.path.getsize(path))
    os.unlink(path)
def fsync(descriptor):
    synced.append(descriptor)
    os.fsync(descriptor)
def open_noted(path, flags, *mode):
    opened.append(bool(flags & os.O_DSYNC == os.O_DSYNC))
    return plain(path, flags, *mode)
def told(step, samples, tell):
    kept = []
    tell_all(step, samples, kept.append)
    # Before the last sample is told: after it, the process may be ended at any moment.
    os.write(1, b'opened O_DSYNC %r, synced %d\\n' % (opened, len(synced)))
    for times in kept:
        tell(times)
sync_write._write_and_tell = told
changed = {name: staticmethod(value) for name, value in
           (('fsync', fsync), ('open', open_noted))}
sync_write.os = files.os = type('os', (), {**vars(os), **changed})
files.sync = fsync
folders.remove = remove
"""


def test_what_is_written(worker):
    """Overwriting keeps the file's size, appending grows it.

    Two wait in the write, the third in fsync.
    """
    worker.workloads = ("sync-write",)
    output = worker.complete("--profile", "quick", prelude=NOTING)
    entries = worker.document()["workloads"]
    assert [len(entry["samples"]["start_ns"]) for entry in entries] == [200, 200, 200, 10]
    assert [line for line in output.splitlines() if line.startswith(("opened", "size"))] == [
        "opened O_DSYNC [False, True], synced 1",
        "size 1048576",  # 2048 blocks
        "opened O_DSYNC [True], synced 0",
        "size 107520",  # with the warm-up, 210 writes
        "opened O_DSYNC [False], synced 210",
        "size 107520",
        *("opened O_DSYNC [True], synced 0", "size 15360") * 10,  # processes' 30 writes
    ]
