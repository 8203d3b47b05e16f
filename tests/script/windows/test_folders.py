# SPDX-License-Identifier: MPL-2.0
"""Which paths name a place on Windows."""

import re

import pytest
from system.windows import folders


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("D:\\", id="root of a drive"),
        pytest.param(r"D:\a b\Käse", id="spaces and umlauts"),
        pytest.param("d:/x/y", id="slashes"),
        pytest.param(r"\\server\share", id="UNC"),
        pytest.param(r"\\server\share\x", id="below UNC"),
        pytest.param("work", id="relative"),
        pytest.param(r"..\work\x", id="above the current folder"),
        pytest.param("D:\\" + "long-name\\" * 40, id="more than 260 characters"),
    ],
)
def test_paths_of_places(path):
    """A place is on a drive, on a server, or relative to the current folder."""
    assert re.fullmatch(folders.PLACE_PATTERN, path)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("", id="nothing"),
        pytest.param("D:", id="a drive's current folder"),
        pytest.param("D:x", id="relative to a drive's current folder"),
        pytest.param(r"\x", id="on the current drive"),
        pytest.param(r"\\server", id="a server without a share"),
        pytest.param(r"\\.\PhysicalDrive0", id="a device"),
        pytest.param(r"\\?\D:\x", id="an extended path"),
        pytest.param(r"D:\x:stream", id="a stream of a file"),
        pytest.param("D:\\x\ny", id="a line break"),
        pytest.param("D:\\a?", id="a pattern"),
    ],
)
def test_paths_that_are_refused(path):
    """What depends on a drive's current folder, and what no folder can be called, is no place."""
    assert not re.fullmatch(folders.PLACE_PATTERN, path)
