# SPDX-License-Identifier: MPL-2.0
"""From a machine as a pool's definition has it to what it says of its type and its disks."""

import re
from collections import ChainMap
from collections.abc import Mapping
from typing import Any

from io_benchmark.adopt.keyed_values import UnknownFormError, Words, filled, resolve
from io_benchmark.adopt.pool_entries import Pool
from io_benchmark.analysis.model.pool_machine import NetworkDisk, PoolMachine

MACHINE = "machine_type"
_MIB = 2.0**20
_MB = 1e6
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,99}")
_MOST = 1e7  # of a size in GB, a rate in MB or IOPS per second. Chosen far above all clouds'.
# Machine types whose local SSDs are there without being named.
_HAVE_LOCAL_SSDS = re.compile("(?:z3|a3|a2-ultragpu)-.*|.*lssd.*")
# How images of Amazon name their root volume.
_ROOT_DEVICES = ("/dev/sda1", "/dev/xvda")
_NO_WORDS: Words = {}


def machine_of(machine: Any, pool: Pool) -> PoolMachine:
    """Return what a definition says of one machine; raise an UnknownFormError."""
    values = _mapping(machine)
    if "vmSize" in values or "hardwareProfile" in values or "armDeployment" in values:
        return _azure(values, pool)
    if "instanceType" in values or "launchConfig" in values:
        return _amazon(values)
    return _google(values, pool)


def is_local_ssd(disk: Mapping[Any, Any]) -> bool:
    kind = _mapping(disk.get("initializeParams")).get("diskType")
    return str(kind).endswith("local-ssd") or disk.get("type") == "SCRATCH"


def _google(values: Mapping[Any, Any], pool: Pool) -> PoolMachine:
    machine_type = _name(values.get(MACHINE, values.get("machineType")), pool.words)
    boot_disks: list[NetworkDisk] = []
    data_disks: list[NetworkDisk] = []
    local_ssds = 0
    for disk in _list(values.get("disks")):
        parameters = _mapping(_mapping(disk).get("initializeParams"))
        if is_local_ssd(disk):
            local_ssds += 1
            continue
        network_disk = NetworkDisk(
            _kind(parameters.get("diskType")),
            _number(disk.get("diskSizeGb", parameters.get("diskSizeGb"))),
            _number(parameters.get("provisionedIops")),
            _number(parameters.get("provisionedThroughput"), _MIB),
        )
        (boot_disks if disk.get("boot") is True else data_disks).append(network_disk)
    if len(boot_disks) > 1:
        raise UnknownFormError
    has_fixed = not local_ssds and _HAVE_LOCAL_SSDS.fullmatch(machine_type)
    return PoolMachine(
        "google",
        machine_type,
        boot_disks[0] if boot_disks else None,
        tuple(data_disks),
        None if has_fixed else local_ssds,
    )


def _amazon(values: Mapping[Any, Any]) -> PoolMachine:
    launch = _mapping(values.get("launchConfig"))
    boot_disk, data_disks = None, []
    for device in _list(launch.get("BlockDeviceMappings")):
        if "Ebs" not in _mapping(device):
            continue  # an instance store, or none
        volume = _mapping(device["Ebs"])
        network_disk = NetworkDisk(
            _kind(volume.get("VolumeType")),
            _number(volume.get("VolumeSize")),
            _number(volume.get("Iops")),
            _number(volume.get("Throughput"), _MIB),
        )
        if device.get("DeviceName") in _ROOT_DEVICES:
            boot_disk = network_disk
        else:
            data_disks.append(network_disk)
    machine_type = _name(launch.get("InstanceType", values.get("instanceType")))
    return PoolMachine("amazon", machine_type, boot_disk, tuple(data_disks))


def _azure(values: Mapping[Any, Any], pool: Pool) -> PoolMachine:
    """Return a machine of Azure; where a template makes it, its disks are not known."""
    launch = _mapping(values.get("launchConfig")) or values
    hardware = _mapping(launch.get("hardwareProfile"))
    size = resolve(values.get("vmSize"), pool.words)[0]
    words = ChainMap({"vmSize": size}, dict(pool.words))
    template = arm_parameters(values, pool, words)
    if template is not None:
        return PoolMachine("azure", _vm_size(template.get("vmSize", size)))
    size = _vm_size(resolve(hardware.get("vmSize", size), words)[0])
    storage = _mapping(launch.get("storageProfile"))
    boot_disk = _azure_disk(_mapping(storage["osDisk"])) if "osDisk" in storage else None
    data_disks = [_azure_disk(_mapping(disk)) for disk in _list(storage.get("dataDisks"))]
    return PoolMachine("azure", size, boot_disk, tuple(data_disks))


def arm_parameters(values: Mapping[Any, Any], pool: Pool, words: Words) -> dict[Any, Any] | None:
    """Return the parameters of the ARM template that makes a machine; None where none does.

    A template does not get the machine's `hardwareProfile` and `storageProfile`.
    """
    layers = [resolve(part.get("armDeployment"), words)[0] for part in (pool.config, values)]
    if False in layers or layers == [None, None]:
        return None
    parameters: dict[Any, Any] = {}
    for layer in layers:
        for name, value in _mapping(_mapping(layer).get("parameters")).items():
            parameters[name] = value.get("value", value) if isinstance(value, dict) else value
    return parameters


def _azure_disk(disk: Mapping[Any, Any]) -> NetworkDisk:
    return NetworkDisk(
        _kind(_mapping(disk.get("managedDisk")).get("storageAccountType")),
        _number(disk.get("diskSizeGB")),
        _number(disk.get("diskIOPSReadWrite")),
        _number(disk.get("diskMBpsReadWrite"), _MB),
        is_ephemeral=bool(_mapping(disk.get("diffDiskSettings"))),
    )


def _vm_size(value: Any) -> str:
    return re.sub("(?i)^Standard_", "", _name(value))


def _mapping(value: Any) -> Mapping[Any, Any]:
    """Return a mapping, which may be missing."""
    if not isinstance(value, dict | None):
        raise UnknownFormError
    return value or {}


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list | None):
        raise UnknownFormError
    return value or []


def _name(value: Any, words: Words = _NO_WORDS) -> str:
    """Return the bare name of `zones/…/machineTypes/c2-standard-16`."""
    bare = filled(value.rsplit("/", 1)[-1], words) if isinstance(value, str) else ""
    if not _NAME.fullmatch(bare):
        raise UnknownFormError
    return bare


def _kind(value: Any) -> str:
    return "" if value is None else _name(value)


def _number(value: Any, unit: float = 1.0) -> float | None:
    """Return a positive number; worker-manager's form may have it as a text."""
    if value is None:
        return None
    if isinstance(value, str) and re.fullmatch("[0-9]{1,9}", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _MOST:
        raise UnknownFormError
    return value * unit
