# SPDX-License-Identifier: MPL-2.0
"""Results on this machine, and the folders that results are written to."""
