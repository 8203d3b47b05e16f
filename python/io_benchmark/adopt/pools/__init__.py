# SPDX-License-Identifier: MPL-2.0
"""Pools' definitions, such as fxci-config's worker-pools.yml: their machines, and changes.

`definitions.py` is what other rooms use. `entries.py` finds a file's pools, `machines.py` reads a
machine, `workers.py` gives it to the workers that it is of. `named_machines.py` changes which
machines a pool names, `written_machines.py` sets values in them.
"""
