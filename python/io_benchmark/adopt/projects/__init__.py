# SPDX-License-Identifier: MPL-2.0
"""Put the kind into a project that uses taskgraph, as the project is: its pin, images, functions.

Each module makes one part of the changes in a `Draft`; `project.py` puts them together.
"""
