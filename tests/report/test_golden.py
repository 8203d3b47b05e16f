# SPDX-License-Identifier: MPL-2.0
"""Whole outputs are those of files that somebody has looked at.

`python tests/helpers/golden.py` writes the files; look at what changed.
"""

import json

import pytest
from golden import FOLDER, golden_outputs, read_sections, schemas

OUTPUTS = golden_outputs()


@pytest.mark.parametrize(
    ("file", "section"), [(file, section) for file in OUTPUTS for section in OUTPUTS[file]]
)
def test_output(file, section):
    """The output is the section's text."""
    assert OUTPUTS[file][section]() == read_sections(file)[section]


def test_nothing_is_left_over():
    """Every file and every section has an output."""
    assert {path.name for path in FOLDER.iterdir()} == set(OUTPUTS)
    assert {file: list(read_sections(file)) for file in OUTPUTS} == {
        file: list(sections) for file, sections in OUTPUTS.items()
    }


@pytest.mark.parametrize("path", schemas(), ids=lambda path: path.name)
def test_schema_is_published(path):
    """The published schema is that of the classes which are written."""
    assert json.loads(path.read_text()) == schemas()[path]
