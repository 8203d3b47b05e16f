# SPDX-License-Identifier: MPL-2.0
"""Google Cloud: persistent disks and Hyperdisk, and local SSDs by their number."""

from io_benchmark.analysis.reading.caps.cloud import Cloud
from io_benchmark.analysis.reading.caps.google.local_ssds import (
    SERIES,
    USUAL_WRITE_CAPS,
    WRITE_CAPS,
    local_ssd_cap,
)
from io_benchmark.analysis.reading.caps.google.network_disks import GoogleDisks

CLOUD = Cloud(
    name="Google Cloud",
    # By NVMe nvme_card, nvme_card0, … and nvme_card-pd; by SCSI the others.
    local_ssd_models="nvme_card[0-9]*|EphemeralDisk",
    persistent_disk_models="nvme_card-pd|PersistentDisk",
    write_caps=WRITE_CAPS,
    usual_write_caps=USUAL_WRITE_CAPS,
    series=SERIES,
    network_disks=GoogleDisks(),
    local_ssd_cap=local_ssd_cap,
)
