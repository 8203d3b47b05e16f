# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Print the format's JSON Schema, for taskcluster/docs/result.schema.json."""

import sys

import msgspec

from io_benchmark.results import json_schema

if __name__ == "__main__":
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(json_schema()), indent=2).decode())
    sys.stdout.write("\n")
