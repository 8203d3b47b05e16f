# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Where a copy goes: one file again and again, or a ring of fresh ones."""

import os
import time

from observe import page_cache


class Target:
    """Where the next copy goes, and in a ring what is trimmed between retrieves."""

    def __init__(self, policy, folder, ring_bytes):
        self._policy = policy
        self._folder = folder
        self._ring_bytes = ring_bytes
        self._number = 0
        self._held_bytes = 0
        self._held = []
        self.last = os.path.join(folder, "output.dat")
        self.trims = []

    def next(self, size):
        if self._policy == "fresh":
            if self._held_bytes + size > self._ring_bytes:
                self._trim()
            self._number += 1
            self._held_bytes += size
            self.last = os.path.join(self._folder, "output-%05d.dat" % self._number)
            self._held.append(self.last)
        return self.last

    def _trim(self):
        """Outside the timed part: what was copied is written out before it is removed."""
        started_ns = time.monotonic_ns()
        page_cache.sync_filesystem(self._folder)
        sync_ns = time.monotonic_ns() - started_ns
        self.trims.append({"after_retrieves": self._number, "sync_ns": sync_ns})
        self.remove()

    def remove(self):
        for path in self._held or [self.last]:
            if os.path.exists(path):
                os.unlink(path)
        self._held = []
        self._held_bytes = 0
