# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A large static x86-64 program, made here because workers have no compiler.

It jumps through all of its code, one jump per cache line, in an order that no prefetcher predicts, a
given number of times, and exits. Which lines are read from memory again depends on whether the caches
hold its code, and the code of other copies that run at the same time.
"""

import random
import struct

LINE_BYTES = 64
PAGE_BYTES = 4096
LOAD_ADDRESS = 0x400000
MACHINE_X86_64 = 62
CODE_AT = PAGE_BYTES  # in the file and, from LOAD_ADDRESS, in memory
LINES_AT = 2 * PAGE_BYTES
READ_AND_EXECUTE = 5


def build(blob_bytes, passes, seed=1):
    """Return the program as bytes."""
    lines = blob_bytes // LINE_BYTES
    order = list(range(lines))
    generator = random.Random(seed)
    for at in range(lines - 1, 0, -1):
        # Not shuffle(): only random() gives the same values in every version of Python.
        swapped = int(generator.random() * (at + 1))
        order[at], order[swapped] = order[swapped], order[at]
    again_at = CODE_AT + 12
    blob = bytearray(b"\xcc" * (lines * LINE_BYTES))  # int3 wherever nothing may jump
    for line, following in zip(order, [*order[1:], None]):
        begin = line * LINE_BYTES
        target = again_at if following is None else LINES_AT + following * LINE_BYTES
        struct.pack_into("<Bi", blob, begin, 0xE9, target - (LINES_AT + begin + 5))
    first_at = LINES_AT + order[0] * LINE_BYTES - again_at
    code = b"\x49\xc7\xc4" + struct.pack("<i", passes)  # mov r12, passes
    code += b"\xe9" + struct.pack("<i", first_at)  # jmp first
    code += b"\x49\xff\xcc"  # again: dec r12
    # jnz to the jmp
    code += b"\x0f\x85" + struct.pack("<i", CODE_AT + 7 - (again_at + 9))
    code += b"\xb8\x3c\x00\x00\x00\x31\xff\x0f\x05"  # exit(0)
    size = LINES_AT + len(blob)
    head = _headers(size)
    before_code = bytes(CODE_AT - len(head))
    before_lines = bytes(LINES_AT - CODE_AT - len(code))
    return head + before_code + code + before_lines + blob


def _headers(size):
    """Return ELF's header and one segment: the whole file, readable and executable."""
    identity = b"\x7fELF\x02\x01\x01" + bytes(9)  # 64 bits, little end first, version 1
    entry = LOAD_ADDRESS + CODE_AT
    kind = struct.pack("<HHIQQQI", 2, MACHINE_X86_64, 1, entry, 64, 0, 0)
    sizes = struct.pack("<HHHHHH", 64, 56, 1, 0, 0, 0)
    flags = struct.pack("<IIQ", 1, READ_AND_EXECUTE, 0)
    place = struct.pack("<5Q", LOAD_ADDRESS, LOAD_ADDRESS, size, size, PAGE_BYTES)
    return identity + kind + sizes + flags + place
