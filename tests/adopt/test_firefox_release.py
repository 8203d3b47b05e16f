# SPDX-License-Identifier: MPL-2.0
"""Archives of a release: the same files give the same bytes, wherever they are made."""

import io
import tarfile

from io_benchmark.adopt.firefox_release import archive


def test_same_bytes():
    """Neither the order of the files nor the time matters; each is readable by all."""
    contents = {"b": b"second", "a/c": b"first"}
    data = archive(contents)
    assert archive(dict(reversed(contents.items()))) == data
    with tarfile.open(fileobj=io.BytesIO(data)) as files:
        members = [(file.name, file.mtime, file.mode, file.uid) for file in files]
        assert members == [("a/c", 0, 0o644, 0), ("b", 0, 0o644, 0)]
        opened = {name: files.extractfile(name) for name in contents}
        assert {name: file.read() for name, file in opened.items() if file} == contents
