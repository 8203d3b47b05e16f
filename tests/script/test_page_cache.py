# SPDX-License-Identifier: MPL-2.0
"""What the kernel says of files in memory, on real files."""

import os
from pathlib import Path

import pytest
from observe import page_cache


def test_residency_follows_reading_and_eviction(tmp_path: Path) -> None:
    """Just written: in memory. Synced and evicted: gone. Read by half: about half is back."""
    path = tmp_path / "file"
    path.write_bytes(os.urandom(8 * 1024 * 1024))
    name = str(path)
    assert page_cache.resident_bytes(name) == 8 * 1024 * 1024
    assert page_cache.sync_filesystem(str(tmp_path)) in ("syncfs", "sync")
    page_cache.evict(name)
    assert page_cache.resident_bytes(name) == 0
    with path.open("rb", buffering=0) as file:
        file.read(4096)
    resident = page_cache.resident_bytes(name)
    assert resident is not None
    assert 0 < resident <= 8 * 1024 * 1024


def test_refusal_is_told_in_the_kernels_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whatever keeps drop_caches from working is the record's text."""
    monkeypatch.setattr(page_cache, "DROP_CACHES", str(tmp_path / "none" / "drop_caches"))
    assert page_cache.drop_all() == "refused: No such file or directory"
