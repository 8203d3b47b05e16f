# SPDX-License-Identifier: MPL-2.0
"""Files of YAML with mistakes, in a project and of pools: one line, never a traceback."""

import random
import re
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from io_benchmark.adopt.pools.definitions import NoPatchError, PoolDefinitions
from io_benchmark.adopt.projects.pools import CONFIG
from io_benchmark.adopt.projects.project import KIND, Project
from io_benchmark.analysis.investigation.investigation_model import (
    Fix,
)
from io_benchmark.analysis.model.cause import (
    Remedy,
    Target,
)
from io_benchmark.analysis.model.pool_machine import NetworkDisk
from io_benchmark.analysis.model.statements import statement
from io_benchmark.errors import IoBenchmarkError
from io_benchmark.yaml_reader import YamlError, parse_yaml

MUTATIONS, SHORT = 10_000, 300  # all of them under --long
PROJECT = """\
taskgraph:
  cached-task-prefix: "mozilla.v2.my-proj"
  repositories: &all
    my_proj: {name: my-proj}
workers:
  aliases:
    b-small: &worker {implementation: docker-worker, os: linux}
    b-large: *worker
    b-(x|y)z: {<<: *worker, os: linux}
    'b-win': {implementation: generic-worker, os: windows}
"""
POOLS = """\
meta:
  - &ssd {initializeParams: {diskType: local-ssd}}
  - &small {machine_type: small, disks: [*ssd]}
  - &large {machine_type: large, disks: [*ssd, *ssd]}
pools:
  - pool_id: '{group}/shared{suffix}'
    attributes: {suffix: ''}
    variants:
      - {group: a, instance_types: &types [*small]}
      - {group: b, instance_types: *types}
      - {group: c, instance_types: [*small, *large]}
    config: {minCapacity: 0}
  - pool_id: one/disks
    config:
      instance_types:
        - machine_type: small
          disks:
            - *ssd
  - {pool_id: one/other, config: {instance_types: [*small]}}
  - pool_id: one/network
    config:
      instance_types:
        - &middle
          machine_type: middle
          disks:
            - &boot
              boot: true  # of ours
              initializeParams: {sourceImage: image}
            - *ssd
  - {pool_id: two/network, config: {instance_types: [*middle, {<<: *middle, disks: [*boot]}]}}
"""
REMEDY = Remedy("x", statement("x"), None, False, ())
FIXES: dict[str, tuple[Any, ...]] = {
    "a/shared": ("small", "large"),
    "c/shared": ("small",),
    "one/disks": ("small", "", 1),
    "one/other": ("small", "large"),
    "one/network": ("middle", "", 0, None, NetworkDisk("pd-ssd", 200)),
    "two/network": ("middle", "", 0, None, NetworkDisk("pd-ssd", 200)),
}
PIECES = (
    "[", "]", "{", "}", ":", "- ", "? ", "&ssd ", "*ssd ", "<<: ", "!!int ", "!!bool ", "!!set ",
    "!!timestamp ", "!!binary ", "!x ", "'", '"', "|", "> ", "\n", "\t", " ", "#", "=", "~",
    "null", "true", ".nan", "0x", "1:2:3", "2026-99-99", "9" * 101, "\0", "\f", "\u2028", "\x85",
    "---\n", "...\n", "%YAML 9.9\n", "@", "`", "a" * 1_100, "\r\n", "\ufeff", "linux",
    "instance_types",
)  # fmt: skip


def mutated(generator: random.Random, text: str) -> str:
    """Return the text with pieces put in, cut out, repeated or moved."""
    for _ in range(generator.randint(1, 3)):
        at, other = generator.randrange(len(text) + 1), generator.randrange(len(text) + 1)
        piece = generator.choice(
            (generator.choice(PIECES), "", text[other : other + generator.randint(1, 60)])
        )
        end = at + generator.choice((0, generator.randint(0, 20)))
        text = text[:at] + piece + text[end:] or " "
    return text


def check_project(folder: Path, text: str) -> None:
    """Its kind has pools whose names are texts; or one line says why there is none."""
    (folder / CONFIG).write_bytes(text.encode())
    problem, changes = "", []
    try:
        changes = Project.open(folder).propose({}, "image").changes
    except IoBenchmarkError as error:
        problem = str(error)
    assert "\n" not in problem
    if problem:
        return
    (kind,) = (yaml.safe_load(change.after or b"") for change in changes if change.path == KIND)
    for name, task in kind["tasks"].items():
        assert isinstance(name, str)
        assert isinstance(task["worker-type"], str)


def definitions(text: str) -> dict[str, Any]:
    """Return what the generator of Firefox's pools takes of each pool."""
    pools = {}
    for entry in yaml.safe_load(text)["pools"]:
        variants = entry.get("variants") if isinstance(entry, dict) else None
        for variant in variants or [{}]:
            # Of an entry that the generator refuses there are no pools.
            with suppress(KeyError, ValueError, IndexError, AttributeError, TypeError):
                words = {**(entry.get("attributes") or {}), **variant}
                name = entry["pool_id"].format(**words).rstrip("-")
                types = (entry.get("config") or {}).get("instance_types")
                pools[name] = repr((types or words.get("instance_types"), entry.get("config")))
    return pools


def check_pools(folder: Path, text: str, queue: str) -> bool:
    """The patch is one that git applies, and it changes the pools that are named and no others."""
    try:
        file = PoolDefinitions("pools.yml", text)
        patch, names = file.change_machines(queue, Fix(Target.POOL, REMEDY, *FIXES[queue]))
    except (NoPatchError, YamlError):
        return False
    (folder / "pools.yml").write_bytes(text.encode())
    command = ["git", "apply", "--whitespace=nowarn", "-"]
    subprocess.run(command, input=patch.encode(), cwd=folder, check=True)
    after = definitions((folder / "pools.yml").read_bytes().decode())
    before = definitions(text)
    changed = [name for name in before if before[name] != after[name]]
    assert changed == [name for name in names if not re.search("[{}]", name)], text
    return True


def test_mutated_files(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Each has the meaning that PyYAML gives it, or is refused in one line; patches are right."""
    (tmp_path / CONFIG).parent.mkdir()
    generator, patches = random.Random(44), 0
    for _ in range(MUTATIONS if request.config.getoption("--long") else SHORT):
        is_project = generator.random() < 0.4
        text = mutated(generator, PROJECT if is_project else POOLS)
        meaning, problem = "", ""
        try:
            meaning = repr(parse_yaml(text))
        except YamlError as error:
            problem = str(error)
        assert problem.isprintable()
        assert problem or meaning == repr(yaml.safe_load(text))
        if is_project:
            check_project(tmp_path, text)
        else:
            patches += check_pools(tmp_path, text, generator.choice([*FIXES]))
    assert patches > 10
