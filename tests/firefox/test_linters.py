# SPDX-License-Identifier: MPL-2.0
"""Firefox's linters leave what is installed as it is.

Release branches format with black, 88 columns; main with `ruff format` and preview. Their pages are
checked by markdownlint's rules.
"""

import re
import subprocess
import sys

import pytest
from checkout import ROOT
from markdown_it import MarkdownIt

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


def test_ruff_check(firefox):
    """Errors, names and the order of imports; the length of lines is the formatter's matter."""
    run(
        firefox, "ruff", "check", "--isolated", "--quiet", "--select", "E,W,F,I", "--ignore", "E501"
    )


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


def bare_urls(text):
    """MD034: an address in the text that is neither a link, code nor in angle brackets."""
    found = []
    for token in MarkdownIt().parse(text):
        depth = 0
        for child in token.children or []:
            depth += (child.type == "link_open") - (child.type == "link_close")
            if child.type == "text" and not depth:
                found += re.findall(r"https?://\S+", child.content)
    return found


def test_bare_urls(firefox):
    """MD034 holds for the sections that are put there."""
    assert bare_urls("see https://x.example/ and <https://y/> and `https://z`") == [
        "https://x.example/"
    ]
    assert bare_urls((firefox / "taskcluster/docs/kinds.md").read_text()) == []
