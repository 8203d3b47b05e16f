# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""tests/run.py: two runs of pytest with one exit code."""

import importlib.util
import sys

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
        pytest.param([0, 0], 0, id="all passed"),
        pytest.param([0, 5], 0, id="no serial test chosen"),
        pytest.param([5, 0], 0, id="no parallel test chosen"),
        pytest.param([5, 5], 5, id="no test chosen at all"),
        pytest.param([1, 0], 1, id="a parallel test failed"),
        pytest.param([0, 1], 1, id="a serial test failed"),
        pytest.param([5, 1], 1, id="the only chosen test failed"),
        pytest.param([2], 2, id="interrupted"),
        pytest.param([4, 1], 4, id="the first failure counts"),
    ],
)
def test_merged(run, codes, expected):
    """A failure in either run fails; finding no test fails only when both found none."""
    assert run.merged(codes) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param([], ["parallel", "serial"], id="none"),
        pytest.param(["-k", "name"], ["parallel", "serial"], id="others"),
        pytest.param(["-m", "root"], ["plain"], id="-m"),
        pytest.param(["-mroot"], ["plain"], id="-m without a space"),
    ],
)
def test_parts(run, arguments, expected):
    """A caller's own `-m` would be overruled by the parts' ones, so there are none then."""
    names = {run.PARALLEL: "parallel", run.SERIAL: "serial", (): "plain"}
    assert [names[part] for part in run.parts(arguments)] == expected


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        pytest.param({"parallel": 0, "serial": 0}, ["parallel", "serial"], id="both"),
        pytest.param({"parallel": 1, "serial": 0}, ["parallel", "serial"], id="after a failure"),
        pytest.param({"parallel": 2, "serial": 0}, ["parallel"], id="interrupted"),
    ],
)
def test_main_runs(run, monkeypatch, codes, expected):
    """The serial part runs after failures too, but not after Ctrl-C."""
    seen = []

    def fake(options, _arguments):
        seen.append({run.PARALLEL: "parallel", run.SERIAL: "serial"}[options])
        return codes[seen[-1]]

    monkeypatch.setattr(run, "run", fake)
    monkeypatch.setattr(run.signal, "signal", lambda *_: None)
    run.main([])
    assert seen == expected


def test_run_ended_by_a_signal(run, monkeypatch, tmp_path):
    """A pytest that a signal ended counts as interrupted."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nkill -9 $$\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    assert run.run((), []) == run.INTERRUPTED
