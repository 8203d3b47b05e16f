# SPDX-License-Identifier: MPL-2.0
"""Figures, bottlenecks, places and plot data of each side."""
