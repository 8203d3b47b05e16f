# SPDX-License-Identifier: MPL-2.0
"""The clock of all times: it never jumps, and all processes have the same."""

import time

now_ns = time.monotonic_ns
