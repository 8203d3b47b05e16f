# SPDX-License-Identifier: MPL-2.0

"""One module a command: it wires the rooms together and prints."""
