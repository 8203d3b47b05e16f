# SPDX-License-Identifier: MPL-2.0
"""What clouds publish: each cloud has its rows here and in the documentation."""

import pytest
from checkout import ROOT

from io_benchmark.analysis.reading.caps import CLOUDS

BY_NAME = {cloud.name: cloud for cloud in CLOUDS}
# Models of local SSDs, and of persistent disks.
MODELS = {
    "Google Cloud": (("nvme_card", "nvme_card12", "EphemeralDisk"), ("nvme_card-pd",)),
    "Amazon EC2": (("Amazon EC2 NVMe Instance Storage",), ("Amazon Elastic Block Store",)),
    "Microsoft Azure": (
        ("Microsoft NVMe Direct Disk", "Microsoft NVMe Direct Disk v2"),
        ("MSFT NVMe Accelerator v1.0",),
    ),
}
# The family, None where it is not known; the number of local SSDs; MiB/s, None where no row says.
CAPS = {
    "Google Cloud": (
        ("c3d", 1, 350),
        ("c2", 2, 700),
        ("n2", 3, 1050),
        ("n2", 4, 1400),
        ("n2", 8, 1400),
        ("n2", 9, None),
        ("n2", 16, 3120),
        ("n1", 24, 4680),
        ("c3d", 32, 6240),
        ("c4d", 1, 330),
        ("c4d", 2, 660),
        ("c4d", 3, None),
        ("c4d", 4, 1320),
        ("c2", 0, None),
        ("c4", 5, 1650),
        ("c4a", 10, 3300),
        ("z3", 1, 2500),
        ("h4d", 1, None),
        ("", 1, None),
        (None, 1, 350),
    ),
    "Amazon EC2": (("i4i", 1, None), (None, 1, None)),
    # 360 MB/s are published for each disk of d16ds_v6.
    "Microsoft Azure": (
        ("d8ds_v6", 1, 360e6 / 2**20),
        ("d16ds_v6", 1, 360e6 / 2**20),
        ("d16ds_v6", 2, 720e6 / 2**20),
        ("d16ds_v6", 3, None),
        ("d8ads_v5", 1, None),
        (None, 1, None),
    ),
}
# A machine type whose number of local SSDs is fixed, that number, and the next size with more.
SERIES = {
    "Google Cloud": (
        ("c3d-standard-8-lssd", 1, "c3d-standard-30-lssd"),
        ("c3d-standard-16-lssd", 1, "c3d-standard-30-lssd"),
        ("c3d-highmem-30-lssd", 2, "c3d-highmem-60-lssd"),
        ("c3d-standard-360-lssd", 32, None),
        ("c3d-standard-44-lssd", None, None),  # no such size
        ("c3-standard-8-lssd", 2, "c3-standard-22-lssd"),
        ("c4-highmem-24-lssd", 4, "c4-highmem-32-lssd"),
        ("c4-standard-288-lssd", 48, None),
        ("c4a-standard-4-lssd", 1, "c4a-standard-8-lssd"),
        ("c4d-standard-8-lssd", 1, "c4d-standard-32-lssd"),
        ("z3-highmem-14-standardlssd", 1, "z3-highmem-22-standardlssd"),
        ("z3-highmem-22-highlssd", 3, "z3-highmem-32-highlssd"),
        ("z3-highmem-88", None, None),
    ),
}


def test_each_cloud_has_rows() -> None:
    """A cloud without rows here is not tested; one without series has none to test."""
    with_series = {cloud.name for cloud in CLOUDS if cloud.series}
    assert set(MODELS) == set(CAPS) == set(BY_NAME)
    assert set(SERIES) == with_series


@pytest.mark.parametrize("name", BY_NAME)
def test_the_documentation_names_each_cloud(name: str) -> None:
    """The table of published caps has a row for each."""
    assert f"\n| {name} |" in (ROOT / "taskcluster/docs/causes.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", MODELS)
def test_models(name: str) -> None:
    """A model is of one kind and of one cloud."""
    local, persistent = MODELS[name]
    for cloud in CLOUDS:
        is_own = cloud.name == name
        for model in local:
            assert cloud.is_local_ssd(model) is is_own
            assert not cloud.is_persistent_disk(model)
        for model in persistent:
            assert cloud.is_persistent_disk(model) is is_own
            assert not cloud.is_local_ssd(model)


@pytest.mark.parametrize(
    ("name", "family", "disks", "mib_per_s"),
    [(name, *row) for name, rows in CAPS.items() for row in rows],
)
def test_caps(name: str, family: str | None, disks: int, mib_per_s: float | None) -> None:
    """The published row, or None: never a guess in between."""
    cap = BY_NAME[name].write_cap(family, disks)
    assert cap == (None if mib_per_s is None else mib_per_s * 2**20)


@pytest.mark.parametrize(
    ("name", "machine_type", "disks", "larger"),
    [(name, *row) for name, rows in SERIES.items() for row in rows],
)
def test_series(name: str, machine_type: str, disks: int | None, larger: str | None) -> None:
    """The name of a machine type says how many local SSDs it has; a larger one has more."""
    answers = [
        (series.disks_of(machine_type), series.with_more_disks(machine_type))
        for series in BY_NAME[name].series
    ]
    answers = [answer for answer in answers if answer != (None, None)]
    assert answers == ([] if disks is None else [(disks, larger)])


def test_a_disk_by_scsi_on_azure_says_nothing() -> None:
    """The OS disk, temporary disks and managed disks have the same model."""
    azure = BY_NAME["Microsoft Azure"]
    assert not azure.is_local_ssd("Virtual Disk")
    assert not azure.is_persistent_disk("Virtual Disk")
