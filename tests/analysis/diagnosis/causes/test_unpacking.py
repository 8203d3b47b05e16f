# SPDX-License-Identifier: MPL-2.0
"""Causes of a slower unpack: what its disks write and read, and whether it syncs."""

from typing import Any

import pytest
from seed_workers import explanation_text, measured, pair_report, texts

from io_benchmark.analysis.diagnosis_model import Cause, State

PLACE = "storage.places.0"
MIB = 1024 * 1024
SLOWER = 2.0


def unpacking(
    variant: str,
    factor: float = 1.0,
    *,
    blocked: float = 0.2,
    read_mib: int = 0,
    written_mib: int | None = None,
    seed: int = 1,
) -> dict[str, Any]:
    """One variant, with the share of its time that it was blocked, and what its disks moved."""
    name = f"unpack/{variant}"
    added = measured({name: factor}, only=[name], seed=seed)["workloads"]

    def entries(recorded: list[Any]) -> list[Any]:
        *others, entry = added(recorded)
        wall_ns = sum(entry["samples"]["duration_ns"])
        cpu_ns = round((1 - blocked) * wall_ns / 2)
        times = {"wall_ns": wall_ns, "user_ns": cpu_ns, "kernel_ns": cpu_ns, "waiting_ns": 0}
        moved = None
        if written_mib is not None:
            device = {"read": read_mib * MIB, "written": written_mib * MIB}
            moved = {"nvme1n1": device, "nvme2n1": {"read": 0, "written": 0}}
        return [*others, {**entry, "process_times": times, "device_bytes": moved}]

    return {"workloads": entries, "timeline": None}


def cause(name: str, baseline: dict[str, Any], candidate: dict[str, Any]) -> Cause:
    (diagnosis,) = [
        each
        for each in pair_report(baseline, candidate).diagnoses
        if each.subject is not None and each.subject.workload == "unpack"
    ]
    return next(each for each in diagnosis.causes if each.name == name)


def test_fewer_disks() -> None:
    """amd-16 has one disk and intel two striped ones; the time that is blocked doubles."""
    slower = unpacking("warm-sync", SLOWER, blocked=0.58, seed=2)
    found = cause("device-count", unpacking("warm-sync"), slower)
    assert found.state is State.SUPPORTED
    assert found.predicted_ratio == pytest.approx(2.0)
    assert "2 disks, striped" in texts(found)[0]


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"blocked": 0.0}, id="the time is on the CPU"),
        pytest.param({"blocked": 0.6, "written_mib": 20}, id="files stay in memory"),
    ],
)
def test_fewer_disks_that_nothing_waits_for(facts: dict[str, Any]) -> None:
    """The number of disks explains nothing, whatever else blocks the process."""
    slower = unpacking("warm", SLOWER, seed=2, **facts)
    found = cause("device-count", unpacking("warm", **facts), slower)
    assert found.state is State.RULED_OUT
    assert "did not wait for its disks" in explanation_text(found)


@pytest.mark.parametrize(
    ("variant", "state"),
    [
        pytest.param("warm-sync", State.SUPPORTED, id="with a final sync"),
        pytest.param("warm", State.RULED_OUT, id="without"),
    ],
)
def test_a_volatile_overlay(variant: str, state: State) -> None:
    """It saves what syncs wait for, and nothing else."""

    def overlay(*, volatile: bool) -> dict[str, Any]:
        details = {"upper_directory": "/x/diff", "volatile": volatile, "lower_layers": 1}
        return {f"{PLACE}.kind": "overlay", f"{PLACE}.overlay": details}

    faster = unpacking(variant) | overlay(volatile=True)
    slower = unpacking(variant, SLOWER, blocked=0.6, seed=2) | overlay(volatile=False)
    found = cause("volatile-overlay", faster, slower)
    assert found.state is state
    if state is State.RULED_OUT:
        assert explanation_text(found) == (
            "Only the faster side's overlay is volatile, but warm does not sync."
        )


@pytest.mark.parametrize(
    ("variant", "read_mib", "written_mib", "evidence"),
    [
        pytest.param("cold", 1700, 20, "read rate per disk", id="the archive is read"),
        pytest.param("warm-sync", 20, 1700, "write rate per disk", id="files are written"),
    ],
)
def test_slower_disks(variant: str, read_mib: int, written_mib: int, evidence: str) -> None:
    """Their rate is that of what they do most."""
    moved: dict[str, Any] = {"read_mib": read_mib, "written_mib": written_mib}
    faster = unpacking(variant, **moved)
    slower = unpacking(variant, 8.0, blocked=0.9, seed=2, **moved)
    found = cause("disk-speed", faster, slower)
    assert texts(found)[0].startswith(evidence)
    verb = "read" if variant == "cold" else "wrote"
    assert f"Each disk of the slower side {verb} at " in explanation_text(found)
