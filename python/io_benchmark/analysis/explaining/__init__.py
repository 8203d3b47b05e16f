# SPDX-License-Identifier: MPL-2.0
"""Why a side is slower: causes judged by observations, and remedies for them."""
