# SPDX-License-Identifier: MPL-2.0
"""Copies of the stand-in for a Firefox checkout (see its README), and of this project."""

import functools

import pytest
from checkout import ROOT, copy_checkout, copy_firefox

from io_benchmark.adopt.firefox_checkout import Checkout
from io_benchmark.adopt.firefox_kind import FirefoxKind
from io_benchmark.graph.root import Root

OWN_ROOT = Root(ROOT, "checkout")


@functools.cache
def kind_of(root, is_embedded=False):
    """Read each tree once."""
    return FirefoxKind.of(root, {}, is_embedded)


def snapshot(folder):
    """Return bytes and mode of every file by its path."""
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mode)
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def install(folder, is_embedded=False):
    """Do what the command does; return the changed paths."""
    checkout = Checkout.open(folder)
    changes = checkout.changes(kind_of(OWN_ROOT, is_embedded=is_embedded))
    checkout.write(changes)
    return [change.path for change in changes]


@pytest.fixture
def firefox(tmp_path):
    return copy_firefox(tmp_path / "firefox")


@pytest.fixture
def other_version(tmp_path):
    """A copy of this project that a test may change, as a later or earlier version of it."""
    return Root(copy_checkout(tmp_path / "io-benchmark"), "--root")
