# SPDX-License-Identifier: MPL-2.0
"""What trials show: each removes one thing that may make a side slower."""
