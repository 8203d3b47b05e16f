# SPDX-License-Identifier: MPL-2.0
"""Generates and selects tasks from a tree's kinds: the only importer of taskgraph here."""
