# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Compress to DEFLATE (RFC 1951), to the same bytes on every machine: each zlib compresses differently.

One block with Huffman codes of its own. Any zlib decompresses it. Until they are packed, bits are text
in the order in which they are sent.
"""

from __future__ import annotations

import functools
import heapq
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from itertools import accumulate

_SHORTEST, _LONGEST, _FARTHEST = 4, 257, 32_768
_END_OF_BLOCK = 256  # the symbol behind those of the 256 bytes
_LENGTH = 257  # the first symbol of a match's length
# Extra bits of each symbol; the values of a symbol follow those of the symbol before.
_LENGTH_BITS = [0] * 8 + [bits for bits in range(1, 6) for _ in range(4)]
_DISTANCE_BITS = [0] * 4 + [bits for bits in range(1, 14) for _ in range(2)]
_LONGEST_CODE, _LONGEST_CODE_OF_LENGTHS = 15, 7
# The order in which the lengths of the code of lengths are written.
_ORDER = (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)
# The first value of each symbol.
_LENGTHS = list(accumulate((1 << bits for bits in _LENGTH_BITS[:-1]), initial=3))
_DISTANCES = list(accumulate((1 << bits for bits in _DISTANCE_BITS[:-1]), initial=1))


def _number(value: int, size: int) -> str:
    """Return the bits of a number, the lowest first; those of a code have the highest first."""
    return f"{value:0{size}b}"[::-1] if size else ""


@functools.lru_cache(maxsize=_LONGEST)
def _length(length: int) -> tuple[int, str]:
    """Return the symbol of a match's length, and the bits behind it."""
    at = bisect_right(_LENGTHS, length) - 1
    return _LENGTH + at, _number(length - _LENGTHS[at], _LENGTH_BITS[at])


@functools.lru_cache(maxsize=_FARTHEST)
def _distance(distance: int) -> tuple[int, str]:
    at = bisect_right(_DISTANCES, distance) - 1
    return at, _number(distance - _DISTANCES[at], _DISTANCE_BITS[at])


@functools.lru_cache(maxsize=256)  # each kind compresses the same modules
def deflate(data: bytes) -> bytes:
    """Return the data compressed, without a header."""
    symbols, matches = _matches(data)
    symbols.append(_END_OF_BLOCK)
    # Not without a symbol, even if nothing matches.
    distances = [distance for _, distance, _ in matches] or [0]
    literal_lengths = _code_lengths(Counter(symbols), _LONGEST_CODE)
    distance_lengths = _code_lengths(Counter(distances), _LONGEST_CODE)
    literal_codes, distance_codes = _codes(literal_lengths), _codes(distance_lengths)
    bits = ["1", _number(2, 2), *_header(literal_lengths, distance_lengths)]
    following = iter(matches)
    for symbol in symbols:
        bits.append(literal_codes[symbol])
        if symbol >= _LENGTH:
            rest, distance, distance_rest = next(following)
            bits += (rest, distance_codes[distance], distance_rest)
    text = "".join(bits)
    return int(text[::-1], 2).to_bytes((len(text) + 7) // 8, "little")


def _matches(data: bytes) -> tuple[list[int], list[tuple[str, int, str]]]:
    """Return the symbols of bytes and matches, and per match what follows its symbol."""
    latest: dict[bytes, int] = {}
    symbols, matches = [], []
    at, size = 0, len(data)
    while at < size:
        key = data[at : at + _SHORTEST]
        start = latest.get(key)
        latest[key] = at
        if start is None or len(key) < _SHORTEST or at - start > _FARTHEST:
            symbols.append(data[at])
            at += 1
            continue
        distance, end, most = at - start, at + _SHORTEST, min(at + _LONGEST, size)
        while end < most and data[end] == data[end - distance]:
            end += 1
        symbol, rest = _length(end - at)
        symbols.append(symbol)
        matches.append((rest, *_distance(distance)))
        # Most of the data is in matches; to remember all of it would take twice as long.
        for inside in (at + 1, end - 1):
            latest[data[inside : inside + _SHORTEST]] = inside
        at = end
    return symbols, matches


def _code_lengths(counts: Mapping[int, int], longest: int) -> dict[int, int]:
    """Return the length of each symbol's code by Huffman's algorithm, none above the longest."""
    if len(counts) == 1:
        return dict.fromkeys(counts, 1)
    waiting = [(count, symbol) for symbol, count in counts.items()]
    heapq.heapify(waiting)
    root = max(counts)
    parents: dict[int, int] = {}
    while len(waiting) > 1:
        root += 1  # the tree's next node: above both below it
        count, node = heapq.heappop(waiting)
        more, other = waiting[0]
        parents[node] = parents[other] = root
        heapq.heapreplace(waiting, (count + more, root))
    depths = {root: 0}
    for node in sorted(parents, reverse=True):
        depths[node] = depths[parents[node]] + 1
    lengths = {symbol: depths[symbol] for symbol in counts}
    if max(lengths.values()) > longest:
        # More even counts have shorter codes.
        even = {symbol: (count + 1) // 2 for symbol, count in counts.items()}
        return _code_lengths(even, longest)
    return lengths


def _codes(lengths: Mapping[int, int]) -> dict[int, str]:
    """Return the canonical codes of these lengths."""
    codes: dict[int, str] = {}
    code = before = 0
    for length, symbol in sorted((size, symbol) for symbol, size in lengths.items()):
        code <<= length - before
        codes[symbol] = f"{code:0{length}b}"
        code, before = code + 1, length
    return codes


def _header(literals: Mapping[int, int], distances: Mapping[int, int]) -> list[str]:
    """Return the lengths of both codes, in a code of lengths."""
    counts = max(literals) + 1, max(distances) + 1
    lengths = [literals.get(symbol, 0) for symbol in range(counts[0])]
    lengths += [distances.get(symbol, 0) for symbol in range(counts[1])]
    of_lengths = _code_lengths(Counter(lengths), _LONGEST_CODE_OF_LENGTHS)
    codes = _codes(of_lengths)
    bits = [_number(counts[0] - 257, 5), _number(counts[1] - 1, 5)]
    bits += [_number(len(_ORDER) - 4, 4)]
    bits += [_number(of_lengths.get(length, 0), 3) for length in _ORDER]
    return bits + [codes[length] for length in lengths]
