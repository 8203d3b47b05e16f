# SPDX-License-Identifier: MPL-2.0
"""Downloads over a network whose truth is known, by the worker's program: the cause is named."""

import fcntl
import shutil
from pathlib import Path
from typing import Any

import pytest
from answers import states
from artifact_server import certificate
from emulated_network import SERVER, emulated_network

pytestmark = [pytest.mark.serial, pytest.mark.root]

# Round trip in ms, bytes per second, and what the server waits in ms.
USUAL = {"round_trip_ms": 2.0, "bytes_per_s": 60e6, "server_ms": 5.0}
SLOWER: dict[str, dict[str, float]] = {
    "network-rate": {"bytes_per_s": 10e6},
    "network-latency": {"round_trip_ms": 60.0},
    "network-first-byte": {"server_ms": 300.0},
}
SHORT = (
    "from workloads import download\ndownload.QUICK.update(piece_bytes=2**22, samples_planned=6)\n"
)


@pytest.fixture
def download(measure, tmp_path):
    """Measures a pool over such a network; one network at a time."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    file = certificate(tmp_path, f"IP:{SERVER}")

    def run(pool: str, network: dict[str, float]) -> Path:
        place = tmp_path / f"place-{pool}"
        place.mkdir()
        with Path("/tmp/io-benchmark-network.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with emulated_network(file, **network) as url:
                given = ("--download-url", url, "--place", f"workspace={place}")
                environment = {"SSL_CERT_FILE": str(file)}
                chosen: dict[str, Any] = {"workloads": ("download",), "prelude": SHORT}
                result: Path = measure(pool, place, *given, environment=environment, **chosen)
        return result

    return run


@pytest.mark.parametrize(
    "cause",
    [
        pytest.param("network-rate", marks=pytest.mark.lab),
        pytest.param("network-latency", marks=pytest.mark.lab),
        "network-first-byte",
    ],
)
def test_a_slow_network(download, compare, cause):
    """Each truth is supported, and none of the others."""
    document = compare(download("intel", USUAL), download("amd-16", {**USUAL, **SLOWER[cause]}))
    named = {name for name, state in states(document).items() if state == "supported"}
    assert named == {cause}
