# SPDX-License-Identifier: MPL-2.0
"""Stands for Firefox's package of this name."""


def register(_graph_config):
    """Firefox's registers its parameters and more; nothing of it touches the kind."""
