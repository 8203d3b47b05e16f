# SPDX-License-Identifier: MPL-2.0
"""The workload metadata: what it does, and how many do it at once."""

import pytest
from workloads import metadata

# A file that is hidden from the first look at it, and one that is never seen.
HIDING = """
import os
from workloads import metadata
looked = set()
def exists(name):
    if name.endswith("7") and name not in looked:
        looked.add(name)
        return False
    return os.path.lexists(name)
path = type("path", (), {**vars(os.path), "exists": staticmethod(exists)})
metadata.os = type("os", (), {**vars(os), "path": path})
"""


@pytest.mark.parametrize(
    ("cpus", "full", "quick"),
    [(1, [1], [1]), (2, [1, 2], [1, 2]), (6, [1, 2, 4, 6], [1, 6]), (16, [1, 2, 4, 8], [1, 8])],
)
def test_how_many_at_once(cpus, full, quick):
    """Doubled up to the CPUs, eight at most."""
    assert metadata._process_counts(cpus, is_quick=False) == full
    assert metadata._process_counts(cpus, is_quick=True) == quick


def test_files_not_yet_visible_are_counted(worker):
    """What another thread misses at its first look is counted."""
    worker.workloads = ("metadata",)
    worker.complete("--profile", "quick", prelude=HIDING)
    observed = worker.document()["workloads"][-1]["observed"]
    assert observed["not_visible"] == sum(n % 10 == 7 for n in range(observed["checks"])) > 0


def test_what_is_done(tmp_path):
    """Every step does what its name says, so many operations at a time, and leaves nothing."""
    for name, operations, files in (("stat", 16, 64), ("stat-missing", 16, 0)):
        folder = tmp_path / name
        folder.mkdir()
        step, counted = metadata.STEPS[name](str(folder), 64)
        step()
        assert (counted, len(list(folder.iterdir()))) == (operations, files)
    step, counted = metadata.STEPS["create-rename-unlink"](str(tmp_path), 64)
    step()
    assert counted == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stat", "stat-missing"]
    # A failing stat that succeeds would measure something else.
    step, _ = metadata.STEPS["stat-missing"](str(tmp_path), 16)
    (tmp_path / "missing-00003").touch()
    with pytest.raises(OSError, match="missing-00003 exists, but nothing created it"):
        step()
