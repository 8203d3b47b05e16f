# SPDX-License-Identifier: MPL-2.0
"""tests/lint.py: all linters with one exit code."""

import subprocess
import sys

import pytest
from checkout import ROOT

# With other linters.
RUN = """\
import runpy, sys
main = runpy.run_path(sys.argv[1])["main"]
main.__globals__["LINTERS"] = eval(sys.argv[2])
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("linters", "code", "last"),
    [
        ('((".", ("true",)),)', 0, "$ true"),
        (
            '((".", ("false",)), ("tests", ("test", "-f", "lint.py")))',
            1,
            "linters that found something: false",
        ),
    ],
)
def test_exit_code(linters, code, last):
    """All of them run, each in its folder; one that fails makes the run fail, and is named."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, ROOT / "tests/lint.py", linters],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.splitlines()[-1] == last
    assert done.stdout.count("$ ") == linters.count('", (')
