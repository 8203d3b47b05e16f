# SPDX-License-Identifier: MPL-2.0
"""A gate: its answer, why, the measurements against the limit, and the comparison below it."""
