# SPDX-License-Identifier: MPL-2.0
"""What the facts in a result say about its machine: devices, identity, published limits."""
