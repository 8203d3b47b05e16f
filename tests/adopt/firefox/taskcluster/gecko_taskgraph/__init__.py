# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Stands for Firefox's package of this name."""


def register(_graph_config):
    """Firefox's registers its parameters and more; nothing of it touches the kind."""
