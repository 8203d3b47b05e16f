# SPDX-License-Identifier: MPL-2.0
"""Patches that set values of machines: network disks of three clouds, and sizes of Azure."""

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pool_definitions import POOLS

from io_benchmark.adopt.pools.definitions import NoPatchError, PoolDefinitions
from io_benchmark.analysis.investigation.investigation_model import Fix
from io_benchmark.analysis.model.cause import Remedy, Target
from io_benchmark.analysis.model.pool_machine import NetworkDisk, PoolMachine
from io_benchmark.analysis.model.statements import statement

REMEDY = Remedy("x", statement("x"), None, False, ())
MIB = 2.0**20


def change(queue: str, text: str = POOLS, **values: Any) -> tuple[str, Sequence[str]]:
    definitions = PoolDefinitions("worker-pools.yml", text)
    return definitions.change_machines(queue, Fix(Target.POOL, REMEDY, **values))


def changed_lines(patch: str) -> list[str]:
    return [line for line in patch.splitlines() if line[:1] in "+-"][2:]


@pytest.fixture
def after(tmp_path: Path) -> Callable[[str], dict[str, frozenset[PoolMachine]]]:
    """Return what gives the machines of all pools after git has applied a patch."""

    def machines(patch: str) -> dict[str, frozenset[PoolMachine]]:
        (tmp_path / "worker-pools.yml").write_text(POOLS)
        subprocess.run(["git", "apply", "-"], input=patch.encode(), cwd=tmp_path, check=True)
        return machines_of((tmp_path / "worker-pools.yml").read_text())

    return machines


def machines_of(text: str) -> dict[str, frozenset[PoolMachine]]:
    machines = PoolDefinitions("worker-pools.yml", text).machines()
    return {name: machines.machines_of(name) for name in POOL_NAMES}


POOL_NAMES = (
    "gecko-1/b-linux",
    "gecko-1/b-linux-large",
    "gecko-1/t-linux",
    "comm-1/t-linux",
    "nss-1/t-linux",
    "infra/ssd",
    "win/cpu",
    "win/gpu",
    "arm/plain",
    "arm/template",
    "win/ephemeral",
    "aws/linux",
)
BOOT = NetworkDisk("", 60)
MERGED = "{<<: *persistent-disk-60gb, "
OF_C3D = "{<<: *c3d-standard-16-lssd, disks: ["
PROVISIONED = (
    "{diskType: diskTypes/hyperdisk-balanced, provisionedIops: 5000, provisionedThroughput: 250}"
)
KIND = "initializeParams: {sourceImage: <image>, diskType: diskTypes/pd-balanced}"


@pytest.mark.parametrize(
    ("queue", "values", "pools", "lines", "new_disk"),
    [
        pytest.param(
            "gecko-1/b-linux",
            {"network_disk": BOOT, "new_network_disk": NetworkDisk("", 200)},
            ["gecko-1/b-linux"],
            [
                "-        instance_types: [*c3d-standard-16-lssd]",
                f"+        instance_types: [{OF_C3D}{MERGED}diskSizeGb: 200}}, *scratch-disk]}}]",
            ],
            NetworkDisk("", 200),
            id="the size, in a machine that others use",
        ),
        pytest.param(
            "gecko-1/b-linux-large",
            {"new_network_disk": NetworkDisk("pd-balanced")},
            ["gecko-1/b-linux-large"],
            [
                "-          - *c3d-standard-16-lssd",
                "+          - <<: *c3d-standard-16-lssd",
                f"+            disks: [{MERGED}{KIND}}}, *scratch-disk]",
            ],
            NetworkDisk("pd-balanced", 60),
            id="a kind where none is named, of the boot disk",
        ),
        pytest.param(
            "comm-1/t-linux",
            {
                "network_disk": NetworkDisk("pd-balanced", 60),
                "new_network_disk": NetworkDisk("pd-balanced", 75),
            },
            ["gecko-1/t-linux", "comm-1/t-linux"],
            [
                "-            - *c3d-standard-16-lssd",
                "+            - <<: *c3d-standard-16-lssd",
                f"+              disks: [{MERGED}diskSizeGb: 75}}, *scratch-disk]",
            ],
            NetworkDisk("", 75),
            id="keyed, of the machine type's usual kind",
        ),
        pytest.param(
            "nss-1/t-linux",
            {"new_network_disk": NetworkDisk("pd-balanced", 2000)},
            ["nss-1/t-linux"],
            [
                "-                  diskSizeGb: 1024",
                "+                  diskSizeGb: 2000",
                f"+                  {KIND}",
            ],
            NetworkDisk("pd-balanced", 2000),
            id="the default of keyed machines",
        ),
        pytest.param(
            "infra/ssd",
            {
                "machine_type": "n2-standard-8",
                "new_network_disk": NetworkDisk("hyperdisk-balanced", 100, 5000, 250 * MIB),
            },
            ["infra/ssd"],
            [
                "-              diskSizeGb: 200  # of ours",
                "-              initializeParams: {diskType: diskTypes/pd-ssd}",
                "+              diskSizeGb: 100  # of ours",
                f"+              initializeParams: {PROVISIONED}",
            ],
            NetworkDisk("hyperdisk-balanced", 100, 5000, 250 * MIB),
            id="provisioned rates",
        ),
        pytest.param(
            "win/gpu",
            {"new_network_disk": NetworkDisk("Premium_LRS", 512)},
            ["win/cpu", "win/gpu"],
            [
                "-                diskSizeGB: 256",
                "+                diskSizeGB: 512",
                "-                  storageAccountType: StandardSSD_LRS",
                "+                  storageAccountType: Premium_LRS",
            ],
            NetworkDisk("Premium_LRS", 512),
            id="Azure",
        ),
        pytest.param(
            "aws/linux",
            {"new_network_disk": NetworkDisk("gp3", 500, 6000), "machine_type": "m5.4xlarge"},
            ["aws/linux"],
            [
                "-                  VolumeSize: 120",
                "+                  VolumeSize: 500",
                "-                  Iops: 4000",
                "+                  Iops: 6000",
            ],
            NetworkDisk("gp3", 500, 6000, 250 * MIB),
            id="Amazon, where the throughput stays",
        ),
    ],
)  # fmt: skip
def test_boot_disks(
    after: Callable[[str], dict[str, frozenset[PoolMachine]]],
    queue: str,
    values: dict[str, Any],
    pools: list[str],
    lines: list[str],
    new_disk: NetworkDisk,
) -> None:
    """The pools that are named get the new disk, and nothing else changes."""
    patch, names = change(queue, **values)
    assert (changed_lines(patch), names) == (lines, pools)
    machines, before = after(patch), machines_of(POOLS)
    changed = [name for name in POOL_NAMES if machines[name] != before[name]]
    assert changed == pools
    assert new_disk in {machine.boot_disk for machine in machines[queue]}


def test_data_disk(after: Callable[[str], dict[str, frozenset[PoolMachine]]]) -> None:
    """The disk that is named changes, with the rate that it has in its definition's unit."""
    old = NetworkDisk("hyperdisk-balanced", 500, 6000, 300 * MIB)
    new = NetworkDisk("hyperdisk-balanced", 500, 6000, 400 * MIB)
    patch, _ = change("infra/ssd", network_disk=old, new_network_disk=new)
    assert changed_lines(patch) == [
        "-                provisionedThroughput: 300",
        "+                provisionedThroughput: 400",
    ]
    (machine,) = after(patch)["infra/ssd"]
    assert (machine.boot_disk, machine.data_disks) == (NetworkDisk("pd-ssd", 200), (new,))


def test_sizes_of_azure() -> None:
    """A keyed size changes for the pools that have it, in both places, with its prefix."""
    patch, pools = change("win/gpu", machine_type="standard_nv12s_v3", new_machine_type="NV24s_v3")
    assert pools == ["win/gpu"]
    assert changed_lines(patch) == [
        "-              g.u: Standard_NV12s_v3",
        "+              g.u: Standard_NV24s_v3",
    ]
    patch, pools = change("win/cpu", machine_type="D32ads_v5", new_machine_type="Standard_D8ads_v5")
    assert pools == ["win/cpu"]
    assert changed_lines(patch)[1] == "+              default: Standard_D8ads_v5"


def test_types_of_amazon() -> None:
    """An instance type has its local disks with it."""
    patch, pools = change("aws/linux", machine_type="m5d.metal", new_machine_type="m6id.metal")
    assert pools == ["aws/linux"]
    assert changed_lines(patch) == [
        "-        - instanceType: m5d.metal",
        "+        - instanceType: m6id.metal",
    ]


LARGER = {"new_network_disk": NetworkDisk("", 4096)}


@pytest.mark.parametrize(
    ("queue", "values", "reason"),
    [
        ("gecko-9/b-linux", LARGER, "the file has no pool gecko-9/b-linux"),
        ("arm/template", LARGER, "an ARM template deploys its machines, and ignores"),
        # It shares its machines with one of a template.
        ("arm/plain", LARGER, "an ARM template deploys its machines, and ignores"),
        ("win/ephemeral", LARGER, "the image's copy on the machine's own disk"),
        ("gecko-1/b-linux", {**LARGER, "machine_type": "n2-standard-8"}, "no machine of its"),
        ("gecko-1/b-linux", {**LARGER, "network_disk": NetworkDisk("", 75)}, "exactly one such"),
        ("gecko-1/b-linux", {"new_network_disk": NetworkDisk("", 60)}, "no machine of its"),
        ("aws/linux", LARGER, "exactly one such disk"),
        (
            "infra/ssd",
            {
                "network_disk": NetworkDisk("hyperdisk-balanced", 500, 6000, 300 * MIB),
                "new_network_disk": NetworkDisk("pd-ssd", 500),
            },
            "its disk has provisioned rates",
        ),
        ("win/gpu", {"machine_type": "F8s_v2", "new_machine_type": "F16s_v2"}, "no machine of its"),
    ],
)
def test_no_patch(queue: str, values: dict[str, Any], reason: str) -> None:
    """A change that would do nothing, or not what is meant, has a reason instead."""
    with pytest.raises(NoPatchError, match=reason):
        change(queue, **values)


def test_size_that_a_template_has() -> None:
    """A size beside it would change nothing."""
    parameters = "{templateSpecId: /a/template, parameters: {vmSize: Standard_F8s_v2}}"
    text = POOLS.replace("{templateSpecId: /a/template}", parameters)
    sizes = {"machine_type": "F8s_v2", "new_machine_type": "F16s_v2"}
    with pytest.raises(NoPatchError, match="an ARM template deploys its machines, and ignores"):
        change("arm/template", text, **sizes)


WORKER_MANAGER = """\
pools:
  - workerPoolId: a/b
    config: {launchConfigs: [{machineType: n2, disks: [{boot: true, diskSizeGb: 60}]}]}
"""
SHARED = """\
meta:
  - &types
    - machine_type: n2
      disks:
        - {boot: true, diskSizeGb: 60}
pools:
  - pool_id: a/{x}
    variants: [{x: b}, {x: c}]
    config: {instance_types: &machines [{machine_type: n2, disks: [{boot: true}]}]}
  - {pool_id: d/e, config: {instance_types: *machines}}
  - {pool_id: f/g, config: {instance_types: *types}}
  - {pool_id: h/i, config: {instance_types: *types}}
"""


def test_definitions_of_worker_manager() -> None:
    """They are generated; a patch of them would be lost."""
    with pytest.raises(NoPatchError, match="the file has no pool a/b"):
        change("a/b", WORKER_MANAGER, **LARGER)


def test_machines_that_others_use() -> None:
    """They keep theirs where the pool only names them, and refuse a patch where it has them."""
    patch, pools = change("f/g", SHARED, **LARGER)
    assert pools == ["f/g"]
    machines = "[{machine_type: n2, disks: [{boot: true, diskSizeGb: 4096}]}]"
    assert changed_lines(patch)[1] == (
        f"+  - {{pool_id: f/g, config: {{instance_types: {machines}}}}}"
    )
    with pytest.raises(NoPatchError, match="others use the same definition"):
        change("a/b", SHARED, **LARGER)


def test_machines_that_an_entry_has_elsewhere() -> None:
    """What else is made of them would change as well."""
    machine = "{machine_type: n2, disks: [{boot: true}]}"
    text = f"pools: [{{pool_id: a/b, config: {{instance_types: [&n2 {machine}], spare: *n2}}}}]\n"
    with pytest.raises(NoPatchError, match="in a form that is not known"):
        change("a/b", text, **LARGER)
    assert change("a/b", text.replace("*n2", "1"), **LARGER)[1] == ["a/b"]


def test_entry_with_many_pools() -> None:
    """What changes them all is refused, because each would be compared."""
    text = SHARED.replace("{x: c}", "{x: c}, " * 1_998 + "{x: d}")
    text = text.replace("&machines ", "").replace("*machines", "*types")
    assert len(change("a/b", text, **LARGER)[1]) == 2_000
    text = text.replace("{x: d}", "{x: d}, {x: e}")
    with pytest.raises(NoPatchError, match="its entry has more variants than 2,000"):
        change("a/b", text, **LARGER)
