# SPDX-License-Identifier: MPL-2.0
"""What worker time costs: prices from a file, hours and money."""
