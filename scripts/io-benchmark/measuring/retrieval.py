# SPDX-License-Identifier: MPL-2.0
"""The ways to retrieve: the seed's loop, and what trials change about it."""

import os
import shutil
import time
from contextlib import AbstractContextManager, ExitStack

from log import MIB, NS_PER_S
from measuring.workload import together
from system import accounts, clock, copies, folders, processes

PACED_BYTES = 256 * 1024
PACED_FILES_DEEP = 4
MEMORY_FILE_BYTES = 16 * MIB


class SeedSteps(AbstractContextManager):
    """One lookup and one copy inside this process, as the seed measures.

    The copy does what shutil.copy2 does (the contents, then mode and times). It is written out here
    to be the same in every version of Python.
    """

    copy_method = copies.COPY_METHOD

    def __init__(self, url_list, destination="overwrite"):
        self._list = url_list
        self._unlink = destination == "unlink"
        self._finder = processes.Finder()
        self.lookup_method = self._finder.method
        self._account = accounts.Account()
        self._ended = None
        self.read = self._account.read
        self._answers = processes.Answers()

    def __exit__(self, *error):
        """Leave an interrupted lookup: it ends by itself; the end of the run waits for it."""
        self._account.__exit__(*error)
        self._answers.__exit__(*error)

    def start(self):
        """Begin a block of retrieves."""

    def reap(self):
        """Reap the program of the latest lookup; return what it spent."""
        child, self._ended = self._ended, None  # never reaped twice
        return processes.reap(child, processes.waiting_ns_of(child))[1]

    @staticmethod
    def spent(before, between, after, child):
        """Return what lookup, with its child, and copy spent, by readings around them."""
        lookup = together(accounts.growth(before, between), child)
        return (*lookup, *accounts.growth(between, after))

    def look_up(self, index, url):
        words = self._finder.words(url, self._list)
        child = processes.start(self._finder.program, words, self._answers.output)
        processes.wait_for(child)
        self._ended = child
        if not self._answers.read().startswith(b"%d:" % (index + 1)):
            raise OSError(None, "%s did not find entry %d of the list" % (words[0], index + 1))

    def copy(self, source, destination, size):
        if self._unlink:
            try:
                folders.remove(destination)
            except FileNotFoundError:
                pass  # the first copy
        source_fd = copies.open_to_read(source)
        try:
            target_fd = copies.open_to_write(destination)
            try:
                done = 0
                while done < size:
                    sent = self._send(target_fd, source_fd, done, size - done)
                    if sent == 0:
                        raise OSError(None, "%s is shorter than it was" % source)
                    done += sent
            finally:
                os.close(target_fd)  # ext4 may flush here: part of the copy
        finally:
            os.close(source_fd)
        shutil.copystat(source, destination)

    def _send(self, target, source, start, size):
        return copies.copy_part(target, source, start, size)


# Trials: retrieves that differ from the seed's in one thing each.


class PacedCopies(SeedSteps):
    """Copies that are limited to a rate, as by a disk behind a page cache of a few files.

    Unused bytes accumulate, also during lookups, up to four mean files, because a page cache is
    written back meanwhile, too. None have accumulated at the start, as if the page cache were full.
    """

    def __init__(self, url_list, bytes_per_s, mean_file_bytes):
        super().__init__(url_list)
        self._bytes_per_s = bytes_per_s
        self._most_bytes = max(PACED_FILES_DEEP * mean_file_bytes, PACED_BYTES)

    def start(self):
        self._allowed_bytes = 0.0
        self._counted_ns = clock.now_ns()

    def _send(self, target, source, start, size):
        size = min(size, PACED_BYTES)
        while True:
            now_ns = clock.now_ns()
            gained = (now_ns - self._counted_ns) * self._bytes_per_s / NS_PER_S
            self._allowed_bytes = min(self._allowed_bytes + gained, self._most_bytes)
            self._counted_ns = now_ns
            if self._allowed_bytes >= size:
                break
            time.sleep((size - self._allowed_bytes) / self._bytes_per_s)
        sent = super()._send(target, source, start, size)
        self._allowed_bytes -= sent
        return sent


class MemorySteps(SeedSteps):
    """List, source and destination in memory, in files without a name: nothing is left behind."""

    def __init__(self, urls, largest_bytes):
        with ExitStack() as stack:  # closed after an error alone
            url_list = copies.memory_file(stack, "".join(url + "\n" for url in urls).encode())
            self._size = min(largest_bytes, MEMORY_FILE_BYTES)
            whole, rest = divmod(self._size, MIB)
            chunk = os.urandom(MIB)
            chunks = [chunk] * whole + [chunk[:rest]]
            self._source = copies.memory_file(stack, *chunks)
            self._destination = copies.memory_file(stack)
            super().__init__(url_list)
            self._files = stack.pop_all()

    def __exit__(self, *error):
        super().__exit__(*error)
        self._files.close()

    def copy(self, _source, _destination, size):
        """Copy the same number of bytes, over the same file."""
        while size > 0:
            part = min(size, self._size)
            super().copy(self._source, self._destination, part)
            size -= part
