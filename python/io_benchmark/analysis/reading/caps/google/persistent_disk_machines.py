# SPDX-License-Identifier: MPL-2.0
"""What all persistent disks of one kind do together at most, by the machine that they are on."""

from io_benchmark.analysis.reading.caps.google.machine_types import MachineType
from io_benchmark.analysis.reading.caps.limits import MIB, Rates, Source

_FOLDER = "GoogleCloudPlatform/gcpdiag:gcpdiag/runbook/gce/disk_performance_benchmark"
_DATE = "2024-08-21"

CpuRows = tuple[tuple[int, int | None, int, int, int, int], ...]
# By the number of virtual CPUs, from and to: IOPS of reads and of writes, MiB/s of both.
_STANDARD_N: CpuRows = (
    (1, 7, 3000, 15000, 240, 240),
    (8, 15, 5000, 15000, 800, 400),
    (16, None, 7500, 15000, 1200, 400),
)
_STANDARD_N1: CpuRows = ((1, 1, 3000, 15000, 240, 204), *_STANDARD_N)
_BALANCED_N1: CpuRows = (
    (1, 1, 15000, 15000, 240, 204),
    (2, 7, 15000, 15000, 240, 240),
    (8, 15, 15000, 15000, 800, 800),
    (16, 31, 20000, 20000, 1200, 1200),
    (32, 63, 50000, 50000, 1200, 1200),
    (64, None, 100000, 100000, 1200, 1200),
)
_BALANCED_N2: CpuRows = (
    (1, 7, 15000, 15000, 240, 240),
    (8, 15, 15000, 15000, 800, 800),
    (16, 31, 20000, 20000, 1200, 1200),
    (32, 63, 50000, 50000, 1200, 1200),
    (64, None, 80000, 80000, 1200, 1200),
)
_SSD_N2: CpuRows = (
    (1, 7, 15000, 15000, 240, 240),
    (8, 15, 15000, 15000, 800, 800),
    (16, 31, 25000, 25000, 1200, 1200),
    (32, 63, 60000, 60000, 1200, 1200),
    (64, None, 100000, 100000, 1200, 1200),
)
_N2 = {"pd-standard": _STANDARD_N, "pd-balanced": _BALANCED_N2, "pd-ssd": _SSD_N2}
_C3D: CpuRows = (
    (4, 4, 15000, 15000, 240, 240),
    (8, 8, 25000, 25000, 800, 800),
    (16, 16, 25000, 25000, 1200, 1200),
    (30, 30, 50000, 50000, 1200, 1200),
    (60, 90, 80000, 80000, 1200, 1200),
    (180, 360, 80000, 80000, 2200, 2200),
)
_C2D: CpuRows = (
    (2, 8, 4080, 4590, 245, 245),
    (16, 16, 8160, 4590, 326, 245),
    (32, 56, 15300, 8160, 612, 245),
    (112, 112, 30600, 15300, 1224, 408),
)
_T2A: CpuRows = (
    (1, 1, 20000, 20000, 240, 204),
    (2, 7, 20000, 20000, 240, 240),
    (8, 15, 25000, 25000, 800, 800),
    (16, 31, 25000, 25000, 1200, 1200),
    (32, 47, 60000, 60000, 1200, 1200),
    (48, 48, 80000, 80000, 1800, 1800),
)
_BY_CPUS: dict[str, dict[str, CpuRows]] = {
    "n1": {"pd-standard": _STANDARD_N1, "pd-balanced": _BALANCED_N1, "pd-ssd": _BALANCED_N1},
    "n2": _N2,
    "n2d": _N2,
    "c2": {
        "pd-standard": (
            (4, 16, 3000, 4000, 240, 240),
            (30, 30, 3000, 8000, 240, 240),
            (60, 60, 3000, 15000, 240, 240),
        ),
        "pd-balanced": (
            (4, 8, 4000, 4000, 240, 240),
            (16, 16, 8000, 4000, 600, 480),
            (30, 30, 15000, 8000, 600, 480),
            (60, 60, 15000, 15000, 1200, 800),
        ),
        "pd-ssd": (
            (4, 8, 4000, 4000, 240, 240),
            (16, 16, 8000, 4000, 600, 480),
            (30, 30, 15000, 8000, 600, 480),
            (60, 60, 30000, 15000, 1200, 800),
        ),
    },
    "c2d": {
        "pd-standard": (
            (2, 16, 3060, 4590, 245, 245),
            (32, 56, 3060, 8160, 245, 245),
            (112, 112, 3060, 15300, 245, 245),
        ),
        "pd-balanced": _C2D,
        "pd-ssd": _C2D,
    },
    "c3": {
        "pd-balanced": (
            (4, 8, 15000, 15000, 240, 240),
            (22, 22, 20000, 20000, 800, 800),
            (44, 44, 50000, 50000, 1200, 1200),
            (88, 176, 80000, 80000, 1200, 1200),
        ),
        "pd-ssd": (
            (4, 8, 15000, 15000, 240, 240),
            (22, 22, 25000, 25000, 800, 800),
            (44, 44, 60000, 60000, 1200, 1200),
            (88, 176, 80000, 80000, 1200, 1200),
        ),
    },
    "c3d": {"pd-balanced": _C3D, "pd-ssd": _C3D},
    "e2": {
        "pd-standard": (
            (2, 7, 3000, 15000, 240, 240),
            (8, 15, 5000, 15000, 800, 400),
            (16, None, 7500, 15000, 1200, 400),
        ),
        "pd-balanced": (
            (2, 7, 15000, 15000, 240, 240),
            (8, 15, 15000, 15000, 800, 800),
            (16, 31, 20000, 20000, 1200, 1000),
            (32, None, 50000, 50000, 1200, 1000),
        ),
        "pd-ssd": (
            (2, 7, 15000, 15000, 240, 240),
            (8, 15, 15000, 15000, 800, 800),
            (16, 31, 25000, 25000, 1200, 1000),
            (32, None, 60000, 60000, 1200, 1000),
        ),
    },
    "g2": {
        "pd-balanced": (
            (4, 4, 15000, 15000, 240, 240),
            (8, 12, 15000, 15000, 800, 800),
            (16, 24, 20000, 20000, 1200, 1200),
            (32, 48, 50000, 50000, 1200, 1200),
            (96, 96, 80000, 80000, 1200, 1200),
        ),
        "pd-ssd": (
            (4, 4, 15000, 15000, 240, 240),
            (8, 12, 15000, 15000, 800, 800),
            (16, 24, 25000, 25000, 1200, 1200),
            (32, 48, 60000, 60000, 1200, 1200),
            (96, 96, 100000, 100000, 1200, 1200),
        ),
    },
    "t2d": {
        "pd-standard": _STANDARD_N1,
        "pd-balanced": (*_BALANCED_N1[:4], (32, 60, 50000, 50000, 1200, 1200)),
        "pd-ssd": (
            *_BALANCED_N1[:3],
            (16, 31, 25000, 25000, 1200, 1200),
            (32, 60, 60000, 60000, 1200, 1200),
        ),
    },
    "t2a": {
        "pd-standard": (
            (1, 1, 1000, 15000, 240, 204),
            (2, 3, 2400, 15000, 240, 240),
            (4, 7, 3000, 15000, 240, 240),
            (8, 15, 5000, 15000, 800, 400),
            (16, None, 7500, 15000, 1200, 400),
        ),
        "pd-balanced": _T2A,
        "pd-ssd": _T2A,
    },
}
# IOPS of reads and of writes, MiB/s of both.
_SHARED_CORES = {
    "g1-small": {
        "pd-standard": (3000, 15000, 240, 204),
        "pd-balanced": (15000, 15000, 240, 204),
        "pd-ssd": (15000, 15000, 240, 204),
    },
    "e2-medium": {
        "pd-standard": (1000, 10000, 200, 200),
        "pd-balanced": (12000, 10000, 200, 200),
        "pd-ssd": (12000, 10000, 200, 200),
    },
}


def machine_source(machine: MachineType) -> Source:
    return Source(f"{_FOLDER}/{machine.series[0]}-family.json", _DATE)


def has_machine_rates(machine: MachineType, kind: str) -> bool:
    """Return whether disks of a kind are published for the series, or none are for it."""
    return kind in _BY_CPUS.get(machine.series, {kind})


def machine_rates(machine: MachineType, kind: str) -> Rates | None:
    """Return the most of all disks of this kind together; None: not published."""
    if machine.name in _SHARED_CORES:
        return Rates.from_row(_SHARED_CORES[machine.name][kind], MIB)
    cpus = machine.cpus
    if cpus is None:
        return None
    for first, last, *row in _BY_CPUS.get(machine.series, {}).get(kind, ()):
        if first <= cpus and (last is None or cpus <= last):
            return Rates.from_row(row, MIB)
    return None
