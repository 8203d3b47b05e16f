# SPDX-License-Identifier: MPL-2.0
"""From what the steps of an investigation found to what to change, or to what decides it."""
