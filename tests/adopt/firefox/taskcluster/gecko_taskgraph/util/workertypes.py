# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""taskgraph's own in place of Firefox's, which takes the parameters too."""

from taskgraph.util import workertypes


def worker_type_implementation(graph_config, _parameters, worker_type):
    return workertypes.worker_type_implementation(graph_config, worker_type)
