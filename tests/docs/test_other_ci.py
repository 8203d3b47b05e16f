# SPDX-License-Identifier: MPL-2.0
"""The pipelines of other-ci.md: schemas accept them, and the programs take their commands."""

import re
import shlex
from pathlib import Path

import program
import pytest
import settings
from check_jsonschema import main as check_jsonschema  # type: ignore[import-untyped]
from checkout import ROOT
from click.testing import CliRunner

PAGE = ROOT / "taskcluster/docs/other-ci.md"
# Those that Jenkins does not publish.
SCHEMAS = {
    "GitHub Actions": ("vendor.github-workflows",),
    "GitLab": ("vendor.gitlab-ci", "--data-transform", "gitlab-ci"),
    "Buildkite": ("vendor.buildkite",),
    "Azure Pipelines": ("vendor.azure-pipelines", "--data-transform", "azure-pipelines"),
    "CircleCI": ("vendor.circle-ci",),
}
PIPELINES = dict(
    re.findall(
        r"^### ([\w ]+)$[^`]*(?:`[^`]+`[^`]*)*?^```(?:yaml|groovy)$\n(.*?)^```$",
        PAGE.read_text(),
        re.MULTILINE | re.DOTALL,
    )
)
# Of a shell, and of Buildkite.
VARIABLE = re.compile(r"\$+\w+|\{\{[\w.]+\}\}")
RELEASE = re.compile(
    r"curl .*/releases/download/v([\d.]+)/io-benchmark\.pyz\n"
    r' *(?:- )?echo "SHA256  io-benchmark\.pyz" \| sha256sum --check --quiet\n'
    r" *(?:- )?python3 io-benchmark\.pyz"
)
REPORT = ("html", Path("report.html"))


def test_every_pipeline_is_tested() -> None:
    """The page has these and no others."""
    assert sorted(PIPELINES) == sorted((*SCHEMAS, "Jenkins"))
    assert len(re.findall(r"^```(?:yaml|groovy)$", PAGE.read_text(), re.MULTILINE)) == 6


@pytest.mark.parametrize("system", SCHEMAS)
def test_the_schema_accepts_it(tmp_path: Path, system: str) -> None:
    """The pipeline is what its system's published schema describes."""
    path = tmp_path / "pipeline.yml"
    path.write_text(PIPELINES[system])
    done = CliRunner().invoke(check_jsonschema, ["--builtin-schema", *SCHEMAS[system], str(path)])
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("system", PIPELINES)
def test_both_programs_take_its_commands(system: str) -> None:
    """A full run of a release's file, which is checked first; a comparison by the same version."""
    text = VARIABLE.sub("x", PIPELINES[system])
    (measure,) = re.findall(r"python3 io-benchmark\.pyz (run .+)", text)
    (compare,) = re.findall(r"\bio-benchmark compare ([^>|'\n]+)", text)
    measured = settings.parse(shlex.split(measure), ["cache-retrieve"])
    compared = program.parse("compare", *shlex.split(compare))
    assert measured.profile == "full"
    assert (compared["partial"], compared["write"]) == (True, [REPORT])
    assert RELEASE.findall(PIPELINES[system]) == ["1.0.0"]
    assert "pip install io-benchmark==1.0.0\n" in PIPELINES[system]
