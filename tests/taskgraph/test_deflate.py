# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The project's DEFLATE, checked by decompressing with zlib."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_benchmark_taskgraph.deflate import deflate

from .conftest import REPOSITORY

RAW = -zlib.MAX_WBITS


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"a", id="one byte"),
        pytest.param(b"a" * 100_000, id="one byte, often"),
        pytest.param(bytes(range(256)) * 300, id="every byte"),
        pytest.param(b"abcd" + bytes(40_000) + b"abcd", id="too far for a match"),
        # Huffman's own codes would be longer than the format allows.
        pytest.param(b"".join(bytes([n]) * (1 << n // 2) for n in range(40)), id="uneven"),
    ],
)
def test_edges(data):
    """What zlib decompresses is what was compressed."""
    assert zlib.decompress(deflate(data), RAW) == data


@given(st.lists(st.sampled_from([b"ab", b"abc", b"\n    ", b"\0", b"\xff", b"return "])))
def test_any_text(parts):
    """So for any sequence of words."""
    data = b"".join(parts)
    assert zlib.decompress(deflate(data), RAW) == data


@given(st.binary(max_size=2000))
def test_any_bytes(data):
    """So for any bytes."""
    assert zlib.decompress(deflate(data), RAW) == data


def test_size():
    """The script's modules are at most a tenth larger than by zlib's best."""
    texts = [path.read_bytes() for path in (REPOSITORY / "scripts/io-benchmark").rglob("*.py")]
    by_zlib = sum(len(zlib.compress(text, 9)) for text in texts)
    assert sum(len(deflate(text)) for text in texts) <= 1.1 * by_zlib
