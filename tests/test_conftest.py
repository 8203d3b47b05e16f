# SPDX-License-Identifier: MPL-2.0
"""What the tests find on a machine, whatever PATH they are started with."""

import os

from system_folders import FOLDERS, with_system_folders


def test_system_folders_come_last() -> None:
    """losetup and mkfs are found by any user, and what the caller's PATH finds stays what it is."""
    assert with_system_folders("/sbin:/x") == "/sbin:/x:/usr/local/sbin:/usr/sbin"
    assert set(FOLDERS) <= set(os.environ["PATH"].split(os.pathsep))
