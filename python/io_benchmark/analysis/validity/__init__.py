# SPDX-License-Identifier: MPL-2.0
"""Rules that decide which results may be compared, and warnings about the rest."""
