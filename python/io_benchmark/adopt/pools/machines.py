# SPDX-License-Identifier: MPL-2.0
"""From a machine as a pool's definition has it to what it says of its type and its disks."""

import re
from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from io_benchmark.adopt.pools.entries import Pool
from io_benchmark.adopt.pools.keyed_values import Path, UnknownFormError, Words, filled, resolve
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


class Fields(NamedTuple):
    """Where a cloud's definitions have what a network disk is, in its mapping."""

    kind: Path
    sizes: tuple[Path, ...]  # several: the first that is there
    iops: Path
    rate: Path
    rate_unit: float  # bytes per second


FIELDS = {
    "google": Fields(
        kind=("initializeParams", "diskType"),
        sizes=(("diskSizeGb",), ("initializeParams", "diskSizeGb")),
        iops=("initializeParams", "provisionedIops"),
        rate=("initializeParams", "provisionedThroughput"),
        rate_unit=_MIB,
    ),
    "amazon": Fields(
        kind=("Ebs", "VolumeType"),
        sizes=(("Ebs", "VolumeSize"),),
        iops=("Ebs", "Iops"),
        rate=("Ebs", "Throughput"),
        rate_unit=_MIB,
    ),
    "azure": Fields(
        kind=("managedDisk", "storageAccountType"),
        sizes=(("diskSizeGB",),),
        iops=("diskIOPSReadWrite",),
        rate=("diskMBpsReadWrite",),
        rate_unit=_MB,
    ),
}


class DefinedDisk(NamedTuple):
    """A network disk, and where its machine's definition has it."""

    path: Path
    disk: NetworkDisk
    is_boot: bool


class DefinedMachine(NamedTuple):
    """What a definition says of one machine."""

    cloud: str
    machine_type: str
    disks: Sequence[DefinedDisk] = ()
    local_ssds: int | None = None

    @property
    def machine(self) -> PoolMachine:
        """Return it without its places; raise an UnknownFormError if it has two boot disks."""
        boot_disks = [defined.disk for defined in self.disks if defined.is_boot]
        if len(boot_disks) > 1:
            raise UnknownFormError
        return PoolMachine(
            self.cloud,
            self.machine_type,
            boot_disks[0] if boot_disks else None,
            tuple(defined.disk for defined in self.disks if not defined.is_boot),
            self.local_ssds,
        )


def machine_of(machine: Any, pool: Pool) -> DefinedMachine:
    """Return what a definition says of one machine; raise an UnknownFormError."""
    values = _mapping(machine)
    if "vmSize" in values or "hardwareProfile" in values or "armDeployment" in values:
        return _azure(values, pool)
    if "instanceType" in values or "launchConfig" in values:
        return _amazon(values)
    return _google(values, pool)


def _google(values: Mapping[Any, Any], pool: Pool) -> DefinedMachine:
    machine_type = _name(values.get(MACHINE, values.get("machineType")), pool.words)
    disks: list[DefinedDisk] = []
    local_ssds = 0
    for number, disk in enumerate(_list(values.get("disks"))):
        kind = _at(disk, FIELDS["google"].kind)
        if str(kind).endswith("local-ssd") or disk.get("type") == "SCRATCH":
            local_ssds += 1
        else:
            is_boot = disk.get("boot") is True
            disks.append(_network_disk(disk, "google", ("disks", number), is_boot=is_boot))
    has_fixed = not local_ssds and _HAVE_LOCAL_SSDS.fullmatch(machine_type)
    return DefinedMachine("google", machine_type, disks, None if has_fixed else local_ssds)


def _amazon(values: Mapping[Any, Any]) -> DefinedMachine:
    launch = _mapping(values.get("launchConfig"))
    disks = []
    for number, device in enumerate(_list(launch.get("BlockDeviceMappings"))):
        if "Ebs" in _mapping(device):  # otherwise an instance store, or none
            is_boot = device.get("DeviceName") in _ROOT_DEVICES
            path = ("launchConfig", "BlockDeviceMappings", number)
            disks.append(_network_disk(device, "amazon", path, is_boot=is_boot))
    machine_type = _name(launch.get("InstanceType", values.get("instanceType")))
    return DefinedMachine("amazon", machine_type, disks)


def _azure(values: Mapping[Any, Any], pool: Pool) -> DefinedMachine:
    """Return a machine of Azure; where a template makes it, its disks are not known."""
    launch = _mapping(values.get("launchConfig")) or values
    hardware = _mapping(launch.get("hardwareProfile"))
    words = _words_with_size(values, pool)
    template = arm_parameters(values, pool)
    if template is not None:
        return DefinedMachine("azure", _vm_size(template.get("vmSize", words["vmSize"])))
    size = _vm_size(resolve(hardware.get("vmSize", words["vmSize"]), words)[0])
    storage = _mapping(launch.get("storageProfile"))
    path: Path = ("storageProfile",) if launch is values else ("launchConfig", "storageProfile")
    disks = []
    if "osDisk" in storage:
        disks.append(_network_disk(storage["osDisk"], "azure", (*path, "osDisk"), is_boot=True))
    for number, disk in enumerate(_list(storage.get("dataDisks"))):
        disks.append(_network_disk(disk, "azure", (*path, "dataDisks", number), is_boot=False))
    return DefinedMachine("azure", size, disks)


def arm_parameters(values: Mapping[Any, Any], pool: Pool) -> Mapping[Any, Any] | None:
    """Return the parameters of the ARM template that makes a machine; None where none does.

    A template does not get the machine's `hardwareProfile` and `storageProfile`.
    """
    words = _words_with_size(values, pool)
    layers = [resolve(part.get("armDeployment"), words)[0] for part in (pool.config, values)]
    if False in layers or layers == [None, None]:
        return None
    parameters: dict[Any, Any] = {}
    for layer in layers:
        for name, value in _mapping(_mapping(layer).get("parameters")).items():
            parameters[name] = value.get("value", value) if isinstance(value, dict) else value
    return parameters


def _words_with_size(values: Mapping[Any, Any], pool: Pool) -> Words:
    """Return the words of a machine of Azure, whose size other keyed values may depend on."""
    return ChainMap({"vmSize": resolve(values.get("vmSize"), pool.words)[0]}, dict(pool.words))


def _network_disk(values: Any, cloud: str, path: Path, *, is_boot: bool) -> DefinedDisk:
    fields = FIELDS[cloud]
    kind = _at(values, fields.kind)
    sizes = [size for size in (_at(values, field) for field in fields.sizes) if size is not None]
    disk = NetworkDisk(
        "" if kind is None else _name(kind),
        _number(sizes[0]) if sizes else None,
        _number(_at(values, fields.iops)),
        _number(_at(values, fields.rate), fields.rate_unit),
        is_ephemeral=bool(_mapping(_mapping(values).get("diffDiskSettings"))),
    )
    return DefinedDisk(path, disk, is_boot)


def _at(values: Any, path: Path) -> Any:
    *parents, key = path
    for step in parents:
        values = _mapping(values).get(step)
    return _mapping(values).get(key)


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


def _number(value: Any, unit: float = 1.0) -> float | None:
    """Return a positive number; worker-manager's form may have it as a text."""
    if value is None:
        return None
    if isinstance(value, str) and re.fullmatch("[0-9]{1,9}", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _MOST:
        raise UnknownFormError
    return value * unit
