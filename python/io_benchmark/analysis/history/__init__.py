# SPDX-License-Identifier: MPL-2.0
"""One pool over time: its levels, and what changed when a level did."""
