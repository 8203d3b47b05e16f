# SPDX-License-Identifier: MPL-2.0
"""From a comparison or a history to text for people or programs. Pure: same input, same bytes."""
