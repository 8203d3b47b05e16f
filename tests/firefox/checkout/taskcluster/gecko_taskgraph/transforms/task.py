# SPDX-License-Identifier: MPL-2.0
"""taskgraph's own in place of Firefox's, which takes the same task descriptions."""

from taskgraph.transforms.task import transforms

__all__ = ["transforms"]
