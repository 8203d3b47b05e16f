# SPDX-License-Identifier: MPL-2.0
"""Figures, places and plot data of each side."""
