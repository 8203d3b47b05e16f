# SPDX-License-Identifier: MPL-2.0
"""The sections of reports about real tasks: how long they took, what they cost, and predictions."""
