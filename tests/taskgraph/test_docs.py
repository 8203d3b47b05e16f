# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The pages of taskcluster/docs/ say what there is."""

import json
import re

import pytest
import yaml
from taskgraph.decision import try_task_config_schema_v2
from taskgraph.parameters import base_schema
from taskgraph.util.schema import validate_schema

from io_benchmark_taskgraph import overrides, parameters, report_command, report_stanza, stanza

from .conftest import KIND, REPOSITORY

DOCS = REPOSITORY / "taskcluster" / "docs"


def titles(page):
    return re.findall(r"^## (.+)$", (DOCS / page).read_text(), re.MULTILINE)


def test_kinds():
    """Every kind has its title, as Firefox's tree wants too."""
    kinds = sorted(path.parent.name for path in KIND.parent.glob("*/kind.yml"))
    assert titles("kinds.md") == kinds


def test_pools():
    """Every pool is in the table, with its worker type."""
    tasks = yaml.safe_load((KIND / "kind.yml").read_text())["tasks"]
    rows = re.findall(
        r"^\| `([\w-]+)` \| `([\w-]+)` \|", (DOCS / "kinds.md").read_text(), re.MULTILINE
    )
    assert rows == [(name, task["worker-type"]) for name, task in tasks.items()]


def test_keys():
    """Every key of the stanza is in its table, in the schema's order."""
    table = (DOCS / "kinds.md").read_text().partition("| key | meaning | default |")[2]
    table = table.partition("\n\n")[0]
    assert re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE) == list(stanza.KEYS)


def test_keys_of_the_report():
    """The same for the report's."""
    table = (DOCS / "kinds.md").read_text().partition("| key of `report` | meaning |")[2]
    table = table.partition("\n\n")[0]
    assert re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE) == list(report_stanza.KEYS)


def test_files_of_the_report():
    """Each file that it publishes is in the table, in the command's order."""
    files = [f"public/{path}" for path in report_command.FILES.values()]
    table = (DOCS / "kinds.md").read_text().partition("| artifact | what |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\S+)` \|", table, re.MULTILINE) == files


def test_parameters():
    """Every parameter that is the project's own."""
    assert titles("parameters.md") == list(parameters.SCHEMA.__struct_fields__)


def test_attributes():
    """Every attribute that kind.yml or a transform sets."""
    defaults = yaml.safe_load((KIND / "kind.yml").read_text())["task-defaults"]
    assert titles("attributes.md") == sorted([*defaults["attributes"], "io_benchmark_pool"])


@pytest.mark.parametrize("path", sorted((REPOSITORY / "taskcluster/test/params").glob("*.yml")))
def test_parameter_files_are_complete(path):
    """Each holds every parameter, none by default, and revisions that stay text."""
    values = yaml.safe_load(path.read_text())
    own = set(parameters.SCHEMA.__struct_fields__)
    optional = {"code-review"}
    assert set(values) | optional == {*base_schema.__struct_encode_fields__, *own}
    for key in ("head_rev", "base_rev"):
        assert re.fullmatch("[0-9a-f]{40}", values[key])
        assert f'\n{key}: "' in path.read_text()


@pytest.mark.parametrize(
    ("page", "asked_for"),
    [
        pytest.param("replicates.md", (6, None), id="replicates"),
        pytest.param("perfherder.md", (6, "neutral"), id="perfherder"),
    ],
)
def test_try_task_config(page, asked_for):
    """The example is one that taskgraph takes, and asks for what the page says."""
    text = (DOCS / page).read_text()
    (example,) = re.findall(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    config = json.loads(example)
    assert config.pop("version") == 2
    validate_schema(try_task_config_schema_v2, config, page)
    given = config["parameters"]
    assert (overrides.replicates(given), overrides.perfherder(given)) == asked_for
    known = {*base_schema.__struct_encode_fields__, *parameters.SCHEMA.__struct_fields__}
    assert set(given) <= known
