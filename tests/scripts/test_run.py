# SPDX-License-Identifier: MPL-2.0
"""tests/run.py: some runs of pytest with one exit code."""

import runpy

import pytest
from checkout import ROOT

RUN = runpy.run_path(str(ROOT / "tests/run.py"))


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ([0, 0], 0),
        ([0, 5], 0),  # no test was chosen in one of them
        ([5, 0], 0),
        ([5, 5], 5),
        ([1, 0], 1),
        ([0, 1], 1),
        ([5, 1], 1),
        ([2], 2),
        ([4, 1], 4),  # the first failure counts
    ],
)
def test_merged(codes, expected):
    """A failure in any run fails; finding no test fails only when all found none."""
    assert RUN["merged"](codes) == expected


def test_files_with_a_mark():
    """Files whose tests have the mark are among them, but none that is run by hand alone."""
    serial, container = map(RUN["files_with"], ("serial", "container"))
    assert {str(ROOT / "tests/lab/test_stripes.py")} < set(serial)
    assert {path.rpartition("/")[0] for path in container} == {str(ROOT / "tests/container")}
