# SPDX-License-Identifier: MPL-2.0
"""Copies of the stand-in for a Firefox checkout (see its README), and of this project."""

import functools

import pytest
from checkout import copy_checkout, copy_firefox

from io_benchmark.adopt import firefox_release
from io_benchmark.graph.root import Root


@pytest.fixture(autouse=True, scope="session")
def one_report_program():
    """Its archive is the same in all tests, and takes a while to make."""
    with pytest.MonkeyPatch.context() as patch:
        function = functools.cache(firefox_release.report_program)
        patch.setattr(firefox_release, "report_program", function)
        yield


@pytest.fixture
def firefox(tmp_path):
    return copy_firefox(tmp_path / "firefox")


@pytest.fixture
def other_version(tmp_path):
    """A copy of this project that a test may change, as a later or earlier version of it."""
    return Root(copy_checkout(tmp_path / "io-benchmark"), "--root")
