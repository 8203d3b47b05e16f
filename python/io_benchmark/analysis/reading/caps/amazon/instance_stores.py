# SPDX-License-Identifier: MPL-2.0
"""The disks of Amazon's instances: operations are published, bytes were measured by others."""

from io_benchmark.analysis.reading.caps.limits import MIB, LocalCap, Rates, Source

_GUIDE = "awsdocs/amazon-ec2-user-guide:doc_source"
_DATE = "2023-05-11"
_COMPUTE = Source(f"{_GUIDE}/compute-optimized-instances.md", _DATE)
_GENERAL = Source(f"{_GUIDE}/general-purpose-instances.md", _DATE)
_STORAGE = Source(f"{_GUIDE}/storage-optimized-instances.md", _DATE)
_MEASURED = Source(
    "scylladb/scylla-machine-image:common/aws_io_params.yaml", "2025-10-22", is_certain=False
)

# By the size: disks; IOPS of reads and of writes of all; MiB/s of both as measured of each disk.
_Rows = dict[str, tuple[int, int, int, int | None, int | None]]

_C5D: _Rows = {
    "large": (1, 20000, 9000, 100, 40),
    "xlarge": (1, 40000, 18000, 203, 80),
    "2xlarge": (1, 80000, 37000, 407, 166),
    "4xlarge": (1, 175000, 75000, 885, 336),
    "9xlarge": (1, 350000, 170000, 1779, 759),
    "12xlarge": (2, 700000, 340000, 1780, 759),
    "18xlarge": (2, 700000, 340000, 1771, 759),
    "24xlarge": (4, 1400000, 680000, 1789, 759),
    "metal": (4, 1400000, 680000, 1779, 759),
}
_M5D: _Rows = {
    "large": (1, 30000, 15000, 151, 67),
    "xlarge": (1, 59000, 29000, 249, 130),
    "2xlarge": (1, 117000, 57000, 593, 255),
    "4xlarge": (2, 234000, 114000, 592, 255),
    "8xlarge": (2, 466666, 233333, 1192, 508),
    "12xlarge": (2, 700000, 340000, 1779, 759),
    "16xlarge": (4, 933333, 466666, 1196, 508),
    "24xlarge": (4, 1400000, 680000, 1770, 759),
    "metal": (4, 1400000, 680000, 1788, 760),
}
_C6ID: _Rows = {
    "large": (1, 33542, 16771, None, None),
    "xlarge": (1, 67083, 33542, None, None),
    "2xlarge": (1, 134167, 67084, None, None),
    "4xlarge": (1, 268333, 134167, None, None),
    "8xlarge": (1, 536666, 268334, None, None),
    "12xlarge": (2, 804999, 402501, None, None),
    "16xlarge": (2, 1073332, 536668, None, None),
    "24xlarge": (4, 1609998, 805002, None, None),
    "32xlarge": (4, 2146664, 1073336, None, None),
    "metal": (4, 2146664, 1073336, None, None),
}
_I3: _Rows = {
    "large": (1, 100125, 35000, 624, 205),
    "xlarge": (1, 206250, 70000, 1130, 404),
    "2xlarge": (1, 412500, 180000, 1922, 771),
    "4xlarge": (2, 825000, 360000, 1922, 771),
    "8xlarge": (4, 1650000, 720000, 1922, 771),
    "16xlarge": (8, 3300000, 1400000, 1922, 771),
    "metal": (8, 3300000, 1400000, 1922, 771),
}
_I4I: _Rows = {
    "large": (1, 50000, 27500, 361, 267),
    "xlarge": (1, 100000, 55000, 728, 536),
    "2xlarge": (1, 200000, 110000, 1471, 1078),
    "4xlarge": (1, 400000, 220000, 2945, 2183),
    "8xlarge": (2, 800000, 440000, 2971, 2183),
    "16xlarge": (4, 1600000, 880000, 2946, 2187),
    "32xlarge": (8, 3200000, 1760000, 2952, 2190),
    "metal": (8, 3200000, 1760000, 2946, 2196),
}

_FAMILIES = {
    "c5d": (_C5D, _COMPUTE),
    "c6id": (_C6ID, _COMPUTE),
    "m5d": (_M5D, _GENERAL),
    "m6id": (_C6ID, _GENERAL),
    "i3": (_I3, _STORAGE),
    "i4i": (_I4I, _STORAGE),
}


def instance_store_cap(name: str, disks: int | None) -> LocalCap | None:
    """Return the caps of an instance's own disks; without a number, of all of them."""
    family, _, size = name.partition(".")
    if family not in _FAMILIES:
        return None
    rows, source = _FAMILIES[family]
    if size not in rows:
        return None
    all_disks, read_iops, write_iops, read, write = rows[size]
    disks = all_disks if disks is None else disks
    if not 0 < disks <= all_disks:
        return None
    rates = Rates(
        None if read is None else all_disks * read * MIB,
        None if write is None else all_disks * write * MIB,
        read_iops,
        write_iops,
    )
    return LocalCap(
        disks=disks,
        rates=rates.times(disks / all_disks),
        sources=(source,) if write is None else (source, _MEASURED),
    )
