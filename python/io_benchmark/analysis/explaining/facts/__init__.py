# SPDX-License-Identifier: MPL-2.0
"""Facts that several causes read."""
