# SPDX-License-Identifier: MPL-2.0
"""Downloads over networks whose truth is known: their steps follow from round trips and rates.

A connection sends 14.6 kB in its first round trip, and twice as much in each next one, until its
window or its part of the network's rate limits it.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import workload_entries
from seed_case import outcome

MS = 1_000_000
PIECE_BYTES = 16 * 1024 * 1024
FIRST_WINDOW_BYTES = 14_600.0
SAMPLES = 20


@dataclass(frozen=True)
class Network:
    round_trip_ms: float = 1.0
    bytes_per_s: float = 200e6  # of all connections together
    connection_bytes_per_s: float = 1e12  # which the server gives to one
    window_bytes: float = 3e6
    server_ms: float = 5.0  # from a request to its answer, beyond the round trip
    redirects: int = 1
    tls_version: str | None = "TLSv1.3"
    disk_bytes_per_s: float = 1e9
    cpu_ms: float = 16.0  # for the bytes of a download, which come no sooner

    @property
    def trips(self) -> int:
        tls = {None: 0, "TLSv1.3": 1}.get(self.tls_version, 2)
        return 1 + tls + 1

    def body_ns(self, connections: int) -> tuple[float, float]:
        """The time of a piece and of its second half."""
        rate = min(self.bytes_per_s / connections, self.connection_bytes_per_s)
        trip_s = self.round_trip_ms / 1000
        window, sent, passed_s, half_s = FIRST_WINDOW_BYTES, 0.0, 0.0, None
        while sent < PIECE_BYTES:
            data = min(window, self.window_bytes, PIECE_BYTES - sent)
            took_s = max(data / rate, trip_s)
            if half_s is None and sent + data >= PIECE_BYTES / 2:
                half_s = passed_s + took_s * (PIECE_BYTES / 2 - sent) / data
            sent, passed_s, window = sent + data, passed_s + took_s, 2 * window
        cpu_ns = self.cpu_ms * MS
        return passed_s * 1e9 + cpu_ns, (passed_s - (half_s or 0)) * 1e9 + cpu_ns / 2

    def steps(self, connections: int, *, to_place: bool) -> dict[str, float | None]:
        trip_ns = self.round_trip_ms * MS
        body_ns, half_ns = self.body_ns(connections)
        sync_ns = connections * PIECE_BYTES / self.disk_bytes_per_s * 1e9 if to_place else None
        request_ns = self.trips * trip_ns + self.server_ms * MS
        return {
            "redirect_ns": self.redirects * request_ns + 0.02 * MS,
            "resolve_ns": 0.4 * MS,
            "connect_ns": trip_ns,
            "tls_ns": None if self.tls_version is None else (self.trips - 2) * trip_ns + 2 * MS,
            "first_byte_ns": trip_ns + self.server_ms * MS,
            "body_ns": body_ns,
            "second_half_ns": half_ns,
            "sync_ns": sync_ns,
        }


def entries(network: Network, seed: int, factor: float = 1.0) -> list[dict[str, Any]]:
    """The entries of one worker; all its times are so many times as long."""
    generator = random.Random(seed)
    recorded = workload_entries.entries(only=["download"])
    return [_entry(network, entry, generator, factor) for entry in recorded]


def _entry(
    network: Network, entry: Mapping[str, Any], generator: random.Random, factor: float
) -> dict[str, Any]:
    connections, to_place = entry["threads"], entry["variant"] == "to-place"
    truth = network.steps(connections, to_place=to_place)
    steps: dict[str, list[int | None]] = {name: [] for name in truth}
    starts, durations, now_ns = [], [], 40_000 * MS
    for _ in range(SAMPLES):
        longest_ns = 0
        for _ in range(connections):
            noisy = {name: _noisy(time_ns, generator, factor) for name, time_ns in truth.items()}
            for name, time_ns in noisy.items():
                steps[name].append(time_ns)
            all_ns = sum(time_ns or 0 for name, time_ns in noisy.items() if "half" not in name)
            longest_ns = max(longest_ns, all_ns)
        starts.append(now_ns)
        durations.append(longest_ns)
        now_ns += longest_ns + MS
    operations = [connections * PIECE_BYTES // 2**20] * SAMPLES
    wall_ns = sum(durations) * connections
    cpu_ns = round(connections * SAMPLES * network.cpu_ms * MS * factor / 2)
    observed = {
        **entry["observed"],
        "steps": steps,
        "redirects": network.redirects,
        "tls_version": network.tls_version,
    }
    times = {"wall_ns": wall_ns, "user_ns": cpu_ns, "kernel_ns": cpu_ns, "waiting_ns": 0}
    return {
        **entry,
        "observed": observed,
        "run_ns": now_ns - 40_000 * MS,
        "process_times": times,
        "samples": {"start_ns": starts, "duration_ns": durations, "operations": operations},
        "outcome": outcome(),
    }


def _noisy(time_ns: float | None, generator: random.Random, factor: float) -> int | None:
    if time_ns is None:
        return None
    late = generator.random() < 0.02  # a lost packet is sent again
    return round(time_ns * factor * generator.gauss(1, 0.04)) + late * 200 * MS


def changed(network: Network, **changes: Any) -> Network:
    return replace(network, **changes)
