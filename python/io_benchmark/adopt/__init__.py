# SPDX-License-Identifier: MPL-2.0
"""Put the kind into another tree: a project that uses taskgraph, or Firefox's in its own form.

Both are changes of whole files, which are shown or written. taskcluster/docs/first-project.md and
firefox.md describe the results.
"""
