# SPDX-License-Identifier: MPL-2.0
"""Copies of the stand-in for a Firefox checkout (its README says what it is), and of this project."""

import functools
import shutil
from pathlib import Path

import pytest
from checkout import ROOT, copy_checkout

from io_benchmark.firefox.checkout import Checkout
from io_benchmark.firefox.kind import FirefoxKind
from io_benchmark.graph.root import Root

HERE = Path(__file__).parent
OWN_ROOT = Root(ROOT, "checkout")


def copy_firefox(target, *, older_docs=False):
    """A checkout with pages in Markdown, or in reStructuredText as older branches have them."""
    shutil.copytree(HERE / "checkout", target, ignore=shutil.ignore_patterns("__pycache__"))
    if older_docs:
        docs = target / "taskcluster/docs"
        for page in (HERE / "older_docs").iterdir():
            (docs / page.name).write_bytes(page.read_bytes())
            (docs / page.with_suffix(".md").name).unlink()
    return target


def snapshot(folder):
    """Every file by its path, with its bytes and its mode."""
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mode)
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@functools.cache
def kind_of(root, workloads=()):
    """As its sources are at the first call."""
    return FirefoxKind.of(root, workloads)


def install(folder, root=OWN_ROOT, workloads=()):
    """What the command does; returns the changed paths."""
    checkout = Checkout.open(folder)
    changes = checkout.installing(kind_of(root, workloads))
    checkout.write(changes)
    return [change.path for change in changes]


def remove(folder, root=OWN_ROOT):
    """What the command does with --remove."""
    checkout = Checkout.open(folder)
    changes = checkout.removing(kind_of(root))
    checkout.write(changes)
    return [change.path for change in changes]


@pytest.fixture(params=[pytest.param(False, id="markdown"), pytest.param(True, id="rst")])
def firefox(tmp_path, request):
    """Once with pages in each form."""
    return copy_firefox(tmp_path / "firefox", older_docs=request.param)


@pytest.fixture
def other_version(tmp_path):
    """A copy of this project that a test may change, as a later or earlier version of it."""
    return Root(copy_checkout(tmp_path / "io-benchmark"), "--root")
