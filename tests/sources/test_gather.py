# SPDX-License-Identifier: MPL-2.0
"""One call for addresses of several sources."""

import time
from pathlib import Path

import pytest

from io_benchmark.sources.gather import SOURCES, wait_for

ENVIRONMENT = {"TASKCLUSTER_ROOT_URL": "http://127.0.0.1:9"}


@pytest.mark.parametrize(
    ("folder_takes_s", "expected"),
    [
        pytest.param(40.0, [100.0, 60.0], id="what-is-left"),
        pytest.param(140.0, [100.0, 0.0], id="nothing-left"),
    ],
)
def test_all_sources_share_the_time_for_waiting(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder_takes_s: float, expected: list[float]
) -> None:
    """The first one has all of it, the next one what is left."""
    clock_s, limits_s = [1000.0], []

    def wait(_source: object, _addresses: object, _environment: object, limit_s: float, *_: object):
        limits_s.append(limit_s)
        clock_s[0] += folder_takes_s

    monkeypatch.setattr(time, "monotonic", lambda: clock_s[0])
    for source in {type(source) for source in SOURCES}:
        monkeypatch.setattr(source, "wait", wait)
    result = tmp_path / "result.json"
    result.write_text("{}")
    texts = [str(result), "task:Prp_WjpGRx26VH-wA8fjTA"]
    wait_for(texts, ENVIRONMENT, 100.0, lambda _line: None)
    assert limits_s == expected
