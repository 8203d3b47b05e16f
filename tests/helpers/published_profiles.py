# SPDX-License-Identifier: MPL-2.0
"""Resource profiles as tasks publish them, of samples whose figures are given."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from checkout import ROOT
from loopback_deployment import Artifact, Deployment, run

MIB = 1024 * 1024
# By mozsystemmonitor, cut to its first twelve samples.
RECORDED = ROOT / "tests" / "fixtures" / "resource-usage" / "profile_resource-usage.json"
# By Windows' psutil and Python under Wine; its `meta` says how it was made.
RECORDED_ON_WINDOWS = RECORDED.with_name("windows_resource-usage.json")
TEST_PROFILE = "public/test_info/profile_resource-usage.json"
BUILD_PROFILE = "public/build/profile_build_resources.json"


class Sample(NamedTuple):
    """Shares are of all CPUs.

    The rest is what grew meanwhile, and what is in the cache afterwards.
    """

    written_mib: float = 0
    waiting: float | None = 0
    user: float = 0
    kernel: float = 0
    read_mib: float = 0.001
    writes: int = 0
    cached_mib: float = 100
    span_ms: float = 500


def resource_document(
    samples: Sequence[Sample], cpus: int = 2, *, is_windows: bool = False
) -> dict[str, Any]:
    """Return a profile with three markers per sample, and a phase; Windows lacks some figures."""
    markers: dict[str, Any] = {"name": [4], "startTime": [0.5], "endTime": [None], "data": [{}]}
    start_ms = 1.0
    for sample in samples:
        waiting = {} if sample.waiting is None else {"iowait_pct": percent(sample.waiting)}
        data = (
            {
                "type": "CPU",
                "cpuPercent": "50.0%",
                "nice_pct": "0.0%",
                **waiting,
                "user_pct": percent(sample.user),
                "system_pct": percent(sample.kernel),
            },
            {"type": "Mem", "used": 1, "cached": round(sample.cached_mib * MIB), "buffers": 1},
            {
                "type": "IO",
                "read_count": 1,
                "read_bytes": round(sample.read_mib * MIB),
                "write_count": sample.writes,
                "write_bytes": round(sample.written_mib * MIB),
            },
        )
        for name, marker in enumerate(data, 1):
            markers["name"].append(name)
            markers["startTime"].append(start_ms)
            markers["endTime"].append(start_ms + sample.span_ms)
            markers["data"].append(marker)
        if is_windows:
            for marker, key in ((0, "nice_pct"), (0, "iowait_pct"), (1, "cached"), (1, "buffers")):
                data[marker].pop(key, None)
        start_ms += sample.span_ms
    strings = ["(root)", "CPU Use", "Memory", "IO", "Phase"]
    return {
        "meta": {"version": 27, "preprocessedProfileVersion": 47, "logicalCPUs": cpus},
        "threads": [{"stringArray": strings, "markers": markers}],
        "counters": [],
    }


def resource_profile(
    samples: Sequence[Sample], cpus: int = 2, *, is_windows: bool = False
) -> bytes:
    return json.dumps(resource_document(samples, cpus, is_windows=is_windows)).encode()


def percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def task_id_of(number: int) -> str:
    """Return an id as the queue's."""
    return f"test{number:04d}QAGAAAAAAAAAAA"


def add_task(
    deployment: Deployment,
    number: int,
    profiles: dict[str, bytes],
    *,
    label: str = "test-linux/opt-mochitest-1",
    states: Sequence[str] = ("completed",),
    minutes: float = 2,
    folders: Sequence[str] = ("public/test_info",),
    worker_type: str = "type-intel",
) -> str:
    """Add a task of a push to the deployment, of whose runs each left these profiles.

    Return its id.
    """
    task_id = task_id_of(number)
    times = {
        "started": "2026-03-20T08:10:00.000Z",
        "resolved": f"2026-03-20T08:{10 + int(minutes):02d}:{round(60 * (minutes % 1)):02d}.000Z",
    }
    deployment.add_task(
        task_id,
        task_id_of(0),
        label,
        "test",
        f"gecko-t/{worker_type}",
        [run(run_id, state) | times for run_id, state in enumerate(states)],
        expires="2026-04-20T08:00:00.000Z",
        payload={"artifacts": [{"name": name, "type": "directory"} for name in folders]},
    )
    for run_id in range(len(states)):
        for name, content in profiles.items():
            deployment.artifacts[task_id, run_id, name] = Artifact(content)
    return task_id
