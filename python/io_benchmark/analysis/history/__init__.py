# SPDX-License-Identifier: MPL-2.0
"""A pool's results over time: readings in, series with their levels and changes out."""
