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


def copy_firefox(target):
    """The stand-in for a checkout."""
    return Path(
        shutil.copytree(HERE / "checkout", target, ignore=shutil.ignore_patterns("__pycache__"))
    )


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


@pytest.fixture
def firefox(tmp_path):
    return copy_firefox(tmp_path / "firefox")


@pytest.fixture
def other_version(tmp_path):
    """A copy of this project that a test may change, as a later or earlier version of it."""
    return Root(copy_checkout(tmp_path / "io-benchmark"), "--root")
