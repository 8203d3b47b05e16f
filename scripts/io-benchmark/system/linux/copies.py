# SPDX-License-Identifier: MPL-2.0
"""How files are copied, and files in memory."""

import os
from collections import deque
from itertools import cycle, repeat, starmap

from log import MIB

COPY_METHOD = "sendfile"


def copy_part(target, source, start, size):
    """Copy up to so many bytes to the target's position; return how many it were."""
    return os.sendfile(target, source, start, size)


def more_ways(_stack, _near):
    """Return none: a call that copies a whole file is not what tasks use here."""
    return {}


def open_to_read(path):
    return os.open(path, os.O_RDONLY)


def open_to_write(path):
    """Open an empty file."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)


def memory_file(stack, *chunks):
    """Return a path by which a program opens the file as well; it is closed with the stack."""
    descriptor = _memory_descriptor(stack)
    for chunk in chunks:
        os.write(descriptor, chunk)
    return "/proc/%d/fd/%d" % (os.getpid(), descriptor)


def copying(stack, size):
    """Return a function that copies the next MiB between two files of this size in memory."""
    source, target = _memory_descriptor(stack), _memory_descriptor(stack)
    for descriptor in (source, target):
        for start in range(0, size, MIB):
            os.pwrite(descriptor, b"x" * MIB, start)
    starts = cycle(range(0, size, MIB))

    def copy():
        start = os.lseek(target, next(starts), os.SEEK_SET)
        done = 0
        while done < MIB:
            done += os.sendfile(target, source, start + done, MIB - done)
        return 1

    return copy


def calling(_stack, count):
    """Return a function that makes so many of the cheapest system calls: the parent's number."""

    def call():
        # Without a line of Python per call, whose speed depends on its version.
        deque(starmap(os.getppid, repeat((), count)), maxlen=0)
        return count

    return call


def _memory_descriptor(stack):
    descriptor = os.memfd_create("io-benchmark")
    stack.callback(os.close, descriptor)
    return descriptor
