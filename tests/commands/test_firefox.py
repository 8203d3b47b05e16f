# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The command firefox, run as a user runs it."""

import json
import shutil
import subprocess

import program
import pytest
from checkout import ROOT

from io_benchmark.commands import firefox as command
from io_benchmark.firefox.checkout import CONFIG, KIND, SCRIPT, TRANSFORMS

STAND_IN = ROOT / "tests/firefox/checkout"


def run(*arguments, folder=ROOT, expected=0):
    return program.run("firefox", *arguments, folder=folder, expected=expected)


def snapshot(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def firefox(tmp_path):
    target = tmp_path / "firefox"
    shutil.copytree(STAND_IN, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def test_check_write_check(firefox):
    """--check says what differs and writes nothing; after a run nothing differs, nor after two."""
    before = snapshot(firefox)
    looked = run(firefox, "--check", expected=1)
    assert snapshot(firefox) == before
    assert "missing     taskcluster/config.yml: IOB\n" in looked.stdout
    assert f"missing     {KIND}\n" in looked.stdout
    assert looked.stderr.splitlines() == [
        f"Comparing {firefox} with {ROOT} (checkout)",
        f"{len(looked.stdout.splitlines())} places to change; nothing was written",
    ]
    written = run(firefox)
    assert written.stdout == looked.stdout.replace("missing ", "added   ")
    assert "Written, not committed; next, in the checkout: ./mach try fuzzy" in written.stderr
    after = snapshot(firefox)
    again = run(firefox)
    assert (again.stdout, again.stderr.splitlines()[-1]) == ("", "Nothing differs")
    assert run(firefox, "--check").stdout == ""
    assert snapshot(firefox) == after


def test_diff_is_a_patch(firefox, tmp_path):
    """git applies what --diff prints, and the result is what a run writes."""
    config = firefox / "taskcluster/config.yml"
    config.write_bytes(config.read_bytes().replace(b"\n", b"\r\n"))
    kinds = firefox / "taskcluster/docs/kinds.md"
    kinds.write_bytes(kinds.read_bytes().rstrip())
    before = snapshot(firefox)
    patch = subprocess.run(
        [*program.PROGRAM, "firefox", firefox, "--diff"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    assert snapshot(firefox) == before
    patched = tmp_path / "patched"
    shutil.copytree(firefox, patched)
    subprocess.run(["git", "init", "--quiet"], cwd=patched, check=True)
    subprocess.run(
        ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn"],
        cwd=patched,
        input=patch,
        check=True,
    )
    shutil.rmtree(patched / ".git")
    run(firefox)
    assert snapshot(patched) == snapshot(firefox)
    assert run(firefox, "--diff", "--check").stdout == ""


def test_edited_there(firefox):
    """What was edited there is named and stays, until --force replaces it."""
    run(firefox)
    kind = firefox / KIND
    ours = kind.read_text()
    theirs = ours.replace("retrieves: 2000", "retrieves: 5")
    kind.write_text(theirs)
    refused = run(firefox, expected=1)
    assert refused.stdout == f"differs     {KIND}\n"
    assert refused.stderr.splitlines()[-1] == (
        f"error: {firefox}: 1 place edited there or from another version, so nothing was written; "
        "look at --diff, then use --force to replace the contents"
    )
    assert kind.read_text() == theirs
    assert run(firefox, "--check", expected=1).stdout == f"differs     {KIND}\n"
    diff = run(firefox, "--diff").stdout.splitlines()
    assert "-        retrieves: 5" in diff
    assert "+        retrieves: 2000" in diff
    assert run(firefox, "--force").stdout == f"overwritten {KIND}\n"
    assert kind.read_text() == ours


def test_stat(firefox):
    """--diff --stat counts what --diff shows: files, and lines added and removed."""
    patch = run(firefox, "--diff").stdout.splitlines()
    rows = run(firefox, "--diff", "--stat").stdout.splitlines()
    added = sum(line.startswith("+") and not line.startswith("+++ ") for line in patch)
    removed = sum(line.startswith("-") and not line.startswith("--- ") for line in patch)
    files = sum(line.startswith("+++ ") for line in patch)
    assert rows[-1].split() == [str(added), "+", str(removed), "-", str(files), "files"]
    assert [row.split()[-1] for row in rows[:-1]] == [
        line.removeprefix("+++ b/") for line in patch if line.startswith("+++ ")
    ]
    assert "error: --stat needs --diff; use both" in (run(firefox, "--stat", expected=2).stderr)


def test_size(firefox):
    """What a reviewer there gets: one kind, one module of transforms, one folder, two edits."""
    rows = [row.split() for row in run(firefox, "--diff", "--stat").stdout.splitlines()]
    lines = {row[-1]: int(row[0]) for row in rows[:-1]}
    others = {path: count for path, count in lines.items() if not path.startswith(f"{SCRIPT}/")}
    assert set(others) == {KIND, TRANSFORMS, CONFIG, "taskcluster/docs/kinds.md"}
    assert others[KIND] <= 80
    # 345 until it compressed the script itself (deflate.py), so that all machines make the same bytes.
    assert others[TRANSFORMS] <= 500


def test_size_of_all(firefox):
    """All of it together is short enough to be reviewed as one patch."""
    whole = run(firefox, "--diff", "--stat").stdout.splitlines()[-1].split()
    # 3,000 until the script read what its processes spend (accounting.py), 3,200 until it tried
    # what a difference goes away with (trials.py), 3,750 until it profiled commands (measure.py), 4,350
    # until it ran on other CI systems (ci.py) and was compressed, 4,950 until it kept a second run from
    # writing over a result.
    assert int(whole[0]) <= 5_000


def test_workloads(firefox):
    """--workloads adds them with their modules; an unknown one is a line with the known ones."""
    run(firefox, "--workloads", "exec,spawn")
    assert (firefox / SCRIPT / "workloads/exec.py").is_file()
    assert "workloads: [cache-retrieve, exec, spawn]" in (firefox / KIND).read_text()
    assert run(firefox, "--workloads", "exec,spawn", "--check").stdout == ""
    assert f"extra       {SCRIPT}/workloads/exec.py\n" in (
        run(firefox, "--check", expected=1).stdout
    )
    refused = run(firefox, "--workloads", "exe", expected=1)
    assert "'exe' is unknown; did you mean exec?" in refused.stderr


def test_json(firefox):
    """--json says the same for programs."""
    run(firefox)
    (firefox / KIND).unlink()
    places = [{"path": KIND, "entry": None, "state": "missing"}]
    looked = run(firefox, "--check", "--json", expected=1).stdout
    assert json.loads(looked) == {"version": 2, "written": False, "places": places}
    written = run(firefox, "--json").stdout
    assert json.loads(written) == {"version": 2, "written": True, "places": places}


def test_no_checkout(tmp_path):
    """A folder that is none is a mistake in usage, named with the file that is missing."""
    done = run(tmp_path, expected=2)
    assert done.stderr == (
        f"error: {tmp_path}: is not a Firefox checkout: taskcluster/config.yml is missing; name "
        "the folder that contains mach\n"
    )


def test_from_the_bundled_copy(firefox, tmp_path):
    """Without a checkout of this project around, the installed copy gives the same bytes."""
    package = tmp_path / "installed/io_benchmark"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "python/io_benchmark", package, ignore=ignored)
    for part in ("taskcluster", "scripts/io-benchmark", "python/io_benchmark_taskgraph"):
        shutil.copytree(ROOT / part, package / "bundle" / part, ignore=ignored)
    other = tmp_path / "other"
    shutil.copytree(firefox, other)
    done = subprocess.run(
        [*program.PROGRAM, "firefox", "."],
        cwd=other,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(package.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"Comparing {other} with {package}/bundle (bundled copy)" in done.stderr
    run(firefox)
    assert snapshot(other) == snapshot(firefox)


def test_documentation():
    """The page has every option, and every folder that the command puts files into."""
    page = (ROOT / "taskcluster/docs/firefox.md").read_text()
    options = [entry for group in command.OPTIONS.values() for entry in group]
    names = [entry.title for entry in options if entry.title.startswith("-")]
    assert [name for name in names if f"`{name}" not in page] == []
    known = (KIND, TRANSFORMS, SCRIPT, CONFIG)
    assert [path for path in known if f"`{path}" not in page] == []
