# SPDX-License-Identifier: MPL-2.0
"""What reports for people say, independent of any output format."""
