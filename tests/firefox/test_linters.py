# SPDX-License-Identifier: MPL-2.0
"""Firefox's linters leave what is installed as it is.

Release branches format with black, 88 columns; main with `ruff format` and preview. Their pages are
checked by markdownlint's rules.
"""

import subprocess
import sys

import pytest
from checkout import ROOT

from io_benchmark.firefox.kind import KIND, TRANSFORMS

from .conftest import copy_firefox, install


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    """A checkout with the kind."""
    folder = copy_firefox(tmp_path_factory.mktemp("linters") / "firefox")
    install(folder)
    return folder


def run(firefox, *command):
    done = subprocess.run(
        [sys.executable, "-m", *command, TRANSFORMS],
        cwd=firefox,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff_format(firefox):
    """As on Firefox's main branch."""
    run(firefox, "ruff", "format", "--isolated", "--check", "--preview", "--line-length", "88")


def test_yamllint(firefox):
    """The kind's file: the same rules as for this project's own, and Firefox's comment's width."""
    done = subprocess.run(
        [sys.executable, "-m", "yamllint", "--strict", "-c", ROOT / ".yamllint.yml", KIND],
        cwd=firefox,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
