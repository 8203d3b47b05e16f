# SPDX-License-Identifier: MPL-2.0

"""What an option is, how values are parsed, and the options that more than one command has."""
