# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Retrieves that differ from the seed's in one thing each, for trials."""

import os
import time

from log import MIB, NS_PER_S
from retrieval import SeedSteps

PACED_BYTES = 256 * 1024
PACED_FILES_DEEP = 4
MEMORY_FILE_BYTES = 16 * MIB


class KnownLookups(SeedSteps):
    """No grep: this process knows the line of each URL."""

    def __init__(self, urls, url_list):
        super().__init__(url_list, "", "overwrite")
        self._lines = {url: index for index, url in enumerate(urls)}

    def look_up(self, index, url):
        if self._lines[url] != index:
            raise OSError(None, "entry %d of the list is not known" % (index + 1))

    def reap(self):
        """Do nothing: there is no grep."""


class PacedCopies(SeedSteps):
    """Copies that are limited to a rate, as by a disk behind a page cache of a few files.

    Unused bytes accumulate, also during lookups, up to four mean files, because a page cache is written
    back meanwhile, too. None have accumulated at the start, as if the page cache were full.
    """

    def __init__(self, url_list, bytes_per_s, mean_file_bytes):
        super().__init__(url_list, "", "overwrite")
        self._bytes_per_s = bytes_per_s
        self._most_bytes = max(PACED_FILES_DEEP * mean_file_bytes, PACED_BYTES)
        self.start()

    def start(self):
        """Begin a block with nothing accumulated."""
        self._allowed_bytes = 0.0
        self._counted_ns = time.monotonic_ns()

    def _send(self, target, source, start, size):
        size = min(size, PACED_BYTES)
        while True:
            now_ns = time.monotonic_ns()
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
    """List, source and destination in memory, in files without a name: nothing can be left behind."""

    def __init__(self, urls, largest_bytes):
        self._files = []
        try:
            url_list = self._file("".join(url + "\n" for url in urls).encode())
            self._size = min(largest_bytes, MEMORY_FILE_BYTES)
            whole, rest = divmod(self._size, MIB)
            chunk = os.urandom(MIB)
            self._source = self._file(*[chunk] * whole, chunk[:rest])
            self._destination = self._file()
            super().__init__(url_list, "", "overwrite")
        except OSError:
            self._close()
            raise

    def __exit__(self, *error):
        super().__exit__(*error)
        self._close()

    def _close(self):
        for file in self._files:
            os.close(file)

    def _file(self, *chunks):
        """Return a path by which grep opens the file as well."""
        descriptor = os.memfd_create("io-benchmark")
        self._files.append(descriptor)
        for chunk in chunks:
            os.write(descriptor, chunk)
        return "/proc/%d/fd/%d" % (os.getpid(), descriptor)

    def copy(self, _source, _destination, size):
        """Copy the same number of bytes, over the same file."""
        while size > 0:
            part = min(size, self._size)
            super().copy(self._source, self._destination, part)
            size -= part
