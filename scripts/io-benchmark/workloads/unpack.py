# SPDX-License-Identifier: MPL-2.0
"""Unpack an archive of many small and some large files, as the set-up of a task does.

  cold       the archive is read from the disk; the files may stay in memory
  cold-sync  the same, until all files are on the disk
  warm       the archive is in memory, as it is right after a download
  warm-sync  the same, until all files are on the disk

On Windows also `warm-zip`, `warm-tar-gz` and `warm-tar-xz`: the same files in a compressed archive
in memory, unpacked by Python's zipfile and tarfile, as tasks there do.

Measured: all files together, from opening the archive to closing the last file, with the final sync
where there is one; and what this process spent on a CPU and waiting for one. Each file is created,
written, and given its mode and its time. Names, sizes and contents follow from the seed, the same
on every pool. The archive lies in the measured place, next to the files.
Not measured: downloading, decompression, removing the files. Between two samples the files are
removed and the file system is synced. So without a final sync, the disk writes only what the kernel
does not keep in memory.

Elsewhere the archive is an uncompressed tar, because decompression is only work for the CPU, and
its speed depends on the version of a library. That tar is written and read here, because Python's
tarfile differs between versions.
"""

import hashlib
import os
import random

from errors import SkippedError, WorkloadError
from log import MIB
from measuring.batches import PYTHON, Batches
from system import accounts, clock, files, folders, page_cache
from system.probes import read_file

# Half of the small files have less than 4 KiB, and the few large files have most of the bytes.
FULL = {"small_files": 2_400, "large_bytes": 2 * MIB, "samples": 24, "time_limit_s": 32.0}
QUICK = {"small_files": 200, "large_bytes": MIB // 8, "samples": 20, "time_limit_s": 3.0}
# Where there are more variants, with half of the files they take the same time.
HALF = {**FULL, "small_files": 1_200, "large_bytes": MIB, "time_limit_s": 18.0}
SMALLEST_BYTES, SMALL_OCTAVES = 256, 8
LARGE_FILES, LARGE_OCTAVES = 6, 3
FILES_PER_FOLDER, FOLDERS_PER_FOLDER = 24, 10
EXECUTABLE_EACH = 10
MODIFIED_S = 1_000_000_000
# More of the archive in memory than this is not cold.
COLD_SHARE = 0.05
TAR_BLOCK_BYTES, NAME_BYTES = 512, 100
FILE, FOLDER = b"0", b"5"
READ_BYTES = 128 * 1024
FILE_SYSTEM_BLOCK_BYTES = 4096
SPARE_BYTES = 16 * MIB
# The variants with another archive; its contents compress.
KINDS = {"warm-" + kind.replace(".", "-"): kind for kind in files.ARCHIVES}


class _Unpack(Batches):
    name = "unpack"
    unit = "files/s"
    maximum_s = 170
    names = ("cold", "cold-sync", "warm", "warm-sync", *KINDS)
    observes = ("method", "python", "resident_bytes", "unpacked_bytes", "sync_ns")
    full, quick = HALF if KINDS else FULL, QUICK
    # Of the variant that is being measured.
    _is_cold = _is_synced = False
    _kind = None

    def __init__(self, bench, place, folder):
        super().__init__(bench, place, folder)
        self._sizes = _file_sizes_bytes(bench.settings.seed, self.sizes)
        self._archive = os.path.join(folder, "archive.tar")
        self._tree = os.path.join(folder, "unpacked")

    def parameters(self, _variant):
        return {
            "files": len(self._sizes),
            "files_bytes": sum(self._sizes),
            "sizes_sha256": hashlib.sha256(str(self._sizes).encode()).hexdigest(),
            "warm_up": 1,
            "samples_planned": self.sizes["samples"],
        }

    def prepare(self):
        # Twice for the files: blocks of removed files are free only after a sync.
        in_blocks = sum(_rounded_up(size, FILE_SYSTEM_BLOCK_BYTES) for size in self._sizes)
        self.check_space((3 + len(KINDS)) * in_blocks + SPARE_BYTES)
        seed = self._bench.settings.seed
        _write_archive(self._archive, self._sizes, seed)
        for kind in KINDS.values():
            files.ARCHIVES[kind].write(self._path_of(kind), seed, _members(self._sizes))
        page_cache.sync_filesystem(self._folder)

    def start(self, entry):
        self._is_cold = entry["variant"].startswith("cold")
        self._is_synced = entry["variant"].endswith("-sync")
        self._kind = KINDS.get(entry["variant"])
        method = "own tar reader"
        if self._is_synced:
            method += ", " + page_cache.SYNC_METHOD
        if self._kind is not None:
            method, self._archive = files.ARCHIVES[self._kind].method, self._path_of(self._kind)
        entry["observed"].update(method=method, python=PYTHON, unpacked_bytes=0)
        self.unpack_once()  # a warm-up
        self._make_ready()
        entry["observed"]["resident_bytes"] = self._check_resident()

    def measure(self, entry):
        observed = entry["observed"]
        with accounts.Account() as account:
            enough = False
            while not enough:
                before = account.read()
                start_ns, unpacked_ns, end_ns = self.unpack_once()
                self.add_spent(end_ns - start_ns, *account.since(before))
                observed["unpacked_bytes"] += sum(self._sizes)
                if self._is_synced:
                    observed["sync_ns"] = (observed["sync_ns"] or 0) + end_ns - unpacked_ns
                enough = self.add([(start_ns, end_ns)], len(self._sizes))
                self._make_ready()

    def unpack_once(self):
        """Return the start, the end of the last file, and the end."""
        start_ns = clock.now_ns()
        if self._kind is None:
            count = _unpack(self._archive, self._tree)
        else:
            os.mkdir(self._tree)
            count = files.ARCHIVES[self._kind].unpack(self._archive, self._tree)
        unpacked_ns = clock.now_ns()
        if self._is_synced:
            page_cache.sync_filesystem(self._tree)
        end_ns = clock.now_ns()
        if count != len(self._sizes):
            raise WorkloadError("unpacked %d files of %d" % (count, len(self._sizes)))
        return start_ns, unpacked_ns, end_ns

    def _path_of(self, kind):
        return os.path.join(self._folder, "archive." + kind)

    def _make_ready(self):
        folders.remove_tree(self._tree)
        page_cache.sync_filesystem(self._folder)
        if self._is_cold:
            page_cache.evict(self._archive)
        else:
            read_file(self._archive)

    def _check_resident(self):
        """Return how much of the archive is in memory; skip a cold variant where it is not cold."""
        resident_bytes = page_cache.resident_bytes(self._archive)
        archive_bytes = os.path.getsize(self._archive)
        if self._is_cold and (resident_bytes or 0) > COLD_SHARE * archive_bytes:
            reason = "the archive cannot be dropped from memory: %.1f of %.1f MiB stay"
            raise SkippedError(reason % (resident_bytes / MIB, archive_bytes / MIB))
        return resident_bytes


def _file_sizes_bytes(seed, sizes):
    """Return the sizes of the files, in the order of the archive.

    In each octave of sizes there are about as many files. A large one follows each of equal parts
    of the small ones.
    """
    # Only random() gives the same values in every version of Python.
    draw = random.Random(seed).random
    sizes_bytes = []
    for large in range(LARGE_FILES):
        for _ in range(sizes["small_files"] // LARGE_FILES):
            octave = SMALLEST_BYTES << int(draw() * SMALL_OCTAVES)
            sizes_bytes.append(octave + int(draw() * octave))
        octave = sizes["large_bytes"] << large % LARGE_OCTAVES
        sizes_bytes.append(octave + int(draw() * octave))
    return sizes_bytes


def _members(sizes):
    """Yield (name, mode, size) of these files, and of their folders of two levels, without size."""
    for number, size in enumerate(sizes):
        folder = number // FILES_PER_FOLDER
        above = "folder-%03d" % (folder // FOLDERS_PER_FOLDER)
        name = "%s/folder-%d" % (above, folder % FOLDERS_PER_FOLDER)
        if number % (FILES_PER_FOLDER * FOLDERS_PER_FOLDER) == 0:
            yield above, 0o755, None
        if number % FILES_PER_FOLDER == 0:
            yield name, 0o755, None
        mode = 0o755 if number % EXECUTABLE_EACH == 0 else 0o644
        yield "%s/file-%05d" % (name, number), mode, size


def _write_archive(path, sizes, seed):
    """Write a tar of these files."""
    # 2 MiB that do not compress: the same MiB twice, to be read from anywhere in the first.
    digests = (hashlib.sha256(b"%d %d" % (seed, block)) for block in range(MIB // 32))
    content = b"".join(digest.digest() for digest in digests) * 2
    with open(path, "xb", buffering=MIB) as archive:
        begin = 0
        for name, mode, size in _members(sizes):
            if size is None:
                archive.write(_header(name, FOLDER, mode))
                continue
            archive.write(_header(name, FILE, mode, size))
            whole, rest = divmod(size, MIB)
            archive.write(content[begin : begin + MIB] * whole)
            archive.write(content[begin : begin + rest])
            archive.write(bytes(_rounded_up(size, TAR_BLOCK_BYTES) - size))
            # Each file begins elsewhere in the content, so that no two are alike.
            begin = (begin + TAR_BLOCK_BYTES) % MIB
        archive.write(bytes(2 * TAR_BLOCK_BYTES))


def _header(name, kind, mode, size=0):
    """Return a member's header: name, mode, user, group, size, time, checksum, kind."""
    numbers = b"%07o\0%07o\0%07o\0%011o\0%011o\0" % (mode, 0, 0, size, MODIFIED_S)
    start = name.replace("/", os.sep).encode().ljust(NAME_BYTES, b"\0") + numbers
    end = (kind + bytes(100) + b"ustar\00000").ljust(TAR_BLOCK_BYTES - len(start) - 8, b"\0")
    checksum = sum(start) + sum(end) + 8 * ord(" ")  # as if it were blank itself
    return start + b"%06o\0 " % checksum + end


def _unpack(archive_path, tree):
    """Unpack an archive of _write_archive() into a new folder; return the number of files."""
    count = 0
    os.mkdir(tree)
    start = os.path.join(tree, "")
    with open(archive_path, "rb", buffering=READ_BYTES) as archive:
        while True:
            header = archive.read(TAR_BLOCK_BYTES)
            name = header[:NAME_BYTES].rstrip(b"\0")
            if not name:  # a block of zeros ends the archive
                return count
            mode, size = int(header[100:107], 8), int(header[124:135], 8)
            path = start + name.decode()
            if header[156:157] == FOLDER:
                os.mkdir(path, mode)
            else:
                _unpack_file(archive, path, mode, size, int(header[136:147], 8))
                count += 1


def _unpack_file(archive, path, mode, size, modified_s):
    file = files.open_new(path)
    try:
        left = size
        while left:
            data = archive.read(min(left, READ_BYTES))
            if not data:
                raise WorkloadError("the archive ends in the middle of a file")
            left -= len(data)
            while data:
                data = data[os.write(file, data) :]
        files.finish_unpacked(file, mode, modified_s)
    finally:
        os.close(file)
    archive.read(_rounded_up(size, TAR_BLOCK_BYTES) - size)


def _rounded_up(size, block):
    return -(-size // block) * block


WORKLOAD = _Unpack
