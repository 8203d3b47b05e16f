# SPDX-License-Identifier: MPL-2.0
"""A deployment whose tasks left hostile artifacts: what `compare` and `fetch` take, as processes."""

import gzip

import pytest
from hostile_files import ATTACKS, MIB
from loopback import Loopback
from loopback_deployment import Artifact, Deployment, add_group
from measured_process import measure

PEAK_MB = 500
HONEST = 4
OVER_THE_WIRE = {
    # 60 MiB each, a few kB on the wire.
    "bombs": (lambda _number: b'{"version":1,"a":"' + b"x" * (60 * MIB), 64),
    **{
        name: ATTACKS[name]
        for name in ("samples", "samples-in-small-files", "timelines", "texts", "numbers")
    },
}
SHORT = 2


def packed(data):
    return Artifact(gzip.compress(data, 1), gzipped=False, headers={"Content-Encoding": "gzip"})


@pytest.mark.parametrize("command", ["compare", "fetch"])
@pytest.mark.parametrize("name", OVER_THE_WIRE)
def test_hostile_artifacts(command, name, tmp_path, request):
    """At most 500 MB, and every honest result is read."""
    make, count = OVER_THE_WIRE[name]
    if not request.config.getoption("--long"):
        count = min(count, SHORT)
    deployment = Deployment()
    group = add_group(deployment, count + HONEST)
    members = deployment.groups[group]
    same = packed(make(0)) if name in ("bombs", "numbers") else None
    for number, task_id in enumerate(members[:count]):
        deployment.set_result(task_id, 0, same or packed(make(number)))
    options = ["--partial"] if command == "compare" else ["--output", "out"]
    with Loopback(deployment) as loopback:
        taken = measure(
            [command, f"group:{group}", *options], tmp_path, {"TASKCLUSTER_ROOT_URL": loopback.url}
        )
    print(f"{command} {name}: {taken.peak_mb:.0f} MB, {taken.cpu_s:.1f} s of CPU")
    assert taken.peak_mb < PEAK_MB
    assert "Traceback" not in taken.stderr
    unread = [task_id for task_id in members[count:] if task_id in taken.stderr]
    assert unread == []
    if command == "fetch":
        fetched = {path.name for path in (tmp_path / "out").iterdir()}
        assert {f"{task_id}.0" for task_id in members[count:]} <= fetched
