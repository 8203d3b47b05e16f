# SPDX-License-Identifier: MPL-2.0
"""The workload sync-write, run as a worker runs it."""

from pathlib import Path

from worker import Worker


def test_what_is_written(worker: Worker, tmp_path: Path) -> None:
    """Overwriting keeps the file's size, appending grows it by 512 bytes a write."""
    worker.workloads, sizes = ("sync-write",), tmp_path / "sizes"
    noting = (
        "import os; unlink = os.unlink\n"
        "def note(path):\n"
        f"    print(os.path.getsize(path), file=open({str(sizes)!r}, 'a'))\n"
        "    unlink(path)\n"
        "from workloads import sync_write\nsync_write.QUICK['time_limit_s'] = 600.0\n"
        "sync_write.os = type('os', (), {**vars(os), 'unlink': staticmethod(note)})\n"
    )
    entries = worker.measure(prelude=noting)
    assert [len(entry["samples"]["start_ns"]) for entry in entries] == [200, 200, 200, 10]
    # 2048 blocks; and with the warm-up, 210 writes; ten processes' 30 writes.
    assert sizes.read_text().split() == ["1048576", "107520", "107520", *["15360"] * 10]


def test_each_variant_opens_its_file_so(worker: Worker) -> None:
    """The first two wait in the write, the third in fsync."""
    worker.workloads = ("sync-write",)
    counting = (
        "import os\nfrom workloads import sync_write\nsync_write.QUICK['time_limit_s'] = 600.0\n"
        "fsync, opened, synced = os.fsync, [], []\n"
        "sync_write.os = type('os', (), {**vars(os)})\n"
        "sync_write.os.fsync = staticmethod(lambda d: (synced.append(d), fsync(d)))\n"
        "plain = os.open\n"
        "def note(path, flags, *mode):\n"
        "    opened.append(bool(flags & os.O_DSYNC == os.O_DSYNC))\n"
        "    return plain(path, flags, *mode)\n"
        "sync_write.os.open = staticmethod(note)\n"
        "tell_all = sync_write._write_and_tell\n"
        "def told(step, samples, tell):\n"
        "    kept = []\n"
        "    tell_all(step, samples, kept.append)\n"
        # Before the last sample is told: after it, the process may be ended at any moment.
        "    os.write(1, b'opened O_DSYNC %r, synced %d\\n' % (opened, len(synced)))\n"
        "    for times in kept:\n"
        "        tell(times)\n"
        "sync_write._write_and_tell = told\n"
    )
    output = worker.complete("--profile", "quick", prelude=counting)
    assert [line for line in output.splitlines() if line.startswith("opened")] == [
        "opened O_DSYNC [False, True], synced 1",
        "opened O_DSYNC [True], synced 0",
        "opened O_DSYNC [False], synced 210",
    ]
