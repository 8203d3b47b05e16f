# SPDX-License-Identifier: MPL-2.0

"""One module per command: its options, the call of its operation, and what it prints."""
