# SPDX-License-Identifier: MPL-2.0
"""Changes are written all or not at all, also where the system refuses them."""

import errno
import os
import shutil
import subprocess

import program
import pytest
from checkout import ROOT

from io_benchmark.adopt import changes
from io_benchmark.errors import IoBenchmarkError

from .conftest import copy_firefox, snapshot

# Root may write everywhere unless it gives this up.
WITHOUT_POWER = ["setpriv", "--bounding-set=-dac_override"]


def limited(*arguments):
    """Run the program as a user who may not write where modes forbid it."""
    prefix = WITHOUT_POWER if os.geteuid() == 0 else []
    if prefix and (
        not shutil.which("setpriv") or subprocess.run([*prefix, "true"], check=False).returncode
    ):
        pytest.skip("needs setpriv and the right to give up CAP_DAC_OVERRIDE")
    done = subprocess.run(
        [*prefix, *program.PROGRAM, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr.splitlines()[-1]


@pytest.mark.parametrize("is_whole", [True, False], ids=["whole", "one folder"])
def test_read_only(tmp_path, is_whole):
    """One line says which file and what to do; the tree is as before, even where a part can be written."""
    folder = copy_firefox(tmp_path / "tree")
    for path in [folder, *folder.rglob("*")] if is_whole else [folder / "taskcluster"]:
        if path.is_dir():
            path.chmod(0o555)
    before, paths = snapshot(folder), sorted(folder.rglob("*"))
    exit_code, stdout, error = limited("firefox", folder)
    assert (exit_code, stdout) == (1, "")
    file = "kinds/io-benchmark" if is_whole else "config.yml"
    assert error.startswith(f"error: {folder}/taskcluster/{file}")
    assert error.endswith(": Permission denied; make the checkout writable and try again")
    assert (snapshot(folder), sorted(folder.rglob("*"))) == (before, paths)


@pytest.mark.parametrize(
    ("error", "raised", "problem"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device"),
            IoBenchmarkError,
            "new/file: No space left on device; make",
        ),
        (KeyboardInterrupt(), KeyboardInterrupt, "^$"),
    ],
    ids=["full disk", "Ctrl-C"],
)
def test_not_written(tmp_path, monkeypatch, error, raised, problem):
    """What was written before goes, also a folder that was made for a file."""
    tree = changes.Tree(tmp_path)
    files = [tree.change("first", b"a"), tree.change("new/file", b"a")]

    def write_file(path, content):
        if path.name == "file":
            raise error
        path.write_bytes(content)

    monkeypatch.setattr(changes, "write_file", write_file)
    with pytest.raises(raised, match=problem):
        tree.write(files)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("name", "expected"), [("b-a", True), ("b-c", False), ("b[", True), ("b-a2", False)]
)
def test_aliases(name, expected):
    """A name is an alias, or is matched as a whole; what is no pattern matches only itself."""
    assert changes.is_alias(name, ["b[", 1, "b-(a|b)"]) is expected
