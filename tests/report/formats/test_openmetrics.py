# SPDX-License-Identifier: MPL-2.0
"""OpenMetrics of all pools, by the grammar of its specification (version 1.0)."""

import re
from collections.abc import Mapping
from typing import NamedTuple

import pytest
import sample_fleet
from msgspec.structs import replace

from io_benchmark.analysis.fleet.figures import FIGURES
from io_benchmark.analysis.fleet.fleet_model import Fleet
from io_benchmark.report.formats import openmetrics, rendered

NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*"
# An escaped string: a backslash only before a backslash, a quote or an n; no quote, no line feed.
ESCAPED = r'(?:[^\n"\\]|\\["\\n])*'
LABEL = rf'([a-zA-Z_][a-zA-Z0-9_]*)="({ESCAPED})"'
NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|[iI]nf|NaN)"
SAMPLE = re.compile(rf"({NAME})\{{({LABEL}(?:,{LABEL})*)\}} ({NUMBER})")
DESCRIPTION = re.compile(rf"# (TYPE|UNIT|HELP) ({NAME}) (.+)")


class Family(NamedTuple):
    described: dict[str, str]
    samples: dict[tuple[tuple[str, str], ...], float]


def parsed(text: str) -> dict[str, Family]:
    """Return the families by name; fail on what the specification does not allow."""
    *lines, end, nothing = text.split("\n")
    assert (end, nothing) == ("# EOF", "")
    families: dict[str, Family] = {}
    current = ""
    for line in lines:
        description = DESCRIPTION.fullmatch(line)
        if description is not None:
            kind, name, words = description.groups()
            if name != current:
                assert name not in families, f"{name} is interleaved"
                assert kind == "TYPE"
                families[name], current = Family({}, {}), name
            family = families[name]
            assert kind not in family.described
            assert not family.samples
            assert re.fullmatch(r"(?:[^\n\\]|\\[\\n\"])*", words)
            family.described[kind] = words
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample is not None, line
        family = families[current]
        suffix = "_info" if family.described["TYPE"] == "info" else ""
        assert sample[1] == current + suffix
        labels = tuple(re.findall(LABEL, sample[2]))
        assert len(dict(labels)) == len(labels)
        assert tuple(sorted(labels)) not in {tuple(sorted(before)) for before in family.samples}
        family.samples[labels] = float(sample[sample.re.groups])
    for name, family in families.items():
        unit = family.described.get("UNIT", "")
        assert not unit or name.endswith(f"_{unit}")
        assert family.samples
    return families


def values(fleet: Fleet, name: str, **labels: str) -> list[float]:
    """The samples with these labels."""
    family = parsed(rendered(fleet, "openmetrics"))[f"io_benchmark_pool{name}"]
    return [
        value for pairs, value in family.samples.items() if labels.items() <= dict(pairs).items()
    ]


@pytest.mark.parametrize(
    "make",
    [
        sample_fleet.ordinary,
        sample_fleet.predicted,
        sample_fleet.many,
        sample_fleet.hostile,
        sample_fleet.nothing,
    ],
)
def test_grammar(make) -> None:
    """Every text is valid, also with hostile names and without any pool."""
    families = parsed(rendered(make(), "openmetrics"))
    assert bool(families) is bool(make().pools)


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("_write_bytes_per_second", {"pool": "intel-30"}, 1200 * 1024**2),
        ("_low_write_bytes_per_second", {"pool": "intel-30"}, 1152 * 1024**2),
        ("_retrieve_seconds", {"pool": "intel-30"}, 0.07),
        ("_flush_seconds", {"pool": "intel-30"}, 35e-6),
        ("_cpus", {"pool": "intel-30"}, 30),
        ("_best_rank", {"pool": "amd-16", "figure": "write"}, 4),
        ("_worst_rank", {"pool": "amd-16", "figure": "write"}, 5),
        ("_hour_cost", {"pool": "amd-16", "currency": "USD"}, 0.9),
        ("_change_ratio", {"pool": "amd-16", "figure": "write", "since": "2026-11-02"}, 1.25),
        ("_alerts", {"pool": "amd-16"}, 1),
        ("_alerts", {"pool": "amd-16-spot"}, 0),
        ("_workers", {"pool": "hardware"}, 1),
        ("_last_measured_timestamp_seconds", {"pool": "amd-16"}, 1795305600),
        ("", {"pool": "amd-16", "machine_types": "c3d-standard-16-lssd"}, 1),
    ],
)
def test_samples(name: str, labels: Mapping[str, str], expected: float) -> None:
    """A number is in its base unit, with the pool that it is of."""
    assert values(sample_fleet.ordinary(), name, **labels) == [pytest.approx(expected)]


def test_predictions() -> None:
    """A profiled task has its seconds and its cost on each pool that has a prediction."""
    assert values(sample_fleet.predicted(), "_predicted_seconds", pool="intel-30") == [900]
    assert len(values(sample_fleet.predicted(), "_predicted_cost")) == 5


def test_what_is_not_known() -> None:
    """It has no sample: a value without a rank, a pool without a price."""
    assert values(sample_fleet.ordinary(), "_best_rank", pool="hardware") == []
    assert values(sample_fleet.ordinary(), "_hour_cost", pool="hardware") == []


def test_escapes() -> None:
    """A quote, a backslash and markup are in the label as they are in the name."""
    fleet = sample_fleet.ordinary()
    pool = replace(fleet.pools[0], pool='a"b\\c\nd')
    text = rendered(replace(fleet, pools=(pool,)), "openmetrics")
    assert r'io_benchmark_pool_workers{pool="a\"b\\c d"} 12' in text
    assert openmetrics._escaped("\n") == r"\n"


def test_every_unit_is_known() -> None:
    """No figure is published without its unit."""
    assert {figure.unit for figure in FIGURES} == set(openmetrics._UNITS)
