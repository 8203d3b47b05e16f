# SPDX-License-Identifier: MPL-2.0
"""Azure's VM sizes: what they do with managed disks, and with the disks that they have themselves.

Managed disks are without the host's cache.
"""

from io_benchmark.analysis.reading.caps.limits import MB, MIB, LocalCap, Rates, Source
from io_benchmark.analysis.reading.caps.network import DiskLimits

_SIZES = "MicrosoftDocs/azure-compute-docs:articles/virtual-machines/sizes"
# The most is held for 30 minutes, from full credits.
_BURST_S = 30 * 60

# By the size: IOPS and MB/s of the temporary disk or of cached disks; of managed disks; and their
# most for a while.
_Row = tuple[int | None, int | None, int, int, int | None, int | None]

_DADSV5: dict[str, _Row] = {
    "d2ads_v5": (9000, 125, 3750, 82, 10000, 600),
    "d4ads_v5": (19000, 250, 6400, 144, 20000, 600),
    "d8ads_v5": (38000, 500, 12800, 200, 20000, 600),
    "d16ads_v5": (75000, 1000, 25600, 384, 40000, 800),
    "d32ads_v5": (150000, 2000, 51200, 768, 80000, 1000),
    "d48ads_v5": (225000, 3000, 76800, 1152, 80000, 2000),
    "d64ads_v5": (300000, 4000, 80000, 1200, 80000, 2000),
    "d96ads_v5": (450000, 4000, 80000, 1600, 80000, 2000),
}
_EADSV5: dict[str, _Row] = {
    "e8ads_v5": (38000, 500, 12800, 200, 20000, 600),
    "e16ads_v5": (75000, 1000, 25600, 384, 40000, 800),
}
_DPDSV5: dict[str, _Row] = {
    "d4pds_v5": (19000, 250, 6400, 145, 20000, 1200),
    "d8pds_v5": (38000, 500, 12800, 290, 20000, 1200),
    "d16pds_v5": (75000, 1000, 25600, 600, 40000, 1200),
    "d32pds_v5": (150000, 2000, 51200, 865, 80000, 2000),
}
_DDSV5: dict[str, _Row] = {
    "d2ds_v5": (9000, 125, 3750, 85, 10000, 1200),
    "d4ds_v5": (19000, 250, 6400, 145, 20000, 1200),
    "d8ds_v5": (38000, 500, 12800, 290, 20000, 1200),
    "d16ds_v5": (75000, 1000, 25600, 600, 40000, 1200),
    "d32ds_v5": (150000, 2000, 51200, 865, 80000, 2000),
    "d64ds_v5": (300000, 4000, 80000, 1735, 80000, 3000),
}
_FSV2: dict[str, _Row] = {
    "f2s_v2": (4000, 31, 3200, 47, 4000, 200),
    "f4s_v2": (8000, 63, 6400, 95, 8000, 200),
    "f8s_v2": (16000, 127, 12800, 190, 16000, 400),
    "f16s_v2": (32000, 255, 25600, 380, 32000, 800),
    "f32s_v2": (64000, 512, 51200, 750, 64000, 1600),
    "f64s_v2": (128000, 1024, 80000, 1100, 80000, 2000),
}
_DSV3: dict[str, _Row] = {
    "d2s_v3": (4000, 32, 3200, 48, 4000, 200),
    "d4s_v3": (8000, 64, 6400, 96, 8000, 200),
    "d8s_v3": (16000, 128, 12800, 192, 16000, 400),
    "d16s_v3": (32000, 256, 25600, 384, 32000, 800),
    "d32s_v3": (64000, 512, 51200, 768, 64000, 1600),
    "d64s_v3": (128000, 1024, 80000, 1200, 80000, 2000),
}
# No speed of their temporary disk is published.
_NVADS: dict[str, _Row] = {
    "nv12ads_a10_v5": (None, None, 12800, 200, None, None),
}
_NVV3: dict[str, _Row] = {
    "nv12s_v3": (None, None, 20000, 200, None, None),
}
_TABLES: tuple[tuple[dict[str, _Row], Source], ...] = (
    (_DADSV5, Source(f"{_SIZES}/general-purpose/dadsv5-series.md", "2026-03-10")),
    (_EADSV5, Source(f"{_SIZES}/memory-optimized/eadsv5-series.md", "2024-08-01")),
    (_DPDSV5, Source(f"{_SIZES}/general-purpose/dpdsv5-series.md", "2026-03-10")),
    (_DDSV5, Source(f"{_SIZES}/general-purpose/ddsv5-series.md", "2024-07-29")),
    (_FSV2, Source(f"{_SIZES}/compute-optimized/fsv2-series.md", "2024-07-30")),
    (_DSV3, Source(f"{_SIZES}/general-purpose/dsv3-series.md", "2024-09-24")),
    (_NVADS, Source(f"{_SIZES}/gpu-accelerated/nvadsa10v5-series.md", "2024-07-31")),
    (
        _NVV3,
        Source("MicrosoftDocs/azure-docs:articles/virtual-machines/nvv3-series.md", "2020-02-03"),
    ),
)

_DDSV6_SOURCE = Source(f"{_SIZES}/general-purpose/ddsv6-series.md", "2024-07-29")
# NVMe disks by the size: their number; IOPS and MB/s of reads, then of writes; managed disks.
_DDSV6: dict[str, tuple[int, int, int, int, int, int, int, int, int]] = {
    "d2ds_v6": (1, 37500, 180, 15000, 90, 3750, 106, 40000, 1250),
    "d4ds_v6": (1, 75000, 360, 30000, 180, 6400, 212, 40000, 1250),
    "d8ds_v6": (1, 150000, 720, 60000, 360, 12800, 424, 40000, 1250),
    "d16ds_v6": (2, 300000, 1440, 120000, 720, 25600, 848, 40000, 1250),
    "d32ds_v6": (4, 600000, 2880, 240000, 1440, 51200, 1696, 80000, 1696),
    "d48ds_v6": (6, 900000, 4320, 360000, 2160, 76800, 2544, 80000, 2544),
    "d64ds_v6": (4, 1200000, 5760, 480000, 2880, 102400, 3392, 102400, 3392),
    "d96ds_v6": (6, 1800000, 8640, 720000, 4320, 153600, 5088, 153600, 5088),
    "d128ds_v6": (4, 2400000, 11520, 960000, 5760, 204800, 6782, 204800, 6782),
}
_LSV3_SOURCE = Source(f"{_SIZES}/storage-optimized/lsv3-series.md", "2024-07-31")
_MEASURED = Source(
    "scylladb/scylla-machine-image:common/azure_io_params.yaml", "2026-06-11", is_certain=False
)
# The same: their number; IOPS; MB/s; MiB/s of reads and of writes as measured; managed disks.
_LSV3: dict[str, tuple[int, int, int, int, int, int, int]] = {
    "l8s_v3": (1, 400000, 2000, 3567, 2379, 12800, 290),
    "l16s_v3": (2, 800000, 4000, 7113, 3542, 25600, 600),
    "l32s_v3": (4, 1500000, 8000, 14222, 9314, 51200, 865),
}

# By the size, then by the number of NVMe disks: MiB/s that all write together.
WRITE_CAPS = {
    name: {disks: disks / all_disks * write * MB / MIB for disks in range(1, all_disks + 1)}
    for name, (all_disks, _, _, _, write, *_) in _DDSV6.items()
}


def bare_name(name: str) -> str:
    """Return a size without "Standard_", which is optional, in small letters."""
    return name.lower().removeprefix("standard_")


def vm_limits(name: str) -> DiskLimits | None:
    """Return what a VM size does with managed disks; None: it is not in the tables."""
    size = bare_name(name)
    for rows, source in _TABLES:
        if size in rows:
            *_, iops, mb_per_s, most_iops, most_mb_per_s = rows[size]
            return _with_burst(source, iops, mb_per_s, most_iops, most_mb_per_s)
    if size in _DDSV6:
        return _with_burst(_DDSV6_SOURCE, *_DDSV6[size][5:])
    if size in _LSV3:
        return _with_burst(_LSV3_SOURCE, *_LSV3[size][5:], None, None)
    return None


def _with_burst(
    source: Source,
    iops: int,
    mb_per_s: int,
    most_iops: int | None,
    most_mb_per_s: int | None,
) -> DiskLimits:
    rates = Rates.shared(iops, mb_per_s * MB)
    if most_iops is None or most_mb_per_s is None:
        return DiskLimits(rates, (source,))
    burst = Rates.shared(most_iops, most_mb_per_s * MB)
    if not burst.exceeds(rates):
        return DiskLimits(rates, (source,))
    return DiskLimits(rates, (source,), burst, _BURST_S, _BURST_S)


def local_disk_cap(name: str, disks: int | None) -> LocalCap | None:
    """Return the caps of a VM's temporary disk, or of its NVMe disks; None: not published.

    Without a number, of all NVMe disks.
    """
    size = bare_name(name)
    if size in _DDSV6:
        all_disks, read_iops, read, write_iops, write, *_ = _DDSV6[size]
        rates = Rates(read * MB, write * MB, read_iops, write_iops)
        return _of_some_disks(rates, all_disks, disks, (_DDSV6_SOURCE,))
    if size in _LSV3:
        all_disks, iops, mb_per_s, _, measured_write, *_ = _LSV3[size]
        rates = Rates(mb_per_s * MB, measured_write * MIB, iops, None)
        return _of_some_disks(rates, all_disks, disks, (_LSV3_SOURCE, _MEASURED))
    return _temporary_disk_cap(size) if disks in (None, 1) else None


def _of_some_disks(
    rates: Rates, all_disks: int, disks: int | None, sources: tuple[Source, ...]
) -> LocalCap | None:
    disks = all_disks if disks is None else disks
    if not 0 < disks <= all_disks:
        return None
    return LocalCap(disks=disks, rates=rates.times(disks / all_disks), sources=sources)


def _temporary_disk_cap(size: str) -> LocalCap | None:
    """Return the published rate of reads for writes as well, which "is usually slower"."""
    for rows, source in _TABLES:
        iops, mb_per_s = rows[size][:2] if size in rows else (None, None)
        if iops is not None and mb_per_s is not None:
            rates = Rates.shared(iops, mb_per_s * MB)
            reads_only = Source(source.address, source.date, is_certain=False)
            return LocalCap(disks=1, rates=rates, sources=(reads_only,))
    return None
