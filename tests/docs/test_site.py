# SPDX-License-Identifier: MPL-2.0
"""The documentation as a site: what it loads, and its first page."""

import re
from typing import Any

import pytest
import yaml
from checkout import ROOT

INDEX = ROOT / "taskcluster/docs/index.md"


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    made: dict[str, Any] = yaml.safe_load((ROOT / ".github/site/mkdocs.yml").read_text())
    return made


def test_it_fetches_nothing_from_elsewhere(settings: dict[str, Any]) -> None:
    """The theme asks api.github.com about a repository that it knows, and Google for fonts."""
    assert "repo_url" not in settings
    assert settings["theme"]["font"] is False
    assert {"extra_css", "extra_javascript"}.isdisjoint(settings)


def test_it_is_dark_where_the_reader_is(settings: dict[str, Any]) -> None:
    """It follows the system, and has a switch."""
    palette = settings["theme"]["palette"]
    assert {entry["media"]: entry["scheme"] for entry in palette} == {
        "(prefers-color-scheme: light)": "default",
        "(prefers-color-scheme: dark)": "slate",
    }
    assert all(entry["toggle"] for entry in palette)


def test_every_page_is_in_the_navigation(settings: dict[str, Any]) -> None:
    """The index, and each page once."""
    named = re.findall(r"[a-z-]+\.md", str(settings["nav"]))
    assert sorted(named) == sorted(path.name for path in INDEX.parent.glob("*.md"))


def test_the_first_page() -> None:
    """Above its first table are a picture of a report, and lines that install the command."""
    top = INDEX.read_text().partition("\n|")[0]
    (picture,) = re.findall(r"!\[[^]]+\]\(([^)]+)\)", top)
    assert (INDEX.parent / picture).is_file()
    assert "bin/pip install 'io-benchmark[all]==1.0.0'\n" in top
