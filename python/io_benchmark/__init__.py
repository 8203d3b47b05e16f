# SPDX-License-Identifier: MPL-2.0

"""io-benchmark: which worker pool is slower, by how much, how sure that is, and why."""

__version__ = "1.0.0"
