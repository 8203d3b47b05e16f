# SPDX-License-Identifier: MPL-2.0
"""A deployment on the loopback, and the program submit on it; a module chooses its `deployment`."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache

import program
import pytest
from checkout import ROOT
from loopback import Loopback
from loopback_deployment import Deployment
from submitted_tasks import submitter

from io_benchmark.graph.generate import GeneratedTask, generate
from io_benchmark.graph.root import Root


@pytest.fixture
def loopback(deployment: Deployment) -> Iterator[Loopback]:
    with Loopback(deployment) as running:
        yield running


@pytest.fixture
def call(loopback: Loopback) -> Callable[..., tuple[int, str, str]]:
    """Return what calls submit, and returns its exit code, stdout and stderr."""

    def submit(*arguments: str) -> tuple[int, str, str]:
        variables = submitter(loopback)
        done = program.run("submit", *arguments, folder=ROOT, expected=None, environment=variables)
        assert "secret-token" not in done.stderr + done.stdout
        return done.exit_code, done.stdout, done.stderr

    return submit


@cache
def _generate_once(root: Root, *jobs: str, capacities: bool) -> list[GeneratedTask]:
    return generate(root, jobs, capacities=capacities)


@pytest.fixture(autouse=True)
def _remembered_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """Generate the same tasks of a tree once: no test of a command changes the tree."""

    def remembered(
        root: Root, jobs: Sequence[str], *, capacities: bool = False
    ) -> list[GeneratedTask]:
        return _generate_once(root, *jobs, capacities=capacities)

    for module in ("operations.rehearse", "operations.submit"):
        monkeypatch.setattr(f"io_benchmark.{module}.generate", remembered)
