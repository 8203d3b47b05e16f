# SPDX-License-Identifier: MPL-2.0
"""Facts about a worker's host and storage, as a history and a mixed pool compare them."""

from typing import Any

import pytest
from seed_facts import memory_limit
from seed_workers import workers

from io_benchmark.analysis.observed.host_facts import facts_of, kind_of_machine
from io_benchmark.analysis.observed.runs import Run

PLACE = "storage.places.0"


def facts(change: dict[str, Any], place: str = "workspace") -> dict[str, Any]:
    (worker,) = workers(pools=("intel",), change={"intel": change})
    return dict(facts_of(worker.result, place, "gecko-t/b-linux", None))


@pytest.mark.parametrize(
    ("change", "name", "value"),
    [
        ({}, "disks", "2"),
        ({}, "disk models", "nvme_card"),
        ({f"{PLACE}.devices.1.model": "pd"}, "disk models", "nvme_card, pd"),
        ({}, "disk sizes", "375 GiB"),
        ({}, "stripes", "2"),
        ({f"{PLACE}.devices.0.stripe_count": 1}, "stripes", "none"),
        ({"host.memory_bytes": 64 * 1024**3 - 10**8}, "memory", "64 GiB"),
        ({}, "memory limits", "none"),
        (memory_limit(1536), "memory limits", "1.5 GiB"),
        (memory_limit(0), "memory limits", "none"),
        ({}, "task queue", "gecko-t/b-linux"),
        ({}, "image", None),
        ({f"{PLACE}.failed": "x"}, "disks", None),
    ],
)
def test_facts(change: dict[str, Any], name: str, value: str | None) -> None:
    """Sizes in GiB; equal disks are named once; what is not known is no fact."""
    assert facts(change).get(name) == value


def test_several_disks_of_a_kind() -> None:
    """They are counted beside the others."""
    devices = {
        f"{PLACE}.devices": lambda found: [*found, {**found[-1], "name": "x", "model": "pd"}]
    }
    assert facts(devices)["disk models"] == "2 × nvme_card, pd"


def test_another_place_has_other_disks() -> None:
    """Only facts of the host are left."""
    elsewhere = facts({}, "elsewhere")
    assert "disks" not in elsewhere
    assert elsewhere["CPUs"] == "16"


def test_the_kind_of_a_machine() -> None:
    """What all of its runs share, in words."""
    first, second = workers(2, pools=("amd-16",), change={"amd-16/1": {"host.kernel": "6.9"}})
    kind = kind_of_machine([Run(run, run.entries[0]) for run in (first, second)])
    assert (kind["disks"], kind["CPUs"]) == ("1 disk", "16 CPUs")
    assert "kernel" not in kind
