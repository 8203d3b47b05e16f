# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Whole outputs, held against files that were looked at.

`python tests/helpers/golden_histories.py` writes them anew; look at what changed.
"""

import pytest
from golden_histories import GOLDEN, golden_outputs

OUTPUTS = golden_outputs()


@pytest.mark.parametrize("name", OUTPUTS)
def test_output(name):
    """The output is the file's, byte for byte."""
    assert OUTPUTS[name]().encode() == (GOLDEN / name).read_bytes()


def test_no_file_is_left_over():
    """Every golden file is one that a test reads."""
    assert {path.name for path in GOLDEN.iterdir()} == set(OUTPUTS)


@pytest.mark.parametrize("name", [name for name in OUTPUTS if name.endswith("-columns.txt")])
def test_width(name):
    """No line is wider than the terminal, and none ends in spaces."""
    columns = int(name.removesuffix("-columns.txt").rpartition("-")[2])
    lines = (GOLDEN / name).read_text().splitlines()
    assert [line for line in lines if len(line) > columns or line != line.rstrip()] == []
