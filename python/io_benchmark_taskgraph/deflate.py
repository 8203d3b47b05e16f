# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Compress to DEFLATE (RFC 1951), to the same bytes on every machine: each zlib compresses differently.

One block with Huffman codes of its own. Any zlib decompresses it. A pair of numbers is a value, and how
many bits it has.
"""

from __future__ import annotations

import functools
import heapq
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

_SHORTEST, _LONGEST, _FARTHEST = 4, 257, 32_768
_END_OF_BLOCK = 256  # the symbol behind those of the 256 bytes
_LENGTH = 257  # the first symbol of a match's length
# Extra bits of each symbol; the values of a symbol follow those of the symbol before.
_LENGTH_BITS = [0] * 8 + [bits for bits in range(1, 6) for _ in range(4)]
_DISTANCE_BITS = [0] * 4 + [bits for bits in range(1, 14) for _ in range(2)]
_LONGEST_CODE, _LONGEST_CODE_OF_LENGTHS = 15, 7
# The order in which the lengths of the code of lengths are written.
_ORDER = (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)


def _first_values(first: int, extra_bits: Sequence[int]) -> list[int]:
    values = [first]
    for bits in extra_bits[:-1]:
        values.append(values[-1] + (1 << bits))
    return values


_LENGTHS = _first_values(3, _LENGTH_BITS)
_DISTANCES = _first_values(1, _DISTANCE_BITS)


@functools.lru_cache(maxsize=256)  # each kind compresses the same modules
def deflate(data: bytes) -> bytes:
    """Return the data compressed, without a header."""
    matches = list(_matches(data))
    literals = Counter([_END_OF_BLOCK])
    distances = Counter([0])  # not without a symbol, even if nothing matches
    for symbol, _, distance_symbol, _ in matches:
        literals[symbol] += 1
        if symbol >= _LENGTH:
            distances[distance_symbol] += 1
    literal_lengths = _code_lengths(literals, _LONGEST_CODE)
    distance_lengths = _code_lengths(distances, _LONGEST_CODE)
    literal_codes, distance_codes = _codes(literal_lengths), _codes(distance_lengths)
    bits = [(1, 1), (2, 2), *_header(literal_lengths, distance_lengths)]
    for symbol, rest, distance_symbol, distance_rest in matches:
        bits.append(literal_codes[symbol])
        if symbol >= _LENGTH:
            bits += (rest, distance_codes[distance_symbol], distance_rest)
    bits.append(literal_codes[_END_OF_BLOCK])
    return _packed(bits)


def _matches(
    data: bytes,
) -> Iterator[tuple[int, tuple[int, int], int, tuple[int, int]]]:
    """Yield bytes, and matches with what came before: symbols with the rests that they leave."""
    latest: dict[bytes, int] = {}
    at = 0
    while at < len(data):
        start = latest.get(data[at : at + _SHORTEST])
        length = 0 if start is None else _match_length(data, start, at)
        if start is None or length < _SHORTEST or at - start > _FARTHEST:
            length = 1
            yield data[at], (0, 0), 0, (0, 0)
        else:
            length_symbol = bisect_right(_LENGTHS, length) - 1
            rest = length - _LENGTHS[length_symbol], _LENGTH_BITS[length_symbol]
            symbol = bisect_right(_DISTANCES, at - start) - 1
            far = at - start - _DISTANCES[symbol], _DISTANCE_BITS[symbol]
            yield _LENGTH + length_symbol, rest, symbol, far
        for passed in range(at, at + length):
            latest[data[passed : passed + _SHORTEST]] = passed
        at += length


def _match_length(data: bytes, start: int, at: int) -> int:
    # Both begin with the same bytes that were looked up.
    most = min(_LONGEST, len(data) - at)
    length = min(_SHORTEST, most)
    while length < most and data[start + length] == data[at + length]:
        length += 1
    return length


def _code_lengths(counts: Mapping[int, int], longest: int) -> dict[int, int]:
    """Return the length of each symbol's code by Huffman's algorithm, none above the longest."""
    if len(counts) == 1:
        return dict.fromkeys(counts, 1)
    lengths = dict.fromkeys(counts, 0)
    waiting: list[tuple[int, tuple[int, ...]]] = []
    for symbol, count in counts.items():
        heapq.heappush(waiting, (count, (symbol,)))
    while len(waiting) > 1:
        count, symbols = heapq.heappop(waiting)
        more, others = heapq.heappop(waiting)
        for symbol in symbols + others:
            lengths[symbol] += 1
        heapq.heappush(waiting, (count + more, symbols + others))
    if max(lengths.values()) > longest:
        # More even counts have shorter codes.
        even = {symbol: (count + 1) // 2 for symbol, count in counts.items()}
        return _code_lengths(even, longest)
    return lengths


def _codes(lengths: Mapping[int, int]) -> dict[int, tuple[int, int]]:
    """Return the canonical codes of these lengths, with their first bit lowest."""
    codes: dict[int, tuple[int, int]] = {}
    code = before = 0
    for length, symbol in sorted(
        (length, symbol) for symbol, length in lengths.items()
    ):
        code <<= length - before
        codes[symbol] = int(f"{code:0{length}b}"[::-1], 2), length
        code, before = code + 1, length
    return codes


def _header(
    literals: Mapping[int, int], distances: Mapping[int, int]
) -> list[tuple[int, int]]:
    """Return the lengths of both codes, in a code of lengths."""
    counts = max(literals) + 1, max(distances) + 1
    lengths = [literals.get(symbol, 0) for symbol in range(counts[0])]
    lengths += [distances.get(symbol, 0) for symbol in range(counts[1])]
    of_lengths = _code_lengths(Counter(lengths), _LONGEST_CODE_OF_LENGTHS)
    codes = _codes(of_lengths)
    bits = [(counts[0] - 257, 5), (counts[1] - 1, 5), (len(_ORDER) - 4, 4)]
    bits += [(of_lengths.get(length, 0), 3) for length in _ORDER]
    return bits + [codes[length] for length in lengths]


def _packed(bits: Sequence[tuple[int, int]]) -> bytes:
    """Return the bits as bytes, the first bit lowest."""
    packed = bytearray()
    value = size = 0
    for more, count in bits:
        value |= more << size
        size += count
        if size >= 32:
            packed += (value & 0xFFFFFFFF).to_bytes(4, "little")
            value, size = value >> 32, size - 32
    return bytes(packed + value.to_bytes((size + 7) // 8, "little"))
