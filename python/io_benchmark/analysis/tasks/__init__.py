# SPDX-License-Identifier: MPL-2.0
"""What runs of real tasks show: durations, their parts and their cost, on several pools."""
