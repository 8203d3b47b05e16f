# SPDX-License-Identifier: MPL-2.0
"""Sides become comparisons: what is compared of each pair, at which look, and their figures."""
