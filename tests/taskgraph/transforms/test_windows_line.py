# SPDX-License-Identifier: MPL-2.0
"""Words of a line that cmd.exe reads, and the mounted file that the line starts.

The file is not Windows' own: here Python starts it as a worker's Python would.
"""

import subprocess
import sys

import pytest
from user_mistakes import mistake

from io_benchmark_taskgraph.transforms.windows_line import LONGEST, check, url_word, word
from io_benchmark_taskgraph.worker_program import WorkerProgram

MAIN = """\
import os, sys
SCRIPT_VERSION = "1.2"

if sys.argv[1] == "measure" and sys.argv[2:] != ["--help"]:
    os._exit(os.spawnvp(os.P_WAIT, "sh", sys.argv[sys.argv.index("--") + 1 :]))
print(sys.argv, __name__, flush=True)
os._exit(0 if sys.argv[1] == "measure" else 5)
"""
# As shells take them: prints `done` and ends with 3.
COMMAND = ["sh", "-c", "echo done; exit 3"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--pace=${IO_BENCHMARK_PACE:-}", ...),
        ("D:/x-1+2", ...),
        ("/api/index/v1/task/a.b", ...),
        ("a b", '"a b"'),
        ("a%20b%", '"a%%20b%%"'),
        ("a&b|c>d<e^f(g)", '"a&b|c>d<e^f(g)"'),
        ('a"b\\', '"a_b_"'),
        ("ä", '"_"'),
        ("", '""'),
    ],
)
def test_words(text, expected):
    """What cmd.exe would change is in quotes, and what would end those is replaced."""
    assert word(text) == (text if expected is ... else expected)


def test_a_url():
    """Its quotes and backslashes become their escapes, whose percent signs are doubled."""
    assert url_word('https://a/b"c\\') == '"https://a/b%%22c%%5C"'
    assert url_word("https://a/b") == "https://a/b"


def test_the_longest_line():
    """One more character is refused; commands that are lists are no lines."""
    check("x" * LONGEST)
    check(["x" * (LONGEST + 1)])
    assert mistake(check, "x" * (LONGEST + 1)) == (
        "run.command: the command has 8,192 characters, and cmd.exe takes 8,191; shorten it, or "
        "put it into a file"
    )


def start(folder, mounted, *arguments, current=None, **environment):
    """Start the mounted file in the task's folder, which is not always the current one."""
    file = folder / "io-benchmark.py"
    file.write_text(mounted)
    return subprocess.run(
        [sys.executable, str(file), *arguments],
        cwd=current or folder,
        env={"PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def program():
    return WorkerProgram({"__main__.py": MAIN}).embedded("bench")


def test_a_run(tmp_path, program):
    """The program is started as the file in the task's folder, with its arguments; so it ends."""
    done = start(tmp_path, program.starting("run"), program.sha256, "run", "--pool", "a b")
    arguments = [str(tmp_path / "io-benchmark.pyz"), "run", "--pool", "a b"]
    assert (done.returncode, done.stdout, done.stderr) == (5, f"{arguments} __main__\n", "")
    assert (tmp_path / "io-benchmark.pyz").read_bytes() == program.data


@pytest.mark.parametrize("damage", ["sha256", "content", "folder"])
def test_a_run_that_cannot_be_unpacked(tmp_path, program, damage):
    """Nothing is started, and Treeherder gets a line with the pool and the reason."""
    sha256, mounted = program.sha256, program.starting("run")
    if damage == "sha256":
        sha256 = "0" * 64
    elif damage == "content":
        mounted = mounted.replace(program.argument, program.argument[:100])
    else:
        (tmp_path / "io-benchmark.pyz").mkdir()
    done = start(tmp_path, mounted, sha256, "run", "--pool", "win")
    assert (done.returncode, done.stdout) == (1, "")
    line = f"TEST-UNEXPECTED-FAIL | win | cannot unpack {tmp_path}/io-benchmark.pyz: "
    assert done.stderr.startswith(line)
    assert len(done.stderr.splitlines()) == 1


def test_the_line_of_a_failure_is_not_in_the_file(program):
    """A worker logs the file's text, which Treeherder must not take for a failure."""
    assert "TEST-UNEXPECTED" not in program.starting("run")


MEASURE = ("measure", "--label", "x", "--", *COMMAND)


@pytest.mark.parametrize("damage", [None, "sha256", "folder", "start"])
def test_a_profiled_command(tmp_path, program, damage):
    """The command runs in its own folder, with its own code, also where the program cannot start.

    The folder of the profile is there in any case: without it the task would fail.
    """
    sha256, current = program.sha256, tmp_path / "checkout"
    current.mkdir()
    if damage == "sha256":
        sha256 = "0" * 64
    elif damage == "folder":
        (tmp_path / "io-benchmark.pyz").mkdir()
    elif damage == "start":
        broken = MAIN.replace("import os, sys", "import os, sys, missing_module")
        program = WorkerProgram({"__main__.py": broken}).embedded("bench")
        sha256 = program.sha256
    done = start(tmp_path, program.starting("measure"), sha256, *MEASURE, current=current)
    assert (done.returncode, done.stdout) == (3, "done\n")
    assert ("the command has no profile\n" in done.stderr) == (damage is not None)
    assert (tmp_path / "artifacts/io-benchmark").is_dir()
    assert list(current.iterdir()) == []


def test_where_a_profile_is(tmp_path, program):
    """Tests set the folder of artifacts; where it cannot be made, the command runs."""
    (tmp_path / "file").touch()
    variables = {"IO_BENCHMARK_ARTIFACTS": str(tmp_path / "file")}
    done = start(tmp_path, program.starting("measure"), program.sha256, *MEASURE, **variables)
    assert (done.returncode, done.stdout) == (3, "done\n")
    assert "the command has no profile\n" in done.stderr
