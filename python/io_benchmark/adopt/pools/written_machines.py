# SPDX-License-Identifier: MPL-2.0
"""Change values of machines as a pool's definition has them: network disks, and Azure's sizes.

Only values are set, so that comments, anchors and other pools stay.
"""

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from io_benchmark.adopt.pools.entries import POOLS, Pool
from io_benchmark.adopt.pools.keyed_values import Path, find
from io_benchmark.adopt.pools.machines import (
    FIELDS,
    DefinedDisk,
    DefinedMachine,
    arm_parameters,
    machine_of,
)
from io_benchmark.adopt.pools.named_machines import NoPatchError
from io_benchmark.adopt.pools.yaml_values import with_part, with_value
from io_benchmark.analysis.investigation.investigation_model import Fix
from io_benchmark.analysis.model.pool_machine import NetworkDisk

_Setting = tuple[Path, Any]  # a path in a machine, and the new value there
_PREFIX = re.compile("^standard_", re.IGNORECASE)  # of Azure's sizes
# Of clouds whose machine types have their local disks without being named
_TYPE_PATHS: Sequence[Path] = (
    ("vmSize",),
    ("launchConfig", "hardwareProfile", "vmSize"),
    ("instanceType",),
    ("launchConfig", "InstanceType"),
)
_GOOGLE_KINDS = "diskTypes/"


def sets_values(pool: Pool, fix: Fix) -> bool:
    """Return whether a fix sets values of machines; others name another machine."""
    if fix.new_network_disk is not None:
        return True
    clouds = {machine_of(machine, pool).cloud for machine in pool.machines()}
    return bool(fix.new_machine_type) and "google" not in clouds


def text_with_values(content: str, pool: Pool, fix: Fix) -> str:
    """Return the text of a file where a pool's machines have the values of a fix."""
    is_changed = False
    for number, machine in enumerate(pool.machines()):
        for path, value in _settings(machine, pool, fix):
            _, path_in_machine = find(machine, path, pool.words)
            steps = (POOLS, pool.number, *pool.machines_path, number, *path_in_machine)
            content = with_value(content, steps, value)
            is_changed = True
    if not is_changed:
        raise NoPatchError("no machine of its definition needs the change")
    return content


def machines_with_values(pool: Pool, machines: Sequence[Any], fix: Fix) -> Sequence[Any]:
    """Return a pool's machines, without keyed values, as a fix wants them."""
    return [_with_settings(machine, _settings(machine, pool, fix)) for machine in machines]


def _with_settings(machine: Any, settings: Sequence[_Setting]) -> Any:
    for path, value in settings:
        machine = with_part(machine, path, value)
    return machine


def _settings(machine: Any, pool: Pool, fix: Fix) -> Sequence[_Setting]:
    """Return what a fix sets in a machine; nothing where it is not about machines of its type."""
    defined = machine_of(machine, pool)
    if fix.machine_type and _bare(defined.machine_type) != _bare(fix.machine_type):
        return ()
    template = arm_parameters(machine, pool) if defined.cloud == "azure" else None
    if template is not None and (fix.new_network_disk is not None or "vmSize" in template):
        raise NoPatchError(
            "an ARM template deploys its machines, and ignores what the definition says of them; "
            "change the template"
        )
    if fix.new_network_disk is None:
        return [*_type_settings(machine, pool, fix)]
    return [*_disk_settings(machine, _disk_to_change(defined, fix), defined.cloud, fix)]


def _type_settings(machine: Any, pool: Pool, fix: Fix) -> Iterator[_Setting]:
    for path in _TYPE_PATHS:
        present, _ = find(machine, path, pool.words)
        if isinstance(present, str) and _bare(present) == _bare(fix.machine_type):
            prefix = _PREFIX.match(present)
            new_type = _PREFIX.sub("", fix.new_machine_type)
            yield path, f"{prefix[0]}{new_type}" if prefix else new_type


def _bare(machine_type: str) -> str:
    return _PREFIX.sub("", machine_type).lower()


def _disk_to_change(defined: DefinedMachine, fix: Fix) -> DefinedDisk:
    disks = [entry for entry in defined.disks if _is_present(entry, fix.network_disk)]
    if len(disks) != 1:
        raise NoPatchError("its definition does not name exactly one such disk")
    return disks[0]


def _is_present(entry: DefinedDisk, present: NetworkDisk | None) -> bool:
    """Return whether a disk is the present one, by what its definition says."""
    if present is None:
        return entry.is_boot
    disk = entry.disk
    return (
        disk.kind in ("", present.kind)
        and disk.size_gib in (None, present.size_gib)
        and disk.is_ephemeral == present.is_ephemeral
    )


def _disk_settings(machine: Any, entry: DefinedDisk, cloud: str, fix: Fix) -> Iterator[_Setting]:
    """Yield the values that make another disk of one; what the new disk leaves out stays."""
    fields, old, new = FIELDS[cloud], entry.disk, fix.new_network_disk or entry.disk
    if old.is_ephemeral or new.is_ephemeral:
        raise NoPatchError("its disk is the image's copy on the machine's own disk")
    old_kind = old.kind or (fix.network_disk.kind if fix.network_disk else "")
    if new.kind not in ("", old_kind):
        if old.provisioned_iops or old.provisioned_bytes_per_s:
            raise NoPatchError("its disk has provisioned rates, which belong to its present kind")
        yield (*entry.path, *fields.kind), _kind_as_written(machine, entry, cloud, new.kind)
    values = {
        fields.iops: (old.provisioned_iops, new.provisioned_iops, 1.0),
        fields.rate: (
            old.provisioned_bytes_per_s,
            new.provisioned_bytes_per_s,
            fields.rate_unit,
        ),
    }
    sizes = [
        path for path in fields.sizes if find(machine, (*entry.path, *path), {})[0] is not None
    ]
    values[sizes[0] if sizes else fields.sizes[0]] = (old.size_gib, new.size_gib, 1.0)
    for path, (present, new_value, unit) in values.items():
        if new_value is not None and new_value != present:
            yield (*entry.path, *path), math.ceil(new_value / unit)


def _kind_as_written(machine: Any, entry: DefinedDisk, cloud: str, kind: str) -> str:
    """Return a kind with what is before it in the definition."""
    present, _ = find(machine, (*entry.path, *FIELDS[cloud].kind), {})
    if isinstance(present, str):
        return present[: len(present) - len(present.rpartition("/")[2])] + kind
    return _GOOGLE_KINDS + kind if cloud == "google" else kind
