# SPDX-License-Identifier: MPL-2.0
"""Kinds that taskgraph loads in several threads of one process."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
import voluptuous

from io_benchmark_taskgraph import report_file
from io_benchmark_taskgraph.mistakes import BadKeyError, checked
from io_benchmark_taskgraph.stanza import SCHEMA, Benchmark
from io_benchmark_taskgraph.transforms import gate, measure, report

from .whole_graph import PARAMS, STAGES, VERSION, graph, run_python

THREADS = 8
STANZAS = [
    (SCHEMA, {"workloads": ["cache-retrieve"], "retrieves": 1}),
    (SCHEMA, {"workloads": ["cache-retrieve"], "retrieves": 0}),
    (SCHEMA, {"workloads": [], "places": [{"name": "x", "path": "y"}], "unknown": 1}),
    (report.SCHEMA, {"margin": "2%", "prices": {"currency": "USD", "prices": {"a": 1}}}),
    (report.SCHEMA, {"prices": {"currency": "usd", "prices": {}}}),
    (gate.SCHEMA, {"pairs": {"a-alpha": "a"}}),
    (gate.SCHEMA, {"pairs": {"a": "a"}}),
    (measure.SCHEMA, {"measure": "a/b"}),
]


def answer(case):
    schema, stanza = case
    try:
        return checked(schema, stanza, "stanza")
    except BadKeyError as error:
        return str(error)


def test_schemas_are_compiled_at_import(monkeypatch):
    """Because voluptuous compiles in a way in which two threads disturb each other."""

    def refuse(*_arguments):
        raise AssertionError("compiled when it is used")

    monkeypatch.setattr(voluptuous.Schema, "_compile", refuse)
    assert all(map(answer, STANZAS))
    assert Benchmark.parse(STANZAS[0][1]).retrieves == 1
    comparison = {"confirming": {"paces": [], "reasons": []}, "replication": [], "workers": []}
    assert report_file.checked(comparison) == comparison


def test_stanzas_in_threads():
    """Each thread gets the answers that one alone gets."""
    expected = [answer(case) for case in STANZAS]
    with ThreadPoolExecutor(THREADS) as executor:
        cases = [case for case in STANZAS for _ in range(THREADS)]
        answers = list(executor.map(answer, cases))
    assert answers == [each for each in expected for _ in range(THREADS)]


@pytest.mark.skipif(
    VERSION < (24, 5) and not hasattr(os, "process_cpu_count"),
    reason="older versions of taskgraph use threads with Python >= 3.13 alone",
)
def test_kinds_in_threads():
    """The same tasks as by one process per kind."""
    environment = {**os.environ, "TASKGRAPH_USE_THREADS": "1"}
    done = run_python(STAGES, str(PARAMS / "try-all.yml"), env=environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(json.loads(done.stdout)["full"]) == graph("full", "try-all")
