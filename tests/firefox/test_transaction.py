# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""All files are written, or none."""

import errno
import os
from pathlib import Path

import pytest

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.firefox.checkout import SCRIPT
from io_benchmark.firefox.transaction import write_all
from io_benchmark.firefox.tree_changes import FileChange

from .conftest import plan, snapshot


def folders(root):
    return {path for path in root.rglob("*") if path.is_dir()}


@pytest.fixture
def broken(monkeypatch):
    """Make the n-th call of a function of `os` or of Path fail, the later ones work again."""

    def break_it(owner, name, number, error):
        original, calls = getattr(owner, name), []

        def replacement(*arguments, **keywords):
            calls.append(1)
            if len(calls) == number:
                raise error
            return original(*arguments, **keywords)

        monkeypatch.setattr(owner, name, replacement)

    return break_it


FULL = OSError(errno.ENOSPC, "No space left on device", "somewhere")


@pytest.mark.parametrize("number", [1, 5, 20])
@pytest.mark.parametrize(
    ("owner", "name"),
    [
        pytest.param(os, "open", id="staging"),
        pytest.param(Path, "replace", id="moving"),
    ],
)
@pytest.mark.parametrize(
    ("error", "raised", "said"),
    [
        pytest.param(
            FULL,
            IoBenchmarkError,
            "somewhere: No space left on device; nothing was changed; make the checkout writable and "
            "try again",
            id="full-disk",
        ),
        pytest.param(KeyboardInterrupt(), KeyboardInterrupt, "", id="interrupted"),
    ],
)
def test_nothing_is_left_half_done(firefox, broken, owner, name, number, error, raised, said):
    """Wherever it stops, files, modes and folders are as they were."""
    before, folders_before = snapshot(firefox), folders(firefox)
    contents = plan(firefox).contents
    broken(owner, name, number, error)
    with pytest.raises(raised, match=f"^{said}$"):
        write_all(firefox, contents)
    assert snapshot(firefox) == before
    assert folders(firefox) == folders_before


def test_removal_is_undone(firefox, broken):
    """A removed file comes back, with its mode, where a later step fails."""
    files = [firefox / SCRIPT / name for name in ("a.py", "b.py")]
    files[0].parent.mkdir(parents=True)
    for file in files:
        file.write_text("text\n")
        file.chmod(0o755)
    before = snapshot(firefox)
    contents = [FileChange(f"{SCRIPT}/{file.name}", b"text\n", None) for file in files]
    broken(Path, "unlink", 2, PermissionError(errno.EACCES, "Permission denied", "b.py"))
    with pytest.raises(IoBenchmarkError, match=r"^b\.py: Permission denied; nothing was changed"):
        write_all(firefox, contents)
    assert snapshot(firefox) == before


def test_empty_folders_go(firefox):
    """A folder of ours that is empty after a removal goes too, never one that others use."""
    deep = firefox / SCRIPT / "deep/deeper"
    deep.mkdir(parents=True)
    (deep / "a.py").write_text("")
    write_all(firefox, [FileChange(f"{SCRIPT}/deep/deeper/a.py", b"", None)])
    assert not (firefox / SCRIPT).exists()
    assert (firefox / "taskcluster").is_dir()
