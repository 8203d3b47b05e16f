# SPDX-License-Identifier: MPL-2.0
"""Google Cloud: its local SSDs have write caps by their number.

Sources, as read in 2026: https://docs.cloud.google.com/compute/docs/disks/local-ssd (limits by
number of disks) and https://docs.cloud.google.com/compute/docs/general-purpose-machines (disks of
c3d-…-lssd).
"""

from io_benchmark.analysis.reading.caps.cloud import Cloud, Series

_STANDARD = {
    1: 350,
    2: 700,
    3: 1050,
    4: 1400,
    5: 1400,
    6: 1400,
    7: 1400,
    8: 1400,
    16: 3120,
    24: 4680,
    32: 6240,
}
_TITANIUM_C4D = {1: 330, 2: 660, 4: 1320}

CLOUD = Cloud(
    name="Google Cloud",
    # By NVMe nvme_card, nvme_card0, … and nvme_card-pd; by SCSI the others.
    local_ssd_models="nvme_card[0-9]*|EphemeralDisk",
    persistent_disk_models="nvme_card-pd|PersistentDisk",
    write_caps={
        "n1": _STANDARD,
        "n2": _STANDARD,
        "n2d": _STANDARD,
        "c2": _STANDARD,
        "c2d": _STANDARD,
        "c3": _STANDARD,
        "c3d": _STANDARD,
        "c4d": _TITANIUM_C4D,
    },
    usual_write_caps=_STANDARD,
    series=(
        Series(
            "(c3d-[a-z]+-)([0-9]+)(-lssd)",
            {"8": 1, "16": 1, "30": 2, "60": 4, "90": 8, "180": 16, "360": 32},
        ),
    ),
)
