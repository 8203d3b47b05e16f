# SPDX-License-Identifier: MPL-2.0
"""tests/run.py: some runs of pytest with one exit code."""

import importlib.util

import pytest
from checkout import ROOT


@pytest.fixture(scope="module")
def run():
    """The module, which no package holds."""
    spec = importlib.util.spec_from_file_location("tests_run", ROOT / "tests/run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
def test_merged(run, codes, expected):
    """A failure in any run fails; finding no test fails only when all found none."""
    assert run.merged(codes) == expected


def test_files_with_a_mark(run):
    """Files whose tests have the mark are among them, but none that is run by hand alone."""
    assert str(ROOT / "tests/lab/test_stripes.py") in run.files_with("serial")
    assert str(ROOT / "tests/script/test_real_storage.py") in run.files_with("serial")
    folders = {path.rpartition("/")[0] for path in run.files_with("container")}
    assert folders == {str(ROOT / "tests/container")}
