# SPDX-License-Identifier: MPL-2.0
"""All pools of a project: what changed, which is best and cheapest, and a row per pool."""
