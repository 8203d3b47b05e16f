# SPDX-License-Identifier: MPL-2.0
"""What an instance of Amazon does with all its EBS volumes together, for 30 minutes and after."""

from io_benchmark.analysis.reading.caps.limits import MBIT, Rates, Source
from io_benchmark.analysis.reading.caps.network import DiskLimits

_GUIDE = Source("awsdocs/amazon-ec2-user-guide:doc_source/ebs-optimized.md", "2023-05-11")
_KARPENTER = "aws/karpenter-provider-aws:website/content/en/docs/reference/instance-types.md"
# The most is published; the rest is that of the generation before.
_SEVENTH = Source(_KARPENTER, "2026-08-21", is_certain=False)

# The most is held for 30 minutes, at least once in 24 hours.
_BURST_S = 30 * 60

# By the size: Mbit/s always and at most, IOPS always and at most.
_Rows = dict[str, tuple[int, int, int, int]]

_C5: _Rows = {
    "large": (650, 4750, 4000, 20000),
    "xlarge": (1150, 4750, 6000, 20000),
    "2xlarge": (2300, 4750, 10000, 20000),
    "4xlarge": (4750, 4750, 20000, 20000),
    "9xlarge": (9500, 9500, 40000, 40000),
    "12xlarge": (9500, 9500, 40000, 40000),
    "18xlarge": (19000, 19000, 80000, 80000),
    "24xlarge": (19000, 19000, 80000, 80000),
    "metal": (19000, 19000, 80000, 80000),
}
_M5: _Rows = {
    "large": (650, 4750, 3600, 18750),
    "xlarge": (1150, 4750, 6000, 18750),
    "2xlarge": (2300, 4750, 12000, 18750),
    "4xlarge": (4750, 4750, 18750, 18750),
    "8xlarge": (6800, 6800, 30000, 30000),
    "12xlarge": (9500, 9500, 40000, 40000),
    "16xlarge": (13600, 13600, 60000, 60000),
    "24xlarge": (19000, 19000, 80000, 80000),
    "metal": (19000, 19000, 80000, 80000),
}
_C6I: _Rows = {
    "large": (650, 10000, 3600, 40000),
    "xlarge": (1250, 10000, 6000, 40000),
    "2xlarge": (2500, 10000, 12000, 40000),
    "4xlarge": (5000, 10000, 20000, 40000),
    "8xlarge": (10000, 10000, 40000, 40000),
    "12xlarge": (15000, 15000, 60000, 60000),
    "16xlarge": (20000, 20000, 80000, 80000),
    "24xlarge": (30000, 30000, 120000, 120000),
    "32xlarge": (40000, 40000, 160000, 160000),
    "metal": (40000, 40000, 160000, 160000),
}
_I3: _Rows = {
    "large": (425, 425, 3000, 3000),
    "xlarge": (850, 850, 6000, 6000),
    "2xlarge": (1700, 1700, 12000, 12000),
    "4xlarge": (3500, 3500, 16000, 16000),
    "8xlarge": (7000, 7000, 32500, 32500),
    "16xlarge": (14000, 14000, 65000, 65000),
    "metal": (19000, 19000, 80000, 80000),
}
_I4I: _Rows = {
    "large": (625, 10000, 2500, 40000),
    "xlarge": (1250, 10000, 5000, 40000),
    "2xlarge": (2500, 10000, 10000, 40000),
    "4xlarge": (5000, 10000, 20000, 40000),
    "8xlarge": (10000, 10000, 40000, 40000),
    "16xlarge": (20000, 20000, 80000, 80000),
    "32xlarge": (40000, 40000, 160000, 160000),
    "metal": (40000, 40000, 160000, 160000),
}
_C7I: _Rows = {
    **{size: _C6I[size] for size in ("large", "xlarge", "2xlarge", "4xlarge", "8xlarge")},
    **{size: _C6I[size] for size in ("12xlarge", "16xlarge", "24xlarge")},
    "48xlarge": _C6I["32xlarge"],
    "metal-24xl": _C6I["24xlarge"],
    "metal-48xl": _C6I["32xlarge"],
}

_FAMILIES: dict[str, tuple[_Rows, Source]] = {
    **dict.fromkeys(("c5", "c5d"), (_C5, _GUIDE)),
    **dict.fromkeys(("m5", "m5d"), (_M5, _GUIDE)),
    **dict.fromkeys(("c6i", "c6id", "m6i", "m6id"), (_C6I, _GUIDE)),
    **dict.fromkeys(("c7i", "m7i"), (_C7I, _SEVENTH)),
    "i3": (_I3, _GUIDE),
    "i4i": (_I4I, _GUIDE),
}


def has_instance(name: str) -> bool:
    return _row_of(name) is not None


def is_on_nitro(name: str) -> bool:
    """Return whether an instance's volumes may have more than 32,000 IOPS."""
    return not name.startswith("i3.") or name == "i3.metal"


def instance_limits(name: str) -> DiskLimits | None:
    """Return what an instance does with its volumes; None: it is not in the tables."""
    row = _row_of(name)
    if row is None:
        return None
    mbit_per_s, most_mbit_per_s, iops, most_iops = row
    _, source = _FAMILIES[name.partition(".")[0]]
    rates = Rates.shared(iops, mbit_per_s * MBIT)
    if most_mbit_per_s == mbit_per_s:
        return DiskLimits(rates, (source,))
    burst = Rates.shared(most_iops, most_mbit_per_s * MBIT)
    return DiskLimits(rates, (source,), burst, _BURST_S, _BURST_S)


def _row_of(name: str) -> tuple[int, int, int, int] | None:
    family, _, size = name.partition(".")
    rows, _ = _FAMILIES.get(family, ({}, None))
    return rows.get(size)
