# SPDX-License-Identifier: MPL-2.0
"""The archive of the report's libraries, a file of a release. Written by `tox -e lock`."""

SHA256 = "52d3454f2e6d6d7f25b4d526b13e98699319db907d1530aca8b3d71982404273"
SIZE_BYTES = 20_769_513
