# SPDX-License-Identifier: MPL-2.0
"""Read what a fleet is made of, and keep it."""
