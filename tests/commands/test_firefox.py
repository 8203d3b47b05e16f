# SPDX-License-Identifier: MPL-2.0
"""The command firefox, run as a user runs it."""

import shutil
import subprocess

import program
import pytest
from checkout import ROOT, contents, copy_firefox

from io_benchmark import __version__
from io_benchmark.adopt.firefox_kind import FETCHES, KIND, PROGRAM, TRANSFORMS
from io_benchmark.adopt.firefox_workers import CONFIG
from io_benchmark.commands import firefox as command

NEXT = './mach try fuzzy --full --no-push -q "\'io-benchmark"'
PAGE = "taskcluster/docs/kinds.md"


def run(*arguments):
    return program.run("firefox", *arguments, folder=ROOT)


@pytest.fixture
def firefox(tmp_path):
    return copy_firefox(tmp_path / "firefox")


def test_write(firefox):
    """Each changed file is a line; a second run changes nothing."""
    written = run(firefox)
    assert written.stdout.splitlines() == [
        *(f"added    {path}" for path in (KIND, TRANSFORMS)),
        *(f"changed  {path}" for path in (PAGE, CONFIG, FETCHES)),
    ]
    assert written.stderr.splitlines() == [
        f"Comparing {firefox} with {ROOT} (checkout)",
        f"Tasks fetch {__version__} as released; --embed tries the program of this tree",
        f"Written, not committed; next, in the checkout: {NEXT}",
    ]
    again = run(firefox)
    assert (again.stdout, again.stderr.splitlines()[-1]) == ("", "Nothing differs")


def test_the_other_form(firefox):
    """A line says what is removed, and --diff has it as a patch."""
    run(firefox, "--embed")
    patch = run(firefox, "--diff").stdout
    assert f"Binary files a/{PROGRAM} and /dev/null differ\n" in patch
    written = run(firefox).stdout.splitlines()
    changed = [f"changed  {path}" for path in (KIND, TRANSFORMS, FETCHES)]
    assert written == [*changed, f"removed  {PROGRAM}"]


def test_diff(firefox, tmp_path):
    """--diff writes nothing.

    Git applies its text, which names the program's file without its bytes.
    """
    patched = tmp_path / "patched"
    shutil.copytree(firefox, patched)
    before = contents(firefox)
    patch = run(firefox, "--diff", "--embed").stdout
    assert contents(firefox) == before
    text = patch.replace(f"Binary files /dev/null and b/{PROGRAM} differ\n", "")
    assert text != patch
    git = ["git", "apply", "--whitespace=nowarn"]
    subprocess.run(git, cwd=patched, input=text.encode(), check=True)
    run(firefox, "--embed")
    assert {**contents(patched), PROGRAM: (firefox / PROGRAM).read_bytes()} == contents(firefox)


def test_documentation():
    """The page has every option, and every file that the command writes."""
    page = (ROOT / "taskcluster/docs/firefox.md").read_text()
    options = [entry for group in command.OPTIONS.values() for entry in group]
    names = [entry.title for entry in options if entry.title.startswith("-")]
    files = (KIND, PROGRAM, TRANSFORMS, FETCHES, CONFIG)
    assert [name for name in (*names, *files) if f"`{name}" not in page] == []
