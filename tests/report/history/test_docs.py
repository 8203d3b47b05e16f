# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""taskcluster/docs/history.md: its examples are what the command writes."""

import re

import pytest
from checkout import ROOT
from golden_histories import GOLDEN

DOCUMENT = (ROOT / "taskcluster/docs/history.md").read_text()
EXAMPLES = re.findall(r"^```text\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)


def test_there_are_three():
    """The answer, the drawing, and what changed."""
    assert len(EXAMPLES) == 3


@pytest.mark.parametrize("at", range(3))
def test_example(at):
    """The example is a piece of a golden file."""
    assert EXAMPLES[at] in (GOLDEN / "one-change-80-columns.txt").read_text()
