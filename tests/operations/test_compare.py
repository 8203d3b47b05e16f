# SPDX-License-Identifier: MPL-2.0
"""What a comparison reads beside the results: where the earlier pushes of a pool are."""

import io
from pathlib import Path

import seed_case

from io_benchmark.analysis.model.pool_machine import NetworkDisk, PoolMachine
from io_benchmark.analysis.model.run import Worker
from io_benchmark.context import Context
from io_benchmark.operations.compare import _histories, read_sides
from io_benchmark.sources.gather import Gathered
from io_benchmark.sources.taskcluster.addresses import IndexAddress

FIRST, SECOND, THIRD = (IndexAddress("https://tc.example", name) for name in ("a.b", "a.c", "a.d"))


def test_one_history_counts() -> None:
    """That of the pool after a change.

    Of several the first by name, in whatever order they come.
    """
    before, after = (
        Gathered[Worker]((), (), (), (), (), pasts)
        for pasts in ({"amd-16": {FIRST}, "intel": {SECOND}}, {"amd-16": {THIRD, SECOND}})
    )
    assert _histories([before, after]) == {"amd-16": SECOND, "intel": SECOND}


DEFINITIONS = """\
pools:
  - pool_id: '{group}/b-linux-docker-amd'
    variants: [{group: gecko-t}]
    config:
      instance_types:
        - machine_type: c3d-standard-16-lssd
          disks: [{boot: true, diskSizeGb: 60}]
"""


def test_defined_machines(tmp_path: Path) -> None:
    """Workers get those of the file, on both sides of a change; a remark says what is missing."""
    for folder in ("before", "after"):
        seed_case.write(tmp_path / folder, pools=("amd-16", "intel"))
    (tmp_path / "pools.yml").write_text(DEFINITIONS)
    context = Context(None, io.StringIO(), io.StringIO(), {})
    addresses = [str(tmp_path / "after")], [str(tmp_path / "before")]
    sides = read_sides(context, *addresses, None, tmp_path / "pools.yml")
    machine = PoolMachine("google", "c3d-standard-16-lssd", NetworkDisk("", 60))
    assert {worker.side: worker.defined for worker in sides.workers} == {
        "amd-16 before": machine,
        "intel before": None,
        "amd-16 after": machine,
        "intel after": None,
    }
    assert sides.remarks == ["pools.yml: no definition: gecko-t/b-linux"]
    without_file = read_sides(context, *addresses, None)
    assert [worker.defined for worker in without_file.workers] == [None] * 4
    assert without_file.remarks == []
