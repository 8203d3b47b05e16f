# SPDX-License-Identifier: MPL-2.0
"""Where time goes: the parts of an operation, and the division of a difference into them."""
