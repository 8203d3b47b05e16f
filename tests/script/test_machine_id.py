# SPDX-License-Identifier: MPL-2.0
"""What a result says of the machine's id."""

import hashlib
import hmac

import pytest
import reading
from observe import host

ID = "3b1f0c5a9d2e4f68a7b0c1d2e3f40516"
PLAIN = "1 0 254:0 / / rw - ext4 /dev/vda rw"
CONTAINER = "1 0 0:50 / / rw - overlay overlay rw,lowerdir=/a,upperdir=/b,workdir=/c"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Reads a recorded tree instead of this machine's."""

    def record(machine_id, mountinfo):
        for path, text in (("etc/machine-id", machine_id), ("proc/self/mountinfo", mountinfo)):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text + "\n")
        monkeypatch.setattr(reading, "ROOT", str(tmp_path))

    return record


def test_hashed(machine):
    """On a plain machine it is a hash with the program's own key, from which nobody gets the id."""
    machine(ID, PLAIN)
    digest = hmac.new(bytes.fromhex(ID), b"io-benchmark", hashlib.sha256).hexdigest()
    assert host._machine_id() == digest[:32]


@pytest.mark.parametrize(
    ("machine_id", "mountinfo"),
    [
        pytest.param(ID, CONTAINER, id="of an image"),
        pytest.param("", PLAIN, id="empty"),
        pytest.param("uninitialized", PLAIN, id="before the first boot"),
        pytest.param(ID.upper(), PLAIN, id="no machine id"),
    ],
)
def test_unknown(machine, machine_id, mountinfo):
    """In a container it may be the image's; what is no id is none."""
    machine(machine_id, mountinfo)
    assert host._machine_id() is None
