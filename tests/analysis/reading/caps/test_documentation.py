# SPDX-License-Identifier: MPL-2.0
"""The page about disks has the figures of the tables."""

import re

import pytest
from checkout import ROOT
from disk_caps import boot_cap, rates_in

from io_benchmark.analysis.model.pool_machine import NetworkDisk
from io_benchmark.analysis.reading.caps import price_per_month
from io_benchmark.analysis.reading.caps.limits import MB, MIB

PAGE = (ROOT / "taskcluster/docs/disks.md").read_text(encoding="utf-8")
GIB = {"32 GiB": 32, "128 GiB": 128, "512 GiB": 512, "1 TiB": 1024}


def row_of(kind: str) -> list[str]:
    """The cells of the first row of a kind, after its name."""
    match = re.search(rf"^\| `{kind}`[^|]*\|(.*)\|$", PAGE, re.MULTILINE)
    assert match is not None
    return [cell.strip() for cell in match[1].split("|")]


@pytest.mark.parametrize("kind", ["pd-standard", "pd-balanced", "pd-ssd", "hyperdisk-balanced"])
def test_rates_of_google(kind: str) -> None:
    """A baseline, and what a GiB adds: by disks of 200 and 300 GiB."""
    machine_type = "c4d-standard-96" if kind.startswith("hyperdisk") else "n2-standard-64"
    small, large = (
        rates_in(MIB, boot_cap("google", machine_type, NetworkDisk(kind, size)).of_disk)
        for size in (200, 300)
    )
    assert small is not None
    assert large is not None
    steps = [((b or 0) - (a or 0)) / 100 for a, b in zip(small, large, strict=True)]
    bases = [(a or 0) - 200 * step for a, step in zip(small, steps, strict=True)]
    iops = " and ".join(dict.fromkeys(f"{step:g}" for step in steps[:2]))
    assert row_of(kind) == [f"{bases[3]:g}", f"{steps[3]:g}", f"{bases[0]:,.0f}", iops]


@pytest.mark.parametrize(
    ("kind", "unit"),
    [("Premium_LRS", MB), ("StandardSSD_LRS", MIB), ("Standard_LRS", MB), ("PremiumV2_LRS", MB)],
)
def test_rates_of_azure(kind: str, unit: float) -> None:
    """Megabytes or mebibytes per second, by the size."""
    rates = [boot_cap("azure", "D96ads_v5", NetworkDisk(kind, gib)).of_disk for gib in GIB.values()]
    assert [cell.split()[0] for cell in row_of(kind)[:4]] == [
        f"{(rate.write_bytes_per_s or 0) / unit:g}" for rate in rates
    ]
    assert row_of(kind)[0].split()[1] == ("MiB/s" if unit == MIB else "MB/s")


@pytest.mark.parametrize(
    ("cloud", "kind", "size_gib", "words"),
    [
        ("google", "pd-standard", 1, "`pd-standard` {:.2f}"),
        ("google", "pd-balanced", 1, "`pd-balanced` {:.2f}"),
        ("google", "pd-ssd", 1, "`pd-ssd` {:.2f}"),
        ("amazon", "gp2", 1, "`gp2` {:.2f}"),
        ("amazon", "gp3", 1, "`gp3` {:.2f}"),
        ("amazon", "io1", 1, "`io1` and `io2` {:.3f}"),
        ("amazon", "io2", 1, "`io1` and `io2` {:.3f}"),
        ("amazon", "st1", 1, "`st1` {:.3f}"),
        ("azure", "Premium_LRS", 32, "P4 {:.2f}"),
        ("azure", "Premium_LRS", 128, "P10 {:.2f}"),
        ("azure", "StandardSSD_LRS", 32, "E4 {:.2f}"),
        ("azure", "StandardSSD_LRS", 1024, "E30 {:.2f}"),
        ("azure", "Standard_LRS", 32, "S4 {:.2f}"),
        ("azure", "Standard_LRS", 128, "S10 {:.2f}"),
    ],
)
def test_prices(cloud: str, kind: str, size_gib: float, words: str) -> None:
    """Of a GiB, and of Azure's sizes."""
    price = price_per_month(cloud, NetworkDisk(kind, size_gib))
    assert price is not None
    assert words.format(price.amount_per_month) in PAGE


def test_the_page_is_short() -> None:
    """It is a summary: the tables are in the code."""
    assert len(PAGE.splitlines()) < 150
