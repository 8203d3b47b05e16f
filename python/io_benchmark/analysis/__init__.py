# SPDX-License-Identifier: MPL-2.0

"""From results to figures. Pure: no files, no network, no clock."""
