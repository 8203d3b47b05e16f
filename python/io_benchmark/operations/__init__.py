# SPDX-License-Identifier: MPL-2.0
"""What the commands do: one function per command, below the parsing and the printing.

An operation gets addresses, options, the environment and a function for progress, and returns a
report. Those that create or run tasks also get the user, whom they inform and may ask.
"""
