# SPDX-License-Identifier: MPL-2.0
"""Pictures: SVG without scripts, images or fonts."""
