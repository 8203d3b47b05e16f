# SPDX-License-Identifier: MPL-2.0
"""The context of an image, unpacked."""

import io
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from io_benchmark.execute import engine


def archive_in(folder: Path) -> Path:
    path = folder / "context.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        member = tarfile.TarInfo("Dockerfile")
        member.size = 4
        tar.addfile(member, io.BytesIO(b"FROM"))
    return path


# Deprecated since 3.12, which has filters; before 3.11.4 there is no other way.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_python_without_filters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian 12 has Python 3.11.2, whose tarfile has no filters: the context is unpacked."""
    archive = archive_in(tmp_path)
    monkeypatch.setattr(engine, "tarfile", SimpleNamespace(open=tarfile.open))
    engine._extract(archive, tmp_path / "context")
    assert (tmp_path / "context/Dockerfile").read_text() == "FROM"
