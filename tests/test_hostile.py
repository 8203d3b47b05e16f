# SPDX-License-Identifier: MPL-2.0
"""Results come from anyone's task: thousands of broken ones, and none gives a traceback."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from io_benchmark import results
from io_benchmark.analysis.compare import compare
from io_benchmark.analysis.comparing.pairs import Options
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.reading.intake import worker_of
from io_benchmark.errors import ResultError
from io_benchmark.report.formats import FORMATS, rendered
from io_benchmark.sources.run_results import RunResult

ALL = Path(__file__).parent / "fixtures" / "result-v2-all.json"
MUTATIONS, SHORT = 10_000, 900  # all of them under --long
STEP = 15  # of those that are accepted, so many are shown: thirteen measurements take long
# How many entries and samples each workload has: enough for every rule, and soon shown.
ENTRIES, SAMPLES = 2, 8
# What a hostile task would write instead of a value.
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    1,
    -1,
    10**9,
    2**63 - 1,
    2**63,
    10**40,
    0.5,
    -1e308,
    "",
    "7",
    "a" * 9000,
    "<script>alert(1)</script>",
    "\x1b[31mred\x1b[0m\x07",
    "\u202eevil\u2066",
    "[link](https://example.com) @someone | **x**",
    "{{ 7 * 7 }} {% raw %}",
    "../../etc/passwd",
    [],
    {},
    [[[]]],
    [0] * 100,
    [None],
    {"": {"": ""}},
    {"<b>": 1},
)
RAW = (b"NaN", b"Infinity", b"1e999", b"-", b"\xff", b'"', b"[" * 3000, b"}", b"\\u0000")


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every key and position in a document."""
    paths = [path] if path else []
    if isinstance(value, list):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        for key, inner in value.items():
            paths += places(inner, (*path, key))
    return paths


def of_every_workload() -> dict[str, Any]:
    """The real file, each workload's first entries with their first samples."""
    document = json.loads(ALL.read_bytes())
    kept: list[dict[str, Any]] = []
    for entry in document["workloads"]:
        if sum(earlier["name"] == entry["name"] for earlier in kept) < ENTRIES:
            entry["samples"] = {key: values[:SAMPLES] for key, values in entry["samples"].items()}
            kept.append(entry)
    document["workloads"] = kept
    return dict(document)


def mutated(generator: random.Random, original: bytes, paths: list[tuple[Any, ...]]) -> bytes:
    """Bytes cut or put in, or up to three values of the document replaced."""
    if generator.random() < 0.3:
        position = generator.randrange(len(original))
        put = generator.choice((b"", generator.choice(RAW), generator.randbytes(4)))
        return original[:position] + put + original[position + generator.randrange(30) :]
    document = json.loads(original)
    for _ in range(generator.randint(1, 3)):
        *parents, last = generator.choice(paths)
        inner = document
        try:
            for key in parents:
                inner = inner[key]
            alike = [value for value in VALUES if type(value) is type(inner[last])]
            # A value of the right type may get through the reader, and then meets all the rest.
            inner[last] = generator.choice(alike if alike and generator.random() < 0.7 else VALUES)
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took it away
    return json.dumps(document).encode()


@pytest.mark.filterwarnings("error")
def test_mutations_give_no_traceback(request):
    """Each is refused in one printable line, or read, compared and shown in every format."""
    mutations = MUTATIONS if request.config.getoption("--long") else SHORT
    generator, document = random.Random(20261121), of_every_workload()
    original = json.dumps(document, indent=1).encode()
    paths = places(document)
    document["task"]["pool"] = "baseline"
    baseline = RunResult(results.parse(json.dumps(document).encode(), "b"), None, "b")
    refused = accepted = 0
    for number in range(mutations):
        data = mutated(generator, original, paths)
        try:
            result = results.parse(data, "a")
        except ResultError as error:
            assert str(error).isprintable()  # noqa: PT017 - most are refused, none must crash
            refused += 1
            continue
        accepted += 1
        if accepted % STEP:
            continue  # the whole way for some of them
        candidate = RunResult(result, None, "a")
        workers = [worker_of(baseline, "baseline"), worker_of(candidate, f"{candidate.pool}!")]
        report = compare(Plan.of_pools((w.side for w in workers), "baseline"), workers, Options())
        for form in FORMATS:
            content = rendered(report, form)
            assert "\x1b" not in content, number
            if form == "html":
                assert "<script>alert" not in content, number
    assert refused > mutations / 3
    assert accepted > mutations / 10
