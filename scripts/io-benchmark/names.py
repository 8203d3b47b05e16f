# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The operations on file names that the workload metadata counts."""

import itertools
import os
import queue
import threading
import time

STEPS_PER_READING = 16  # operations between two readings of the clock
SEEN_WITHIN_NS = 1_000_000_000


def _existing(folder, files):
    paths = [os.path.join(folder, "there-%05d" % at) for at in range(files)]
    for path in paths:
        with open(path, "xb"):
            pass
    return _every_few(paths, os.stat)


def _missing(folder, files):
    paths = [os.path.join(folder, "missing-%05d" % at) for at in range(files)]
    return _every_few(paths, look_for_missing)


def look_for_missing(path):
    try:
        os.stat(path)
    except FileNotFoundError:
        return
    raise OSError(None, "%s exists, but nothing created it" % path)


def _every_few(paths, look):
    # Whole groups only: each step is as many operations.
    groups = itertools.cycle(list(zip(*[iter(paths)] * STEPS_PER_READING)))

    def step():
        for path in next(groups):
            look(path)

    return step, STEPS_PER_READING


def _created(folder, _files):
    first, second = os.path.join(folder, "first"), os.path.join(folder, "second")

    def step():
        os.close(os.open(first, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        os.rename(first, second)
        os.unlink(second)

    return step, 3


STEPS = {"stat": _existing, "stat-missing": _missing, "create-rename-unlink": _created}


def look_from_another_thread(path, checks, tell):
    """Create files here, stat them in a thread; tell([start_ns, end_ns, invisible_ns]) per file."""
    names, seen = queue.SimpleQueue(), queue.SimpleQueue()
    clock = time.monotonic_ns

    def look():
        while True:
            name = names.get()
            if name is None:
                return
            first_ns = now_ns = clock()
            visible = os.path.exists(name)
            looked_twice = not visible
            while not visible and now_ns < first_ns + SEEN_WITHIN_NS:
                visible = os.path.exists(name)
                now_ns = clock()
            seen.put((clock(), max(1, now_ns - first_ns) if looked_twice else 0))

    looker = threading.Thread(target=look, daemon=True)
    looker.start()
    for number in range(checks):
        name = path + "%06d" % number
        start_ns = clock()
        os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        names.put(name)
        end_ns, invisible_ns = seen.get()
        os.unlink(name)
        tell([start_ns, end_ns, invisible_ns])
    names.put(None)
    looker.join()
