# SPDX-License-Identifier: MPL-2.0
"""What the tests find on a machine, whatever PATH they are started with."""

import os

import pytest
import storage_lab
from system_folders import FOLDERS, with_system_folders


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param(
            "/usr/bin:/bin", "/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", id="a user's"
        ),
        pytest.param("/sbin:/x", "/sbin:/x:/usr/local/sbin:/usr/sbin", id="one is there"),
    ],
)
def test_system_folders_come_last(path: str, expected: str) -> None:
    """What the caller's PATH finds stays what it is; nothing is named twice."""
    assert with_system_folders(path) == expected
    assert with_system_folders(expected) == expected


def test_every_test_has_them() -> None:
    """losetup and mkfs are found by a user whose PATH is /usr/bin:/bin alone."""
    assert set(FOLDERS) <= set(os.environ["PATH"].split(os.pathsep))


def test_a_missing_program_skips_by_its_name() -> None:
    """A machine without a tool of the storage lab skips the test; it does not fail it."""
    with pytest.raises(pytest.skip.Exception, match=r"^needs mkfs\.none$"):
        storage_lab.run("mkfs.none", "/dev/null")
