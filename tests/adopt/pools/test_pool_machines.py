# SPDX-License-Identifier: MPL-2.0
"""The machines of pools' definitions: of three clouds, keyed, and as worker-manager has them."""

from typing import Any

import pytest
import yaml
from pool_definitions import POOLS

from io_benchmark.adopt.pools.keyed_values import UnknownFormError
from io_benchmark.adopt.pools.workers import DefinedMachines
from io_benchmark.analysis.model.pool_machine import NetworkDisk, PoolMachine

MIB = 2.0**20
C3D = PoolMachine("google", "c3d-standard-16-lssd", NetworkDisk("", 60), (), 1)
WINDOWS_DISKS = (
    NetworkDisk("StandardSSD_LRS", 256),
    (NetworkDisk("PremiumV2_LRS", 512, 4000, 200e6),),
)


def machines_of(queue: str, document: Any = None) -> frozenset[PoolMachine]:
    values = yaml.safe_load(POOLS) if document is None else document
    return DefinedMachines("pools.yml", values).machines_of(queue)


@pytest.mark.parametrize(
    ("queue", "machines"),
    [
        ("gecko-1/b-linux", [C3D]),
        ("gecko-1/b-linux-large", [C3D]),
        ("gecko-1/t-linux", [C3D]),
        ("comm-1/t-linux", [C3D]),
        (
            "nss-1/t-linux",
            [PoolMachine("google", "c2-standard-16", NetworkDisk("", 1024), (), 2)],
        ),
        (
            "infra/ssd",
            [
                PoolMachine(
                    "google",
                    "n2-standard-8",
                    NetworkDisk("pd-ssd", 200),
                    (NetworkDisk("hyperdisk-balanced", 500, 6000, 300 * MIB),),
                    0,
                )
            ],
        ),
        ("win/cpu", [PoolMachine("azure", "D32ads_v5", *WINDOWS_DISKS)]),
        ("win/gpu", [PoolMachine("azure", "NV12s_v3", *WINDOWS_DISKS)]),
        ("arm/plain", [PoolMachine("azure", "D16ads_v5", NetworkDisk("", 256))]),
        ("arm/template", [PoolMachine("azure", "D32ads_v5")]),
        ("win/ephemeral", [PoolMachine("azure", "F8s_v2", NetworkDisk("", is_ephemeral=True))]),
        (
            "aws/linux",
            [
                PoolMachine("amazon", "m5d.metal"),
                PoolMachine(
                    "amazon",
                    "m5.4xlarge",
                    NetworkDisk("gp3", 120, 4000, 250 * MIB),
                    (NetworkDisk("", 500),),
                ),
            ],
        ),
    ],
)
def test_machines(queue: str, machines: list[PoolMachine]) -> None:
    """Each with its disks; an ARM template gets neither them nor the profile's size."""
    assert machines_of(queue) == frozenset(machines)


GOOGLE_CONFIG = {
    "machineType": "zones/us-central1-a/machineTypes/n2-standard-4",
    "disks": [
        {
            "boot": True,
            "initializeParams": {
                "diskType": "zones/us-central1-a/diskTypes/pd-balanced",
                "diskSizeGb": "75",
            },
        },
        {"initializeParams": {"diskType": "zones/us-central1-a/diskTypes/local-ssd"}},
    ],
}
GOOGLE = PoolMachine("google", "n2-standard-4", NetworkDisk("pd-balanced", 75), (), 1)
AZURE_CONFIG = {
    "hardwareProfile": {"vmSize": "Standard_D8ads_v5"},
    "storageProfile": {"osDisk": {"diskSizeGB": 128}},
}
ARM_CONFIG = {"armDeployment": {"parameters": {"vmSize": {"value": "Standard_F8s_v2"}}}}
AMAZON_CONFIG = {
    "launchConfig": {
        "InstanceType": "c6id.4xlarge",
        "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeType": "gp2"}}],
    }
}


@pytest.mark.parametrize(
    ("config", "machine"),
    [
        (GOOGLE_CONFIG, GOOGLE),
        (AZURE_CONFIG, PoolMachine("azure", "D8ads_v5", NetworkDisk("", 128))),
        (ARM_CONFIG, PoolMachine("azure", "F8s_v2")),
        (AMAZON_CONFIG, PoolMachine("amazon", "c6id.4xlarge", NetworkDisk("gp2"))),
    ],
)
def test_form_of_worker_manager(config: Any, machine: PoolMachine) -> None:
    """Launch configurations, one per zone, of a pool, a list of pools, or all resources."""
    pool = {"workerPoolId": "a/b", "config": {"launchConfigs": [config, dict(config)]}}
    for document in (pool, [pool], {"workerPools": [pool]}, {"resources": [{"kind": 1}, pool]}):
        assert machines_of("a/b", document) == {machine}


def pool_with(machine: Any, **entry: Any) -> Any:
    return {"pools": [{"pool_id": "a/b", "config": {"instance_types": [machine]}, **entry}]}


@pytest.mark.parametrize(
    ("machine_type", "local_ssds"),
    [("n2-standard-8", 0), ("c3d-standard-8-lssd", None), ("z3-highmem-88", None)],
)
def test_local_ssds_that_are_not_named(machine_type: str, local_ssds: int | None) -> None:
    """Some machine types always have them, others have none."""
    machine = {"machine_type": machine_type, "disks": []}
    expected = PoolMachine("google", machine_type, local_ssds=local_ssds)
    assert machines_of("a/b", pool_with(machine)) == {expected}


def test_machine_type_with_a_word() -> None:
    """It is filled as the pool's name is."""
    document = pool_with({"machine_type": "c2-standard-{size}"}, variants=[{"size": 8}])
    assert {machine.machine_type for machine in machines_of("a/b", document)} == {"c2-standard-8"}


BOOT = {"boot": True}


@pytest.mark.parametrize(
    "machine",
    [
        1,
        [],
        {},
        {"machine_type": ["n2-standard-8"]},
        {"machine_type": "n2 standard"},
        {"machine_type": "n" * 101},
        {"machine_type": "n2", "disks": {"by-x": {"default": []}}},
        {"machine_type": "n2", "disks": 1},
        {"machine_type": "n2", "disks": [1]},
        {"machine_type": "n2", "disks": [BOOT, BOOT]},
        {"machine_type": "n2", "disks": [{"initializeParams": "pd-ssd"}]},
        {"machine_type": "n2", "disks": [{"initializeParams": {"diskType": 1}}]},
        {"machine_type": "n2", "disks": [{"diskSizeGb": 0}]},
        {"machine_type": "n2", "disks": [{"diskSizeGb": -1}]},
        {"machine_type": "n2", "disks": [{"diskSizeGb": True}]},
        {"machine_type": "n2", "disks": [{"diskSizeGb": float("nan")}]},
        {"machine_type": "n2", "disks": [{"diskSizeGb": 10**300}]},
        {"machine_type": "n2", "disks": [{"diskSizeGb": "9" * 10}]},
        {"machine_type": "n2", "disks": [{"diskSizeGb": {"by-x": {"default": 1}}}]},
        {"instanceType": "m5", "launchConfig": []},
        {"instanceType": "m5", "launchConfig": {"BlockDeviceMappings": [{"Ebs": 1}]}},
        {"instanceType": {"by-x": {}}},
        {"vmSize": {"by-x": {"a": "F8s_v2", "b": "F16s_v2"}}},
        {"vmSize": {"by-x": 1}},
        {"vmSize": "F8s_v2", "armDeployment": {"by-location": {"west": 1}}},
        {"vmSize": "F8s_v2", "armDeployment": {"parameters": 1}},
        {"hardwareProfile": 1},
        {"vmSize": "F8s_v2", "launchConfig": {"storageProfile": {"osDisk": "Local"}}},
    ],
)
def test_other_forms(machine: Any) -> None:
    """A type or a value that no generator writes: no machine, rather than half of one."""
    with pytest.raises(UnknownFormError):
        machines_of("a/b", pool_with(machine))


@pytest.mark.parametrize(
    "document",
    [
        None,
        1,
        "pools",
        [1, None, []],
        {"pools": [{"pool_id": 1}, {"pool_id": "c/d"}]},
        {"pools": {"pool_id": "a/b"}},
        {"pools": [{"pool_id": "x" * 501 + "/a/b"}]},
    ],
)
def test_documents_without_the_pool(document: Any) -> None:
    """Whatever the form of the file, the pool is missing."""
    with pytest.raises(UnknownFormError, match="no definition"):
        machines_of("a/b", document if document is not None else [])


@pytest.mark.parametrize(
    "entry",
    [
        {"config": None},
        {"config": 1},
        {"config": [], "variants": 1, "attributes": 1},
        {"variants": [1, None]},
        {"config": {"launchConfigs": None, "vmSizes": []}},
    ],
)
def test_pools_without_machines(entry: Any) -> None:
    """Such as those of hardware; a definition of another form is one without machines as well."""
    assert machines_of("a/b", {"pools": [{"pool_id": "a/b", **entry}]}) == frozenset()


@pytest.mark.parametrize("machines", [1, {"a": 1}, [{"machine_type": "n2"}] * 1_001])
def test_lists_of_machines_of_another_form(machines: Any) -> None:
    """Neither another type nor more machines than any pool has are read."""
    with pytest.raises(UnknownFormError):
        machines_of("a/b", {"pools": [{"pool_id": "a/b", "config": {"instance_types": machines}}]})
    if isinstance(machines, list):
        entry = {"pool_id": "a/b", "config": {"instance_types": machines[1:]}}
        assert machines_of("a/b", {"pools": [entry]}) == {PoolMachine("google", "n2", local_ssds=0)}
