# SPDX-License-Identifier: MPL-2.0
"""Changes of worker-pools.yml: one pool's machines and nothing else, or no patch with the reason."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from io_benchmark.adopt.pool_definitions import NoPatchError, change_machines
from io_benchmark.analysis.diagnosis_model import Remedy
from io_benchmark.analysis.investigation.investigation_model import Fix, Target
from io_benchmark.analysis.statements import statement
from io_benchmark.errors import UsageError

# In the form of fxci-config's file.
POOLS = """\
meta:
  - &persistent-disk
    type: PERSISTENT
  - &scratch-disk
    initializeParams:
      diskType: diskTypes/local-ssd
    type: SCRATCH
  - &c3d-standard-16-lssd
    disks:
      - *persistent-disk
      - *scratch-disk
    machine_type: c3d-standard-16-lssd
  - &c3d-standard-30-lssd
    disks: [*persistent-disk, *scratch-disk, *scratch-disk]
    machine_type: c3d-standard-30-lssd
pools:
  - pool_id: '{pool-group}/b-linux{suffix}'  # ä: not ASCII
    attributes: {suffix: ''}
    variants:
      - pool-group: gecko-1
        instance_types: [*c3d-standard-16-lssd]
      - pool-group: gecko-3
        instance_types: [*c3d-standard-16-lssd]
    config: {instance_types: []}
  - pool_id: '{pool-group}/t-linux'
    variants: [{pool-group: gecko-1}, {pool-group: gecko-3}]
    config:
      instance_types:
        - disks:
            - *persistent-disk
            - *scratch-disk
          machine_type: c2-standard-16
  - pool_id: mixed/flow
    config: {instance_types: [*c3d-standard-16-lssd, *c3d-standard-30-lssd]}
  - pool_id: mixed/block
    config:
      instance_types:
        - *c3d-standard-30-lssd
        - *c3d-standard-16-lssd
"""
REMEDY = Remedy("x", statement("x"), None, False, ())


def change(queue: str, *machines: Any, text: str = POOLS) -> tuple[str, int]:
    return change_machines(text, "worker-pools.yml", queue, Fix(Target.POOL, REMEDY, *machines))


def applied(folder: Path, patch: str) -> Any:
    """Return the pools after git has applied the patch."""
    (folder / "worker-pools.yml").write_text(POOLS)
    subprocess.run(["git", "apply", "-"], input=patch.encode(), cwd=folder, check=True)
    return yaml.safe_load((folder / "worker-pools.yml").read_text())["pools"]


def types(pool: Any) -> list[str]:
    return [entry["machine_type"] for entry in pool["instance_types"]]


def test_machine_type(tmp_path: Path) -> None:
    """One variant names another anchor, with the disks of that type; all others stay."""
    patch, pools = change("gecko-3/b-linux", "c3d-standard-16-lssd", "c3d-standard-30-lssd")
    changed, *others = applied(tmp_path, patch)
    first, second = changed["variants"]
    assert (types(first), types(second)) == (["c3d-standard-16-lssd"], ["c3d-standard-30-lssd"])
    assert len(second["instance_types"][0]["disks"]) == 3
    assert others == yaml.safe_load(POOLS)["pools"][1:]
    assert pools == 1


@pytest.mark.parametrize("more", [1, 3])
def test_local_ssds(tmp_path: Path, more: int) -> None:
    """The line of a local SSD is repeated; all pools of the entry get it, which is said."""
    patch, pools = change("gecko-1/t-linux", "c2-standard-16", "", more)
    disks = applied(tmp_path, patch)[1]["config"]["instance_types"][0]["disks"]
    assert [disk["type"] for disk in disks] == ["PERSISTENT", *["SCRATCH"] * (1 + more)]
    assert pools == 2


@pytest.mark.parametrize(
    ("queue", "slower", "kept"),
    [
        ("mixed/flow", "c3d-standard-16-lssd", "c3d-standard-30-lssd"),
        ("mixed/flow", "c3d-standard-30-lssd", "c3d-standard-16-lssd"),
        ("mixed/block", "c3d-standard-16-lssd", "c3d-standard-30-lssd"),
    ],
)
def test_slower_of_two_types(tmp_path: Path, queue: str, slower: str, kept: str) -> None:
    """It goes from the pool's list, in either form of YAML."""
    patch, _ = change(queue, slower)
    pools = {pool["pool_id"]: pool for pool in applied(tmp_path, patch)}
    assert types(pools[queue]["config"]) == [kept]


@pytest.mark.parametrize(
    ("queue", "machines", "reason"),
    [
        ("gecko-9/b-linux", ("c3d-standard-16-lssd", "c3d-standard-30-lssd"), "no pool gecko-9/b-linux"),
        ("gecko-1/b-linux", ("c3d-standard-16-lssd", "c3d-standard-60-lssd"), "defines no c3d-standard-60-lssd"),
        ("gecko-1/t-linux", ("c2-standard-16", "c3d-standard-30-lssd"), "are written out"),
        ("gecko-1/b-linux", ("c3d-standard-16-lssd", "", 1), "others use the same definition"),
        ("gecko-1/t-linux", ("n2-standard-16", "", 1), "not lines of their own"),
        ("gecko-1/b-linux", ("c3d-standard-16-lssd",), "does not name the slower machines"),
        ("mixed/flow", ("n2-standard-16",), "does not name the slower machines"),
    ],
)  # fmt: skip
def test_no_patch(queue: str, machines: tuple[Any, ...], reason: str) -> None:
    """More or less than one pool's machines would change: the reason instead of a patch."""
    with pytest.raises(NoPatchError, match=reason):
        change(queue, *machines)


@pytest.mark.parametrize(
    ("error", "reason", "texts"),
    [
        (UsageError, r"worker-pools\.yml.* is not YAML", ["a: [", "a: &x [*x", "\t", "- a: b: c"]),
        (
            *(NoPatchError, "the file has no pool a/b"),
            ["", "[]", "pools: 1", "pools: [1, {pool_id: [a]}]", "a: &a [*a]"],
        ),
    ],
)
def test_other_files(error: type[Exception], reason: str, texts: list[str]) -> None:
    """What is not YAML is one line with the place; of any other form there is no patch."""
    for text in texts:
        with pytest.raises(error, match=reason):
            change("a/b", "x", "y", text=text)
