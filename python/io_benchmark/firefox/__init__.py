# SPDX-License-Identifier: MPL-2.0
"""Put the kind into a Firefox checkout: `kind` makes the files, `checkout` compares and writes.

taskcluster/docs/firefox.md describes the result.
"""
