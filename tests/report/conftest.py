# SPDX-License-Identifier: MPL-2.0
"""A real Chromium for the tests of the page: one per session, with one page per test."""

import shutil
from collections.abc import Iterator

import pytest
from chromium import Browser, running


@pytest.fixture(scope="session")
def running_chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed")
    with running(program, tmp_path_factory.mktemp("chromium") / "profile") as started:
        yield started


@pytest.fixture
def browser(running_chromium: Browser) -> Iterator[Browser]:
    yield running_chromium
    running_chromium.close_page()
