# SPDX-License-Identifier: MPL-2.0
"""The pages of taskcluster/docs/ say what there is."""

import re

import pytest
import yaml
from taskgraph.parameters import base_schema

from io_benchmark_taskgraph import stanza
from io_benchmark_taskgraph.parameters import _IoBenchmarkParameters
from io_benchmark_taskgraph.transforms import report

from .conftest import KIND, REPOSITORY

DOCS = REPOSITORY / "taskcluster" / "docs"


def titles(page):
    return re.findall(r"^## (.+)$", (DOCS / page).read_text(), re.MULTILINE)


def table(head):
    """Return the first cells of a table of the page of kinds."""
    _, is_there, rows = (DOCS / "kinds.md").read_text().partition(head)
    assert is_there
    return re.findall(r"^\| `(\S+)` \|", rows.partition("\n\n")[0], re.MULTILINE)


def test_lists():
    """Every kind, pool, key, file, parameter and attribute is on its page, in the same order."""
    kinds = sorted(path.parent.name for path in KIND.parent.glob("*/kind.yml"))
    assert titles("kinds.md") == kinds
    kind = yaml.safe_load((KIND / "kind.yml").read_text())
    rows = re.findall(
        r"^\| `([\w-]+)` \| `([\w-]+)` \|", (DOCS / "kinds.md").read_text(), re.MULTILINE
    )
    assert rows == [(name, task["worker-type"]) for name, task in kind["tasks"].items()]
    assert table("| key | meaning | default |") == [*map(str, stanza.SCHEMA.schema)]
    assert table("| key of `report` | meaning |") == [*map(str, report.SCHEMA.schema)]
    files = [f"public/{path}" for path in report.FILES.values()]
    assert table("| artifact | content |") == files
    assert titles("parameters.md") == list(_IoBenchmarkParameters.__struct_fields__)
    attributes = kind["task-defaults"]["attributes"]
    assert titles("attributes.md") == sorted([*attributes, "io_benchmark_pool"])


@pytest.mark.parametrize("path", sorted((REPOSITORY / "taskcluster/test/params").glob("*.yml")))
def test_parameter_files_are_complete(path):
    """Each holds every parameter, none by default, and revisions that stay text."""
    values = yaml.safe_load(path.read_text())
    own = set(_IoBenchmarkParameters.__struct_fields__)
    optional = {"code-review"}
    assert set(values) | optional == {*base_schema.__struct_encode_fields__, *own}
    for key in ("head_rev", "base_rev"):
        assert re.fullmatch("[0-9a-f]{40}", values[key])
        assert f'\n{key}: "' in path.read_text()
