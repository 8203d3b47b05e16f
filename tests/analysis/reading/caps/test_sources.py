# SPDX-License-Identifier: MPL-2.0
"""Every figure of a table has a source that a reader can open, and the tables cost no time."""

import re
import sys
import time
from collections.abc import Iterator, Mapping
from math import fsum
from typing import Any

import pytest
from disk_caps import machine_with
from msgspec.structs import astuple

from io_benchmark.analysis.model.pool_machine import NetworkDisk
from io_benchmark.analysis.reading.caps import (
    CLOUDS,
    candidates,
    local_ssd_cap,
    network_cap,
    price_per_month,
)
from io_benchmark.analysis.reading.caps.cloud import Series
from io_benchmark.analysis.reading.caps.google.machine_types import DEFAULT_KINDS, MachineType
from io_benchmark.analysis.reading.caps.google.persistent_disk_machines import machine_source
from io_benchmark.analysis.reading.caps.limits import Rates, Source
from io_benchmark.analysis.reading.caps.network import DiskKind

ROOM = "io_benchmark.analysis.reading.caps"
# An address, or a file of a repository on GitHub.
OPENABLE = re.compile(r"https://[\w.-]+/\S+|[\w.-]+/[\w.-]+:[\w./-]+\.\w+")
DATE = re.compile(r"20[12][0-9]-[01][0-9]-[0-3][0-9]")


def sources_in(value: Any) -> Iterator[Source]:
    """Yield the sources in the tables of a module."""
    if isinstance(value, Source):
        yield value
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from sources_in(entry)
    elif isinstance(value, tuple | list):
        for entry in value:
            yield from sources_in(entry)


def all_sources() -> list[Source]:
    modules = [module for name, module in sys.modules.items() if name.startswith(ROOM)]
    tables = {source for module in modules for source in sources_in(tuple(vars(module).values()))}
    machines = (MachineType(f"{series}-x", series, 4) for series in DEFAULT_KINDS)
    return sorted({*tables, *map(machine_source, machines)}, key=lambda source: source.address)


def test_sources_are_found() -> None:
    """Each cloud's tables have some."""
    addresses = " ".join(source.address for source in all_sources())
    assert len(all_sources()) > 30
    for word in (
        "gcpdiag",
        "cloud.google.com",
        "awsdocs",
        "MicrosoftDocs",
        "scylladb",
        "infracost",
    ):
        assert word in addresses


@pytest.mark.parametrize("source", all_sources(), ids=lambda source: source.address[-60:])
def test_a_source_can_be_opened(source: Source) -> None:
    """It is an address or a file of a repository, as it was on a day, where the day is known."""
    assert OPENABLE.fullmatch(source.address)
    assert source.date == "" or DATE.fullmatch(source.date)


def figures_in(value: Any) -> Iterator[float]:
    """Yield the numbers in the tables of a module."""
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, Mapping):
        yield from figures_in((*value.keys(), *value.values()))
    elif isinstance(value, tuple | list):
        for entry in value:
            yield from figures_in(entry)
    elif isinstance(value, DiskKind | Rates | Series):
        yield from figures_in(astuple(value))


# By the module: how many figures its tables have, and their sum.
FIGURES = {
    "amazon.instance_stores": (421, 128754508.0),
    "amazon.instances": (670, 24569000.0),
    "amazon.network_disks": (46, 2753617948.65),
    "amazon.volumes": (63, 2759357363.0),
    "azure.managed_disks": (276, 642789053.0),
    "azure.network_disks": (30, 24591.62),
    "azure.vm_sizes": (555, 27252472.709),
    "google.hyperdisk": (97, 14158657527.0),
    "google.local_ssds": (467, 22044901.0),
    "google.machine_types": (81, 4163.0),
    "google.network_disks": (3, 0.31),
    "google.persistent_disk_machines": (1131, 12504692.0),
    "google.persistent_disks": (182, 26202781.13),
}


def test_figures_are_those_of_the_sources() -> None:
    """A row is changed together with its source's date, and with the sum of its module here."""
    figures = {}
    for name in FIGURES:
        constants = vars(sys.modules[f"{ROOM}.{name}"]).items()
        numbers = [*figures_in([value for key, value in constants if key.isupper()])]
        figures[name] = (len(numbers), round(fsum(numbers), 3))
    assert figures == FIGURES


SAMPLES = (
    ("google", "n2-standard-8", NetworkDisk("", 75)),
    ("google", "c4d-standard-8", NetworkDisk("", 75)),
    ("amazon", "m5d.metal", NetworkDisk("gp2", 75)),
    ("amazon", "c7i.large", NetworkDisk("gp3")),
    ("azure", "D8ads_v5", NetworkDisk("Premium_LRS", 127)),
    ("azure", "F8s_v2", NetworkDisk("", 75, is_ephemeral=True)),
)


@pytest.mark.parametrize(("cloud", "machine_type", "disk"), SAMPLES)
def test_each_cap_names_its_sources(cloud: str, machine_type: str, disk: NetworkDisk) -> None:
    """Of the disk, and of the machine where that has a limit."""
    cap = network_cap(machine_with(cloud, machine_type, disk), disk)
    assert cap is not None
    assert len(cap.sources) >= (1 if cap.of_machine is None else 2)
    local, price = local_ssd_cap("m5d.metal"), price_per_month(cloud, cap.disk)
    assert local is not None
    assert local.sources
    assert price is None or price.source in all_sources()


def test_the_tables_cost_no_time() -> None:
    """All candidates of a measured rate take a few milliseconds, also for a hostile name."""
    start = time.perf_counter()
    for cloud, machine_type, _ in SAMPLES:
        candidates(cloud, machine_type, 1e8)
        candidates(cloud, machine_type * 100_000, 1e8)
    assert time.perf_counter() - start < 1
    assert len(CLOUDS) == 3
