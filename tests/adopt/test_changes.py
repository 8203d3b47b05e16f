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
from io_benchmark.adopt.firefox_checkout import CONFIG
from io_benchmark.errors import IoBenchmarkError

from .conftest import copy_firefox, snapshot

# Root may write everywhere unless it gives this up.
WITHOUT_POWER = ["setpriv", "--bounding-set=-dac_override"]
PROJECT = """\
taskgraph:
    cached-task-prefix: a
workers: {aliases: {b-small: {os: linux}}}
"""


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


def make_project(folder):
    for name, text in {
        CONFIG: PROJECT,
        "taskcluster/kinds/docker-image/kind.yml": "tasks: {base: {}}\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("is_whole", [True, False], ids=["whole", "one folder"])
@pytest.mark.parametrize(
    ("command", "make", "refused"),
    [("init", make_project, "requirements.in"), ("firefox", copy_firefox, "config.yml")],
)
def test_read_only(tmp_path, command, make, refused, is_whole):
    """One line says which file and what to do; the tree is as before, even where a part can be written."""
    folder = make(tmp_path / "tree")
    for path in [folder, *folder.rglob("*")] if is_whole else [folder / "taskcluster"]:
        if path.is_dir():
            path.chmod(0o555)
    before, paths = snapshot(folder), sorted(folder.rglob("*"))
    exit_code, stdout, error = limited(command, folder)
    assert (exit_code, stdout) == (1, "")
    file = "kinds/io-benchmark" if is_whole else refused
    assert error.startswith(f"error: {folder}/taskcluster/{file}")
    assert error.endswith(": Permission denied; make the checkout writable and try again")
    assert (snapshot(folder), sorted(folder.rglob("*"))) == (before, paths)


def test_full_disk(tmp_path, monkeypatch):
    """A folder that was made for a file which then cannot be written goes as well."""

    def write_file(*_arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(changes, "write_file", write_file)
    tree = changes.Tree(tmp_path)
    with pytest.raises(IoBenchmarkError, match="new/file: No space left on device; make"):
        tree.write([tree.change("new/file", b"a")])
    assert [*tmp_path.iterdir()] == []
