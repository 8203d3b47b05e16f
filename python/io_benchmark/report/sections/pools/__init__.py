# SPDX-License-Identifier: MPL-2.0
"""All pools of a comparison at once: the picture with a row per pool."""
