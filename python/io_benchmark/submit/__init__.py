# SPDX-License-Identifier: MPL-2.0
"""Create tasks without a decision task: their final definitions, their cost, creating and waiting.

Nothing here prints; `commands/submit.py` does.
"""
