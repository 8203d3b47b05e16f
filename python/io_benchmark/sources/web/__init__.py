# SPDX-License-Identifier: MPL-2.0
"""Requests: bounded, repeated where that helps, kept away from private addresses."""
