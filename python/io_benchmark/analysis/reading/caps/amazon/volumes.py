# SPDX-License-Identifier: MPL-2.0
"""Amazon's EBS volumes: by size with burst credits, or by what was bought.

io2 is here as on instances without Block Express, on which it does more.
"""

from io_benchmark.analysis.model.pool_machine import NetworkDisk
from io_benchmark.analysis.reading.caps.limits import MIB, Rates, Source
from io_benchmark.analysis.reading.caps.network import DiskKind, DiskLimits

_GUIDE = "awsdocs/amazon-ec2-user-guide:doc_source"
_DATE = "2023-05-11"
_GENERAL_PURPOSE = Source(f"{_GUIDE}/general-purpose.md", _DATE)
_PROVISIONED = Source(f"{_GUIDE}/provisioned-iops.md", _DATE)
_HARD_DISKS = Source(f"{_GUIDE}/hdd-vols.md", _DATE)
# Amazon's driver for Kubernetes has the operations, its interface the bytes.
_GP3_TODAY = (
    Source("https://github.com/kubernetes-sigs/aws-ebs-csi-driver/pull/2678", "2025-09-26"),
    Source(
        "https://docs.aws.amazon.com/sdk-for-kotlin/api/latest/ec2/"
        "aws.sdk.kotlin.services.ec2.model/-modify-volume-request/throughput.html",
        "",
    ),
)
_BYTES_OF_AN_OPERATION = 256 * 1024  # the largest that counts as one
_TIB_IN_GIB = 1024

_GP2_BURST_IOPS, _GP2_CREDITS = 3000, 5_400_000
_GP3_IOPS, _GP3_MIB_PER_S = 3000, 125
_GP3_MOST_IN_2023 = (16_000, 1000)
_GP3_MOST_TODAY = (80_000, 2000)

_UP_TO_170_GIB = (8, 10, 20, 30, 40, 50, 60, 75, 80, 100, 120, 150, 170)
_ABOVE_170_GIB = (200, 250, 300, 334, 500, 750, 1000, 2000)
KINDS = (
    DiskKind("gp2", (*_UP_TO_170_GIB, *_ABOVE_170_GIB)),
    DiskKind(
        "gp3",
        provisions=(
            (3000, 125 * MIB),
            (3000, 250 * MIB),
            (3000, 500 * MIB),
            (3000, 750 * MIB),
            (4000, 1000 * MIB),
        ),
    ),
)


def volume_limits(disk: NetworkDisk, *, is_on_nitro: bool) -> DiskLimits | None:
    """Return what a volume does; None where its kind is not published or its size not known."""
    if disk.kind == "gp3":
        return _gp3(disk)
    if disk.kind == "gp2" and disk.size_gib is not None:
        return _gp2(disk.size_gib)
    if disk.kind == "st1" and disk.size_gib is not None:
        return _st1(disk.size_gib / _TIB_IN_GIB)
    if disk.kind in ("io1", "io2") and disk.provisioned_iops is not None:
        most_iops = 64_000 if is_on_nitro else 32_000
        return DiskLimits(_provisioned(min(disk.provisioned_iops, most_iops)), (_PROVISIONED,))
    return None


def _gp2(size_gib: float) -> DiskLimits:
    iops = min(max(3 * size_gib, 100), 16_000)
    most_bytes_per_s = (128 if size_gib <= 170 else 250) * MIB
    rates = Rates.shared(iops, min(most_bytes_per_s, iops * _BYTES_OF_AN_OPERATION))
    if iops >= _GP2_BURST_IOPS:
        return DiskLimits(rates, (_GENERAL_PURPOSE,))
    spent_by_large = most_bytes_per_s / _BYTES_OF_AN_OPERATION - iops
    return DiskLimits(
        rates,
        (_GENERAL_PURPOSE,),
        burst=Rates.shared(_GP2_BURST_IOPS, most_bytes_per_s),
        burst_s=_GP2_CREDITS / (_GP2_BURST_IOPS - iops),
        large_burst_s=_GP2_CREDITS / spent_by_large if spent_by_large > 0 else None,
    )


def _gp3(disk: NetworkDisk) -> DiskLimits:
    iops = disk.provisioned_iops or _GP3_IOPS
    mib_per_s = (disk.provisioned_bytes_per_s or _GP3_MIB_PER_S * MIB) / MIB
    most_iops, most_mib_per_s = _GP3_MOST_IN_2023
    sources = [_GENERAL_PURPOSE]
    if iops > most_iops or mib_per_s > most_mib_per_s:
        most_iops, most_mib_per_s = _GP3_MOST_TODAY
        sources += _GP3_TODAY
    rates = Rates.shared(min(iops, most_iops), min(mib_per_s, most_mib_per_s) * MIB)
    return DiskLimits(rates, tuple(sources))


def _provisioned(iops: float) -> Rates:
    """Return what io1 and io2 do: 500 MiB/s up to 32,000 operations, above 16 KiB for each."""
    most_bytes_per_s = max(500 * MIB, iops * 16 * 1024)
    return Rates.shared(iops, min(most_bytes_per_s, iops * _BYTES_OF_AN_OPERATION))


def _st1(size_tib: float) -> DiskLimits:
    """Return what a hard disk does; its credits are as many bytes as it holds."""
    mib_per_s, burst_mib_per_s = min(40 * size_tib, 500), min(250 * size_tib, 500)
    rates = Rates.shared(mib_per_s, mib_per_s * MIB)  # in operations of 1 MiB
    if mib_per_s == burst_mib_per_s:
        return DiskLimits(rates, (_HARD_DISKS,))
    burst_s = size_tib * _TIB_IN_GIB * 1024 / (burst_mib_per_s - mib_per_s)
    burst = Rates.shared(burst_mib_per_s, burst_mib_per_s * MIB)
    return DiskLimits(rates, (_HARD_DISKS,), burst, burst_s, burst_s)
