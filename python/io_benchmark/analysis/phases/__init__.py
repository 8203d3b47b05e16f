# SPDX-License-Identifier: MPL-2.0
"""Where the time of a task's run went, by the lines of its log."""
