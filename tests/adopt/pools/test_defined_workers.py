# SPDX-License-Identifier: MPL-2.0
"""Workers get the machine that their pool's definition says, or a remark says why they do not."""

import time
from typing import Any

import pytest
import seed_workers
import yaml
from msgspec.structs import replace
from pool_definitions import POOLS

from io_benchmark.adopt.pools import workers
from io_benchmark.adopt.pools.workers import DefinedMachines
from io_benchmark.analysis.model.pool_machine import NetworkDisk, PoolMachine
from io_benchmark.yaml_reader import parse_yaml

WORKER = replace(seed_workers.workers(pools=("intel",))[0], defined=None)
C3D = PoolMachine("google", "c3d-standard-16-lssd", NetworkDisk("", 60), (), 1)


def define(queue: str, instance_type: str | None, document: Any = None) -> tuple[Any, list[str]]:
    machines = DefinedMachines("pools.yml", yaml.safe_load(POOLS) if document is None else document)
    worker = replace(WORKER, queue=queue, pool="intel", instance_type=instance_type)
    return machines.define(worker).defined, machines.remarks


@pytest.mark.parametrize(
    "instance_type",
    [
        "c3d-standard-16-lssd",
        "C3D-Standard-16-LSSD",
        "projects/1/machineTypes/c3d-standard-16-lssd",
    ],
)
def test_machine_type(instance_type: str) -> None:
    """It is compared bare, in upper or lower case."""
    assert define("gecko-1/b-linux", instance_type) == (C3D, [])


def test_sizes_of_azure() -> None:
    """Workers write them with "Standard_"."""
    ephemeral = PoolMachine("azure", "F8s_v2", NetworkDisk("", is_ephemeral=True))
    assert define("win/ephemeral", "Standard_F8s_v2") == (ephemeral, [])


def test_one_of_several_machines() -> None:
    """The worker's machine type chooses it."""
    defined, remarks = define("aws/linux", "m5.4xlarge")
    assert (defined.boot_disk.kind, remarks) == ("gp3", [])
    assert define("aws/linux", "m5d.metal")[0] == PoolMachine("amazon", "m5d.metal")


SAME_TYPE = [
    {"machine_type": "n2-standard-8", "disks": [{"boot": True, "diskSizeGb": size}]}
    for size in (60, 75)
]


def pools(*types: Any) -> Any:
    return {"pools": [{"pool_id": "a/b", "config": {"instance_types": [*each]}} for each in types]}


@pytest.mark.parametrize(
    ("queue", "instance_type", "document", "remark"),
    [
        ("gecko-9/b-linux", "n2-standard-8", None, "no definition"),
        (
            "gecko-1/b-linux",
            "n2-standard-8",
            None,
            "workers of machine type n2-standard-8, which the definition does not have",
        ),
        (
            "gecko-1/b-linux",
            None,
            None,
            "workers of machine type unknown, which the definition does not have",
        ),
        (
            "a/b",
            "n2-standard-8",
            pools(SAME_TYPE),
            "machines n2-standard-8 whose disks differ, and are not used",
        ),
        (
            "a/b",
            "n2-standard-8",
            pools(SAME_TYPE[:1], SAME_TYPE[1:]),
            "definitions that contradict each other, and are not used",
        ),
        ("a/b", "n2", pools([1]), "machines in a form that is not known"),
    ],
)
def test_remarks(queue: str, instance_type: str | None, document: Any, remark: str) -> None:
    """One line with what is wrong and the pool; the worker gets no machine."""
    expected = (None, [f"pools.yml: {remark}: {queue}"])
    assert define(queue, instance_type, document) == expected


def test_the_same_definition_twice() -> None:
    """It contradicts nothing."""
    assert define("a/b", "n2-standard-8", pools(SAME_TYPE[:1], SAME_TYPE[:1])) == (
        PoolMachine("google", "n2-standard-8", NetworkDisk("", 60), (), 0),
        [],
    )


def test_disk_type_that_is_not_known() -> None:
    """The machine is as the definition says; a remark says that it has no cap."""
    disk = {"boot": True, "initializeParams": {"diskType": "diskTypes/pd-turbo"}}
    document = pools([{"machine_type": "n2-standard-8", "disks": [disk]}])
    expected = PoolMachine("google", "n2-standard-8", NetworkDisk("pd-turbo"), (), 0)
    remark = "pools.yml: disk type pd-turbo is not known; no cap is assumed: a/b"
    assert define("a/b", "n2-standard-8", document) == (expected, [remark])


def test_pools_without_provisioner() -> None:
    """Results without a record of their task have the pool's name: its definition, if one."""
    machines = DefinedMachines("pools.yml", yaml.safe_load(POOLS))
    worker = replace(WORKER, queue="", pool="b-linux", instance_type="c3d-standard-16-lssd")
    assert machines.define(worker).defined == C3D
    # Not all pools of this name have the machine type; those that do agree.
    assert machines.define(replace(worker, pool="t-linux")).defined == C3D
    assert machines.remarks == []
    document = pools(SAME_TYPE[:1], SAME_TYPE[1:])
    document["pools"][1]["pool_id"] = "c/b"
    machines = DefinedMachines("pools.yml", document)
    worker = replace(worker, pool="b", instance_type="n2-standard-8")
    assert machines.define(worker).defined is None
    remark = "machines n2-standard-8 whose disks differ, and are not used"
    assert machines.remarks == [f"pools.yml: {remark}: b"]


def test_remarks_of_several_pools() -> None:
    """A problem is said once, with its pools in order and without what a terminal would obey."""
    machines = DefinedMachines("\x1b.yml", [])
    for queue in ("b/x", "a/x\x1b", "b/x"):
        machines.define(replace(WORKER, queue=queue))
    assert machines.remarks == ["\ufffd.yml: no definition: a/x\ufffd, b/x"]


def test_many_pools_of_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than any project has are not compared with each other."""
    two = pools(SAME_TYPE[:1], SAME_TYPE[:1])
    monkeypatch.setattr(workers, "_MOST_SAME_NAMES", 2)
    assert define("a/b", "n2-standard-8", two)[1] == []
    monkeypatch.setattr(workers, "_MOST_SAME_NAMES", 1)
    assert len(define("a/b", "n2-standard-8", two)[1]) == 1


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(
            "  - pool_id: a/b\n    config: {instance_types: *machines}\n    variants: *variants\n",
            id="the same pool often",
        ),
        pytest.param(
            "  - pool_id: 'a/b{x}'\n    config: {instance_types: *machines}\n"
            "    variants: *variants\n    attributes: {x: ['long']}\n",
            id="a word that is a list",
        ),
        pytest.param(
            "  - pool_id: '{n}/n2'\n    config: {instance_types: *machines}\n"
            "    variants: *variants\n",
            id="many pools of one name",
        ),
    ],
)
def test_definitions_that_cost_time(entry: str) -> None:
    """As many pools and machines as the reader takes, each with all of them."""
    variants = "".join(f"{{n: {number}}}, " for number in range(12_000))
    machines = "{machine_type: n2, disks: []}, " * 1_000
    meta = f"meta:\n  - &variants [{variants}]\n  - &machines [{machines}]\npools:\n"
    start_s = time.process_time()
    document = parse_yaml(meta + entry)
    read_s = time.process_time() - start_s
    for queue in ("a/b", "n2"):
        define(queue, "n2", document)
    # 0.3 s on the machine where it was measured, where reading takes 4 s.
    assert time.process_time() - start_s - read_s < 10
