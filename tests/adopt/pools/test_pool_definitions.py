# SPDX-License-Identifier: MPL-2.0
"""Changes of worker-pools.yml: one pool's machines and nothing else, or the reason for no patch."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from io_benchmark.adopt.pools import definitions
from io_benchmark.adopt.pools.definitions import NoPatchError, PoolDefinitions
from io_benchmark.analysis.investigation.investigation_model import (
    Fix,
)
from io_benchmark.analysis.model.cause import (
    Remedy,
    Target,
)
from io_benchmark.analysis.model.statements import statement
from io_benchmark.errors import UsageError

LSSD_16 = "c3d-standard-16-lssd"
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
  - {pool_id: no/machines, config: {}}
"""
REMEDY = Remedy("x", statement("x"), None, False, ())


def change(queue: str, *machines: Any, text: str = POOLS) -> tuple[str, Sequence[str]]:
    definitions = PoolDefinitions("worker-pools.yml", text)
    return definitions.change_machines(queue, Fix(Target.POOL, REMEDY, *machines))


def applied(folder: Path, patch: str, text: str = POOLS) -> Any:
    """Return the pools after git has applied the patch."""
    (folder / "worker-pools.yml").write_text(text)
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
    assert pools == ["gecko-3/b-linux"]


@pytest.mark.parametrize("more", [1, 3])
def test_local_ssds(tmp_path: Path, more: int) -> None:
    """The line of a local SSD is repeated; all pools of the entry get it, which is said."""
    patch, pools = change("gecko-1/t-linux", "c2-standard-16", "", more)
    disks = applied(tmp_path, patch)[1]["config"]["instance_types"][0]["disks"]
    assert [disk["type"] for disk in disks] == ["PERSISTENT", *["SCRATCH"] * (1 + more)]
    assert pools == ["gecko-1/t-linux", "gecko-3/t-linux"]


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
        ("gecko-9/b-linux", (LSSD_16, "c3d-standard-30-lssd"), "no pool gecko-9/b-linux"),
        ("gecko-1/b-linux", (LSSD_16, "c3d-standard-60-lssd"), "defines no c3d-standard-60-lssd"),
        ("gecko-1/t-linux", ("c2-standard-16", "c3d-standard-30-lssd"), "are written out"),
        ("gecko-1/b-linux", (LSSD_16, "", 1), "others use the same definition"),
        ("gecko-1/t-linux", ("n2-standard-16", "", 1), "not lines of their own"),
        ("gecko-1/b-linux", ("c3d-standard-16-lssd",), "does not name the slower machines"),
        ("mixed/flow", ("n2-standard-16",), "does not name the slower machines"),
        ("no/machines", ("n2-standard-16",), "its instance_types are not a list"),
        ("no/machines", ("n2-standard-16", "n2-standard-32"), "no machine of its definition"),
    ],
)  # fmt: skip
def test_no_patch(queue: str, machines: tuple[Any, ...], reason: str) -> None:
    """More or less than one pool's machines would change: the reason instead of a patch."""
    with pytest.raises(NoPatchError, match=reason):
        change(queue, *machines)


SHARED = """\
meta:
  - &small {machine_type: small, disks: []}
  - &large {machine_type: large, disks: []}
pools:
  - pool_id: '{group}/shared'
    variants:
      - {group: a, instance_types: &types [*small]}
      - {group: b, instance_types: *types}
      - {group: c, instance_types: [*small]}
"""
OTHER = "  - {pool_id: other/pool, config: {instance_types: *types}}\n"


def test_variants_that_share_their_types(tmp_path: Path) -> None:
    """Each pool that gets the change is named, whichever of them is asked for.

    Those of other entries refuse it.
    """
    for queue in ("a/shared", "b/shared"):
        patch, pools = change(queue, "small", "large", text=SHARED)
        assert pools == ["a/shared", "b/shared"]
        (pool,) = applied(tmp_path, patch, SHARED)
        assert [types(variant) for variant in pool["variants"]] == [["large"], ["large"], ["small"]]
    assert change("c/shared", "small", "large", text=SHARED)[1] == ["c/shared"]
    with pytest.raises(NoPatchError, match="others use the same definition"):
        change("a/shared", "small", "large", text=SHARED + OTHER)
    assert change("c/shared", "small", "large", text=SHARED + OTHER)[1] == ["c/shared"]


def test_pool_that_is_defined_twice() -> None:
    """Which of the definitions counts is not known."""
    with pytest.raises(NoPatchError, match="the file defines a/shared more than once"):
        change("a/shared", "small", "large", text=SHARED + "  - {pool_id: a/shared}\n")


def test_config_decides(tmp_path: Path) -> None:
    """As the generator of pools takes them: a variant's types count where `config` has none."""
    both = SHARED + "    config: {instance_types: [*small]}\n"
    patch, pools = change("c/shared", "small", "large", text=both)
    assert pools == ["a/shared", "b/shared", "c/shared"]
    (pool,) = applied(tmp_path, patch, both)
    assert [types(part) for part in (pool["config"], pool["variants"][2])] == [["large"], ["small"]]
    usual = "{group: b, instance_types: *types}"
    text = SHARED.replace(usual, "{group: b}") + "    attributes: {instance_types: [*small]}\n"
    assert change("b/shared", "small", "large", text=text)[1] == ["b/shared"]


def test_suffix_that_is_empty() -> None:
    """A name does not end with a dash, as its generator makes it.

    One with an unknown word is no pool's.
    """
    text = SHARED.replace("'{group}/shared'", "'{group}/shared-{suffix}'")
    with pytest.raises(NoPatchError, match="the file has no pool c/shared"):
        change("c/shared", "small", "large", text=text)
    text += "    attributes: {suffix: ''}\n"
    assert change("c/shared", "small", "large", text=text)[1] == ["c/shared"]


SSD = "{initializeParams: {diskType: local-ssd}}"


@pytest.mark.parametrize(
    ("text", "machines"),
    [
        pytest.param(
            f"meta: [&ssd {SSD}]\npools:\n  - pool_id: a/b\n    config:\n      instance_types:\n"
            "        - {machine_type: small, disks: [*ssd]}\n",
            ("small", "", 1),
            id="a machine on one line",
        ),
        pytest.param(
            f"meta: [&ssd {SSD}]\npools:\n  - pool_id: a/b\n    config:\n      instance_types:\n"
            "        - machine_type: small\n          disks: [*ssd]\n",
            ("small", "", 1),
            id="disks on one line",
        ),
        pytest.param(
            "pools:\n"
            "  - {pool_id: a/b, config: {instance_types: [&s {machine_type: small}, *s]}}\n",
            ("small", "large"),
            id="the other type is missing",
        ),
        pytest.param(
            "meta: [&s {machine_type: small}]\npools:\n"
            "  - {pool_id: a/b, config: {instance_types: [*s]}}\n"
            "  - {pool_id: a/c, config: {instance_types: [&l {machine_type: large}]}}\n",
            ("small", "large"),
            id="the other type is defined later",
        ),
        pytest.param(
            "meta: [&s {machine_type: small}]\npools:\n"
            "  - {pool_id: a/b, config: {instance_types: {by-x: {default: [*s]}}}}\n",
            ("small", "large"),
            id="keyed",
        ),
        pytest.param(
            "meta: [&s {machine_type: small}, &l {machine_type: large}]\npools:\n"
            "  - pool_id: a/b\n    config: {instance_types: [&x [*s], *x]}\n",
            ("small", "large"),
            id="lists of lists",
        ),
    ],
)
def test_other_forms(text: str, machines: tuple[Any, ...]) -> None:
    """No patch that would be something else than the change, and no traceback."""
    with pytest.raises(NoPatchError):
        change("a/b", *machines, text=text)


@pytest.mark.parametrize(
    "text", ["", "[]", "pools: 1", "pools: [1, {pool_id: [a]}]", "pools: [[]]"]
)
def test_files_without_the_pool(text: str) -> None:
    """Whatever the form of the file, the pool is missing."""
    with pytest.raises(NoPatchError, match="the file has no pool a/b"):
        change("a/b", "x", "y", text=text)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a: [", "is not YAML (line 1: expected the node content"),
        (b"\n- a: b: c", "is not YAML (line 2: mapping values are not allowed"),
        (b"pools: [1]\npools:\n", "is not YAML (line 2: 'pools' is given twice); correct it"),
        (b"a: &a [*a]", "is not YAML (line 1: *a contains itself)"),
        (b"\xff", "is not UTF-8 at byte 0; save it"),
        (b"a: 1\n" + b"#" * 2 * 1024**2, "is larger than 2 MiB; name a file of pools"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    """One line with the place; a file that is not read whole is not changed."""
    file = tmp_path / "worker-pools.yml"
    file.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        PoolDefinitions.read(file)
    assert str(caught.value).startswith(f"--pools-file {file}: {reason}")
    assert "\n" not in str(caught.value)


def test_largest_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file at the limit is read whole; of one byte more, no part is read."""
    file = tmp_path / "worker-pools.yml"
    file.write_text(SHARED)
    monkeypatch.setattr(definitions, "MOST_BYTES", len(SHARED))
    assert PoolDefinitions.read(file) == PoolDefinitions("worker-pools.yml", SHARED)
    monkeypatch.setattr(definitions, "MOST_BYTES", len(SHARED) - 1)
    with pytest.raises(UsageError, match="is larger than"):
        PoolDefinitions.read(file)
