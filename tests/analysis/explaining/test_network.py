# SPDX-License-Identifier: MPL-2.0
"""Causes of slow downloads, on simulated networks whose truth is known."""

import random
from typing import Any

import pytest
import simulated_downloads
from seed_workers import explanation_text, report_of, workers
from simulated_downloads import Network

from io_benchmark.analysis.model.cause import Cause, State
from io_benchmark.analysis.model.report import SampledReport
from io_benchmark.report.content import text_of

USUAL = Network()
NETWORK = ("network-rate", "network-latency", "network-first-byte")
RULED_OUT, SUPPORTED, NOT_SEPARABLE = State.RULED_OUT, State.SUPPORTED, State.NOT_SEPARABLE
WORKERS = 3


def compared(
    faster: Network, slower: Network, seed: int = 1, between: float = 0.02, **variants: Any
) -> SampledReport:
    """amd-16 has the second network; `only` leaves other variants out."""
    generator = random.Random(seed)
    change: dict[str, dict[str, Any]] = {"intel": {}, "amd-16": {}}
    for pool, network in (("intel", faster), ("amd-16", slower)):
        for number in range(WORKERS):
            factor = generator.gauss(1, between)
            made = simulated_downloads.entries(network, generator.randrange(10**9), factor)
            kept = [entry for entry in made if is_kept(entry, **variants)]
            change[f"{pool}/{number}"] = {"workloads": kept}
    return report_of(workers(WORKERS, pools=("intel", "amd-16"), change=change))


def is_kept(entry: Any, only: tuple[str, int] | None = None) -> bool:
    return only is None or (entry["variant"], entry["threads"]) == only


def causes(*arguments: Any, **keywords: Any) -> dict[str, Cause]:
    """Those of the downloads that differ most."""
    (diagnosis,) = compared(*arguments, **keywords).diagnoses
    return {cause.name: cause for cause in diagnosis.causes}


def states(judged: dict[str, Cause]) -> dict[str, State]:
    return {name: judged[name].state for name in NETWORK}


def only(name: str) -> dict[str, State]:
    return {cause: SUPPORTED if cause == name else RULED_OUT for cause in NETWORK}


TRUTHS = [
    pytest.param({"bytes_per_s": 60e6}, "network-rate", id="all connections"),
    pytest.param({"connection_bytes_per_s": 30e6}, "network-rate", id="each connection"),
    pytest.param({"round_trip_ms": 30.0}, "network-latency", id="round trips"),
    pytest.param({"round_trip_ms": 30.0, "window_bytes": 5e5}, "network-latency", id="a window"),
    pytest.param({"server_ms": 200.0}, "network-first-byte", id="the server's wait"),
]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("change", "cause"), TRUTHS)
def test_truths(change, cause, seed):
    """The cause is supported, and makes up most of the difference; the others are ruled out."""
    judged = causes(USUAL, simulated_downloads.changed(USUAL, **change), seed)
    assert states(judged) == only(cause)
    assert (judged[cause].share or 0) >= 0.75
    assert {name for name, found in judged.items() if found.state is SUPPORTED} == {cause}


def test_a_slow_network_in_another_region():
    """Round trips and rate both differ: each has its part."""
    slow = simulated_downloads.changed(USUAL, round_trip_ms=60.0, bytes_per_s=40e6)
    judged = causes(USUAL, slow)
    both = {"network-rate": SUPPORTED, "network-latency": SUPPORTED}
    assert states(judged) == {**both, "network-first-byte": RULED_OUT}


def test_a_slow_place():
    """Downloads to memory are as fast, so it is not the network."""
    judged = causes(USUAL, simulated_downloads.changed(USUAL, disk_bytes_per_s=40e6))
    assert states(judged) == dict.fromkeys(NETWORK, RULED_OUT)
    reason = "Downloads to memory take as long on both sides: the place makes the difference."
    assert {explanation_text(judged[name]) for name in NETWORK} == {reason}


def test_a_slow_cpu():
    """Bytes that wait for a CPU make no network slow, however much longer they take."""
    judged = causes(USUAL, simulated_downloads.changed(USUAL, cpu_ms=120.0))
    assert states(judged) == dict.fromkeys(NETWORK, RULED_OUT)
    # Also next to a cause that is one of the network.
    judged = causes(USUAL, simulated_downloads.changed(USUAL, cpu_ms=120.0, server_ms=40.0))
    assert states(judged) == only("network-first-byte")


def test_no_difference():
    """None is supported where the networks are alike."""
    (diagnosis,) = compared(USUAL, USUAL).diagnoses
    assert {cause.state for cause in diagnosis.causes if cause.name in NETWORK} <= {
        State.NOT_JUDGED,
        RULED_OUT,
    }


def test_without_four_connections():
    """Whether bytes wait for round trips or for the rate is then not known."""
    slow = simulated_downloads.changed(USUAL, round_trip_ms=8.0, window_bytes=4e5)
    judged = causes(USUAL, slow, only=("to-memory", 1))
    found = states(judged)
    assert found["network-rate"] is NOT_SEPARABLE
    assert found["network-latency"] in (NOT_SEPARABLE, SUPPORTED)


def test_who_answered():
    """The evidence names the host, its address family, and its region where a header does."""
    (diagnosis,) = compared(USUAL, simulated_downloads.changed(USUAL, server_ms=200.0)).diagnoses
    judged = {cause.name: cause for cause in diagnosis.causes}
    evidence = judged["network-first-byte"].candidate_evidence
    seen = {part.name: text_of(part.seen[0].value) for part in evidence.observations}
    assert list(seen) == ["before-bytes", "round-trip", "rate-of-bytes", "answered-by"]
    assert seen["answered-by"] == "storage.example by IPv4"


def test_remedies():
    """More connections help where each is limited, and their gain is the measured one."""
    slow = simulated_downloads.changed(USUAL, round_trip_ms=30.0, window_bytes=5e5)
    (diagnosis,) = compared(USUAL, slow).diagnoses
    gains = {text_of(remedy.action): remedy for remedy in diagnosis.remedies}
    assert list(gains) == [
        "run the workers in the region that answers, or keep a copy of the objects in theirs",
        "download by several connections at once",
    ]
    gain = gains["download by several connections at once"]
    assert (gain.measured, (gain.gain_ratio or 0) > 3) == (True, True)
