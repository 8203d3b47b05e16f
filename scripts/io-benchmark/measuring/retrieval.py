# SPDX-License-Identifier: MPL-2.0
"""The ways to retrieve: the seed's loop, and what trials change about it."""

import os
import shutil
import time
from contextlib import AbstractContextManager, ExitStack

import kernel
from log import MIB, NS_PER_S

COPY_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
PACED_BYTES = 256 * 1024
PACED_FILES_DEEP = 4
MEMORY_FILE_BYTES = 16 * MIB


class SeedSteps(AbstractContextManager):
    """One grep and one copy inside this process, as the seed measures.

    The copy does what shutil.copy2 does on Linux (sendfile, then mode and times). It is written out
    here to be the same in every version of Python.
    """

    lookup_method = "grep -Fnx, posix_spawn"
    copy_method = "sendfile"

    def __init__(self, url_list, destination="overwrite"):
        self._list = url_list
        self._unlink = destination == "unlink"
        # With its path: a bare name would cost a failed execve per folder of PATH.
        self._grep = shutil.which("grep") or "grep"
        self._account = kernel.Account()
        self._ended = None
        self.read = self._account.read
        # One pipe for all greps: each prints one line, which is read when it has ended.
        self._answer, self._output = os.pipe()
        os.set_blocking(self._answer, False)

    def __exit__(self, *error):
        """Leave an interrupted grep: it ends by itself, and the end of the run waits for it."""
        self._account.__exit__(*error)
        os.close(self._answer)
        os.close(self._output)

    def start(self):
        """Begin a block of retrieves."""

    def reap(self):
        """Reap the grep of the latest lookup; return what it spent."""
        grep, self._ended = self._ended, None  # never reaped twice
        return kernel.reap(grep, kernel.waiting_ns_of(grep))[1]

    @staticmethod
    def spent(before, between, after, grep):
        """Return what lookup and copy spent, by readings around them; grep's is in the first."""
        lookup = kernel.together(kernel.growth(before, between), grep)
        return (*lookup, *kernel.growth(between, after))

    def look_up(self, index, url):
        child = os.posix_spawn(
            self._grep,
            ("grep", "-Fnx", url, self._list),
            os.environ,
            file_actions=((os.POSIX_SPAWN_DUP2, self._output, 1),),
        )
        kernel.wait_for(child)
        self._ended = child
        try:
            answer = os.read(self._answer, 4096)
        except BlockingIOError:
            answer = b""
        if not answer.startswith(b"%d:" % (index + 1)):
            raise OSError(None, "grep did not find entry %d of the list" % (index + 1))

    def copy(self, source, destination, size):
        if self._unlink:
            try:
                os.unlink(destination)
            except FileNotFoundError:
                pass  # the first copy
        source_fd = os.open(source, os.O_RDONLY)
        try:
            target_fd = os.open(destination, COPY_FLAGS, 0o666)
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
        return os.sendfile(target, source, start, size)


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
    """List, source and destination in memory, in files without a name: nothing is left behind."""

    def __init__(self, urls, largest_bytes):
        with ExitStack() as files:  # closed after an error alone
            url_list = self._file(files, "".join(url + "\n" for url in urls).encode())
            self._size = min(largest_bytes, MEMORY_FILE_BYTES)
            whole, rest = divmod(self._size, MIB)
            chunk = os.urandom(MIB)
            chunks = [chunk] * whole + [chunk[:rest]]
            self._source = self._file(files, *chunks)
            self._destination = self._file(files)
            super().__init__(url_list)
            self._files = files.pop_all()

    def __exit__(self, *error):
        super().__exit__(*error)
        self._files.close()

    @staticmethod
    def _file(files, *chunks):
        """Return a path by which grep opens the file as well."""
        descriptor = os.memfd_create("io-benchmark")
        files.callback(os.close, descriptor)
        for chunk in chunks:
            os.write(descriptor, chunk)
        return "/proc/%d/fd/%d" % (os.getpid(), descriptor)

    def copy(self, _source, _destination, size):
        """Copy the same number of bytes, over the same file."""
        while size > 0:
            part = min(size, self._size)
            super().copy(self._source, self._destination, part)
            size -= part
