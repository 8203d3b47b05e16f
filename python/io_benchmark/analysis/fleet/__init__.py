# SPDX-License-Identifier: MPL-2.0
"""All pools of a project: what each can do, what it costs, and when it changed."""
