# SPDX-License-Identifier: MPL-2.0
"""From kind.yml to tasks: the kind's schema, its transforms and the selection by name.

Runs in decision tasks, this project's and Firefox's: Python 3.9, taskgraph, voluptuous and the
standard library. `parameters` is only for a stand-alone taskgraph.
"""
