# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A real Chromium for the tests of the page."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Browser, start, stop


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed")
    process, opened = start(program, tmp_path / "profile")
    try:
        yield opened
    finally:
        stop(process, opened)
