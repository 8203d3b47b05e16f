# SPDX-License-Identifier: MPL-2.0
"""Copies of the project's own tree to change."""

import pytest

from io_benchmark.graph.root import Root

from .trees import KIND, copy_tree


@pytest.fixture
def tree(tmp_path):
    """A root whose files may be changed."""
    return Root(copy_tree(tmp_path / "tree"), "--root")


@pytest.fixture
def change(tree):
    """Replace a text that a file of the tree holds once."""

    def replace(old, new, path=KIND):
        file = tree.path / path
        text = file.read_text()
        assert text.count(old) == 1
        file.write_text(text.replace(old, new))

    return replace
