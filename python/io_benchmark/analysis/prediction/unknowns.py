# SPDX-License-Identifier: MPL-2.0
"""What neither a profile nor results show, although it changes a predicted time.

Each unknown is a number between 0 and 1. Its value in `EXPECTED` is what is predicted; both ends are in
the interval. Where the times at both ends are too far apart, there is no prediction.
"""

from typing import Annotated

from msgspec import Struct

# ln of the ratio between two times, both of which may be true: too far apart to predict one.
WIDE_LOG = 1.0


class Unknowns(Struct, frozen=True):
    """Each is annotated with what it is, as a refusal says it."""

    # 1: as many as there may be
    syncs: Annotated[float, "how many of its flushes are syncs"] = 0.5
    # 1: all waiting that the profile shows was the task's
    waiting: Annotated[float, "whose waiting for I/O the profile shows"] = 1.0
    # 1: it waited where it had nothing to do and its disk was at the ceiling
    idle: Annotated[float, "what it waits for while its disks are at their ceiling"] = 1.0
    # 1: the disk's limit counts requests after they are merged
    merged: Annotated[float, "whether {pool} counts requests before the kernel merges them"] = 0.0
    # 0: where nothing measured requests, disks do no more than single syncs
    requests: Annotated[float, "how many requests the disks of {pool} do"] = 1.0
    # 1: a task that takes much longer makes a quarter more requests where it does not sync
    journal: Annotated[float, "how often its file system writes the journal"] = 1 / 3
    # 0: nothing, as where a journal is in the way; 1: memory takes as much as it is known to at most
    room: Annotated[float, "how much may wait in memory to be written"] = 0.5
    # 1: for no longer than the disks of the profile; 1/2: for a tenth of a second; 0: for any time
    bursts: Annotated[
        float, "for how long the disks of {pool} take a burst that a sync does not wait for"
    ] = 0.5
    # 1: for all of them, as ext4 writes a file at once that replaces another one
    renames: Annotated[
        float, "whether it waits for files that are written at once, such as renamed ones"
    ] = 0.5
    # The share of the work in the kernel
    files: Annotated[float, "how much of its work in the kernel is with files"] = 0.25
    # The share of waiting that a faster disk saves, of what it may save
    faster: Annotated[
        float, "how long it computes while the disks of the profile are at their ceiling"
    ] = 0.75
    # 1: other processes and the kernel's threads need the task's CPUs
    others: Annotated[float, "which other work needs the same CPUs"] = 0.5
    # Of resource profiles alone. 1: bytes were counted at as many levels of devices as there may be
    counted: Annotated[float, "how many devices count each byte that is written"] = 0.5
    # 1: twice as much waits in memory as the cache shows
    unwritten: Annotated[float, "how much was not written yet when the profile ended"] = 0.5
    # The share of that time
    unseen: Annotated[float, "how much of its time before and after the profile is writing"] = 0.25


EXPECTED = Unknowns()
