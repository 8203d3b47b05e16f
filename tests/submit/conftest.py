# SPDX-License-Identifier: MPL-2.0
"""All requests obey a policy that does not wait."""

from no_pauses import policy, waits

__all__ = ["policy", "waits"]
