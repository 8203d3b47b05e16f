# SPDX-License-Identifier: MPL-2.0
"""Causes that only Windows has."""
