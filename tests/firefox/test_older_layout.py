# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The record that version 1 put into a checkout."""

import json
import re

import pytest

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.firefox import older_layout
from io_benchmark.firefox.checkout import TreePath
from io_benchmark.firefox.older_layout import InstallRecord

KIND = "taskcluster/kinds/io-benchmark/kind.yml"


def content(**changes):
    return json.dumps({"version": 1, "files": {}, "entries": {}, **changes}).encode()


def test_read():
    """Files and entries, each with its hash."""
    entries = {"taskcluster/config.yml": {"IOB": "ab"}}
    assert InstallRecord.parse(content(files={KIND: "cd"}, entries=entries)) == InstallRecord(
        {TreePath("taskcluster/config.yml", "IOB"): "ab", TreePath(KIND): "cd"}
    )


def test_none():
    """Without one, nothing counts as ours."""
    assert InstallRecord.parse(None) == InstallRecord()


def test_line_ends():
    """A checkout that converts line ends has the same texts."""
    place = TreePath(KIND)
    assert InstallRecord({place: InstallRecord.hash_of(b"a\nb\n")}).has(place, b"a\r\nb\r\n")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        pytest.param(b"{", "Expecting property name", id="no-json"),
        pytest.param(b"\xff", "codec can't decode", id="no-text"),
        pytest.param(b"[]", "no version", id="no-mapping"),
        pytest.param(content(version=2), "written by a newer io-benchmark", id="newer"),
        pytest.param(content(files=[]), "not a mapping of texts", id="files"),
        pytest.param(content(entries=[]), "no entries", id="entries"),
        pytest.param(content(files={"mach": "x"}), "'mach' is not a file of", id="not-ours"),
        pytest.param(
            content(files={older_layout.RECORD: "x"}), "is not a file of the", id="itself"
        ),
        pytest.param(
            content(files={"taskcluster/kinds/io-benchmark/../test/kind.yml": "x"}),
            "is not a file of the benchmark",
            id="upwards",
        ),
        pytest.param(
            content(entries={"taskcluster/docs/index.md": {"a": "x"}}),
            "'taskcluster/docs/index.md' cannot have entries of the benchmark",
            id="another-page",
        ),
    ],
)
def test_not_usable(data, why):
    """A record that could lead anywhere else than to our own files is refused."""
    with pytest.raises(IoBenchmarkError, match=re.escape(why)) as caught:
        InstallRecord.parse(data)
    assert "\n" not in str(caught.value)
    assert "restore it from version control" in str(caught.value)
