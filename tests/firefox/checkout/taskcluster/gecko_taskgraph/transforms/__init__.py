# SPDX-License-Identifier: MPL-2.0
"""Stands for Firefox's transforms."""
