# SPDX-License-Identifier: MPL-2.0
"""Which device is found by writing, where other processes write at the same time."""

import pytest
from observe import storage
from observe.storage import PROBE_BYTES, PROBE_SHARE_BYTES

MIB = 1024 * 1024


class Machine:
    """Devices that write when the place is written to, and in each time between."""

    def __init__(self, by_probe, between, refused=None):
        self.by_probe, self.between, self.refused = by_probe, list(between), refused
        self.written = dict.fromkeys(self.by_probe, 0) | dict.fromkeys("abcd", 0)

    def write(self, _path, _flags):
        if self.refused:
            raise self.refused
        self._add(self.by_probe)
        self._add(self.between.pop(0))

    def sleep(self, _seconds):
        self._add(self.between.pop(0))

    def _add(self, amounts):
        for name, size_bytes in amounts.items():
            self.written[name] += size_bytes

    def counters(self):
        return {name: (0, total) for name, total in self.written.items()}


@pytest.fixture
def devices_of(monkeypatch):
    """Returns what is found on a machine."""

    def find(machine, below=()):
        monkeypatch.setattr(storage, "_write_probe", machine.write)
        monkeypatch.setattr(storage.devices, "counters", machine.counters)
        monkeypatch.setattr(storage.time, "sleep", machine.sleep)
        monkeypatch.setattr(storage.devices, "below", lambda name: ["x"] * (name in below))
        return storage.devices_written_to("/place")

    return find


QUIET: list[dict[str, int]] = [{}] * 8


@pytest.mark.parametrize(
    ("by_probe", "between", "found"),
    [
        pytest.param({"a": PROBE_BYTES}, QUIET, ["a"], id="alone"),
        pytest.param(
            {"a": PROBE_BYTES // 2, "b": PROBE_BYTES // 2}, QUIET, ["a", "b"], id="stripe"
        ),
        pytest.param({}, [{"b": 3 * MIB}] * 8, [], id="another disk is busy, nothing arrives"),
        pytest.param({"a": PROBE_BYTES}, [{"b": 3 * MIB}] * 8, ["a"], id="another disk is busy"),
        pytest.param(
            {"a": PROBE_BYTES},
            [{"b": 9 * MIB}, {}, {"c": 9 * MIB}, {}, *[{}] * 4],
            ["a"],
            id="other disks write once",
        ),
        pytest.param({"a": PROBE_BYTES}, [{"a": 2 * MIB}] * 8, ["a"], id="its disk is busy"),
        pytest.param({"a": PROBE_BYTES}, [{"a": 60 * MIB}] * 8, [], id="its disk is too busy"),
        pytest.param({"a": PROBE_SHARE_BYTES - 1}, QUIET, [], id="too little"),
    ],
)
def test_found(devices_of, by_probe, between, found):
    """A device that writes whenever the place is written to; none rather than a wrong one."""
    assert devices_of(Machine(by_probe, between)) == found


def test_refused(devices_of):
    """Where the file system does not take direct writes, nothing is found."""
    refused = OSError(22, "Invalid argument")
    assert devices_of(Machine({}, QUIET, refused)) == []
