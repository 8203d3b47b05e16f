# SPDX-License-Identifier: MPL-2.0
"""The gate: is a pool with a new image as fast as the pool with the old one?"""
