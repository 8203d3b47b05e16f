# SPDX-License-Identifier: MPL-2.0
"""What neither a profile nor results show, although it changes a predicted time.

Each unknown is a number between 0 and 1. Its value in `EXPECTED` is what is predicted; both ends
are in the interval. Where the times at both ends are too far apart, there is no prediction. The
expected values are chosen; tests/lab/test_predictions.py compares predictions with real jobs.
"""

from msgspec import Struct

# Times whose ratio has a larger ln are too far apart. Chosen: ten times the error of the model.
WIDE_LOG = 1.0


class Unknowns(Struct, frozen=True):
    """The values of all unknowns; `MEANINGS` says what each of them is."""

    syncs: float = 0.5  # 1: as many as there may be
    waiting: float = 1.0  # 1: all waiting that the profile shows was the task's
    idle: float = 1.0  # 1: it waited where it had nothing to do and its disk was at the ceiling
    merged: float = 0.0  # 1: the disk's limit counts requests after they are merged
    requests: float = 1.0  # 0: where nothing measured requests, disks do no more than single syncs
    # 1: a task that takes much longer makes a quarter more requests where it does not sync
    journal: float = 1 / 3
    # 0: nothing, as where a journal is in the way; 1: memory takes as much as is known at most
    room: float = 0.5
    # 1: for no longer than the disks of the profile; 1/2: for a tenth of a second; 0: for any time
    bursts: float = 0.5
    # 1: for all of them, as ext4 writes a file at once that replaces another one
    renames: float = 0.5
    files: float = 0.25  # the share of the work in the kernel
    faster: float = 0.75  # the share of waiting that a faster disk saves, of what it may save
    others: float = 0.5  # 1: other processes and the kernel's threads need the task's CPUs
    # These are of resource profiles alone.
    # 1: bytes were counted at as many levels of devices as there may be
    counted: float = 0.5
    unwritten: float = 0.5  # 1: twice as much waits in memory as the cache shows
    unseen: float = 0.25  # the share of that time
    # 0, 1/2, 1: more CPUs save the least, the likely and the most time. Not an error but a range.
    threads: float = 0.5


EXPECTED = Unknowns()
# What each unknown is, as a refusal says it: "…, depending on how many of its flushes are syncs".
MEANINGS = {
    "syncs": "how many of its flushes are syncs",
    "waiting": "whose waiting for I/O the profile shows",
    "idle": "what it waits for while its disks are at their ceiling",
    "merged": "whether {pool} counts requests before the kernel merges them",
    "requests": "how many requests the disks of {pool} do",
    "journal": "how often its file system writes the journal",
    "room": "how much may wait in memory to be written",
    "bursts": "for how long the disks of {pool} take a burst that a sync does not wait for",
    "renames": "whether it waits for files that are written at once, such as renamed ones",
    "files": "how much of its work in the kernel is with files",
    "faster": "how long it computes while the disks of the profile are at their ceiling",
    "others": "which other work needs the same CPUs",
    "counted": "how many devices count each byte that is written",
    "unwritten": "how much was not written yet when the profile ended",
    "unseen": "how much of its time before and after the profile is writing",
}
