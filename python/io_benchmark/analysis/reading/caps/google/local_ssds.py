# SPDX-License-Identifier: MPL-2.0
"""Google's local SSDs: their number decides what they write together."""

from collections.abc import Mapping

from io_benchmark.analysis.reading.caps.cloud import Series
from io_benchmark.analysis.reading.caps.google.machine_types import MachineType
from io_benchmark.analysis.reading.caps.limits import MIB, LocalCap, Rates, Source

_SOURCE = Source("https://docs.cloud.google.com/compute/docs/disks/local-ssd", "2026-04-14")
_TOO_FEW_CPUS = Source(_SOURCE.address, _SOURCE.date, is_certain=False)

_Row = tuple[int, int, int, int]
_FOUR: _Row = (680000, 360000, 2650, 1400)
# NVMe disks of 375 GiB. By their number: IOPS of reads and of writes, MiB/s of both.
_STANDARD: Mapping[int, _Row] = {
    1: (170000, 90000, 660, 350),
    2: (340000, 180000, 1320, 700),
    3: (510000, 270000, 1980, 1050),
    4: _FOUR,
    5: _FOUR,
    6: _FOUR,
    7: _FOUR,
    8: _FOUR,
    16: (1600000, 800000, 6240, 3120),
    24: (2400000, 1200000, 9360, 4680),
    32: (3200000, 1600000, 12480, 6240),
}
_STANDARD_SERIES = ("n1", "n2", "n2d", "c2", "c2d", "c3", "c3d", "a2", "g2")
# Fewer virtual CPUs may not reach the figures.
_CPUS_THAT_REACH_THEM = {"n1": 32, "n2": 24, "n2d": 24, "a2": 24}

# Titanium SSDs: the same per disk, and how many disks a machine may have.
_TITANIUM: Mapping[str, tuple[_Row, tuple[int, ...]]] = {
    "c4": ((150000, 75000, 625, 330), (1, 2, 4, 5, 8, 16, 24, 32, 48)),
    "c4d": ((150000, 75000, 625, 330), (1, 2, 4, 6, 8, 16, 32)),
    "c4a": ((150000, 75000, 650, 330), (1, 2, 4, 6, 10, 14, 16)),
    "z3": ((750000, 500000, 3000, 2500), (1, 2, 3, 4, 6, 12)),
}

_C4D_DISKS = {"8": 1, "16": 1, "32": 2, "48": 4, "64": 6, "96": 8, "192": 16, "384": 32}
_C3D_DISKS = {"8": 1, "16": 1, "30": 2, "60": 4, "90": 8, "180": 16, "360": 32}
_C4A_DISKS = {"4": 1, "8": 2, "16": 4, "32": 6, "48": 10, "64": 14, "72": 16}
_C4_DISKS = {"4": 1, "8": 1, "16": 2, "24": 4, "32": 5, "48": 8, "96": 16, "144": 24, "192": 32}
SERIES = (
    Series(
        "(c3-standard-)([0-9]+)(-lssd)", {"4": 1, "8": 2, "22": 4, "44": 8, "88": 16, "176": 32}
    ),
    Series("(c3d-[a-z]+-)([0-9]+)(-lssd)", _C3D_DISKS),
    Series("(c4-[a-z]+-)([0-9]+)(-lssd)", {**_C4_DISKS, "288": 48}),
    Series("(c4a-[a-z]+-)([0-9]+)(-lssd)", _C4A_DISKS),
    Series("(c4d-[a-z]+-)([0-9]+)(-lssd)", _C4D_DISKS),
    Series("(z3-[a-z]+-)([0-9]+)(-standardlssd)", {"14": 1, "22": 2, "44": 3, "88": 6, "176": 12}),
    Series(
        "(z3-[a-z]+-)([0-9]+)(-highlssd)", {"8": 1, "16": 2, "22": 3, "32": 4, "44": 6, "88": 12}
    ),
)


def _all_rows(series: str) -> Mapping[int, _Row]:
    if series in _STANDARD_SERIES:
        return _STANDARD
    if series not in _TITANIUM:
        return {}
    (read_iops, write_iops, read, write), counts = _TITANIUM[series]
    return {
        disks: (disks * read_iops, disks * write_iops, disks * read, disks * write)
        for disks in counts
    }


# By the series, then by the number of disks: MiB/s that all write together.
WRITE_CAPS: Mapping[str, Mapping[int, int]] = {
    series: {disks: write for disks, (*_, write) in _all_rows(series).items()}
    for series in (*_STANDARD_SERIES, *_TITANIUM)
}
USUAL_WRITE_CAPS = WRITE_CAPS["n2"]


def local_ssd_cap(name: str, disks: int | None) -> LocalCap | None:
    """Return the caps of a machine type's local SSDs; without a number, of those it comes with."""
    machine = MachineType.parse(name)
    if machine is None:
        return None
    if disks is None:
        counts = [series.disks_of(name) for series in SERIES]
        disks = next((count for count in counts if count is not None), None)
    row = None if disks is None else _all_rows(machine.series).get(disks)
    if disks is None or row is None:
        return None
    needed_cpus = _CPUS_THAT_REACH_THEM.get(machine.series, 0)
    # A name that does not say how many CPUs it has may have too few.
    has_too_few = needed_cpus > (machine.cpus or 0)
    return LocalCap(
        disks=disks,
        rates=Rates.from_row(row, MIB),
        sources=(_TOO_FEW_CPUS if has_too_few else _SOURCE,),
    )
