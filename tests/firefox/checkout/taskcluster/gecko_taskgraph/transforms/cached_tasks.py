# SPDX-License-Identifier: MPL-2.0
"""taskgraph's own in place of Firefox's."""

from taskgraph.transforms.cached_tasks import transforms

__all__ = ["transforms"]
