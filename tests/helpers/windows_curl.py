# SPDX-License-Identifier: MPL-2.0
"""curl for Wine, which Windows 10 and later have: what the workload `upload` uses of it.

Windows' Python runs this file. It understands the options that a file of `--config` has, uploads by
HTTP/1.1, and prints a line per object to stderr.
"""

from __future__ import annotations

import http.client
import sys
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

VERSION = "curl 8.4.0 (Windows) for tests\nProtocols: http\nFeatures: alt-svc"
# By which a quoted value has a backslash, a quote and the end of a line.
ESCAPES = (("\\\\", "\0"), ('\\"', '"'), ("\\n", "\n"), ("\0", "\\"))


def options_of(path: str) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """Return the options of a configuration, and each object's own."""
    common: dict[str, Any] = {}
    objects: list[dict[str, str]] = []
    headers: dict[str, str] = {}
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        name, _, value = (word.strip() for word in line.partition(" = "))
        if value.startswith('"'):
            value = value[1:-1]
            for escape, character in ESCAPES:
                value = value.replace(escape, character)
        if name == "url":
            objects.append({"url": value})
        elif name in ("upload-file", "output"):
            objects[-1][name] = value
        elif name == "header":
            header, _, value = value.partition(":")
            headers[header] = value.strip()
        else:
            common[name] = value
    common["headers"] = {header: value for header, value in headers.items() if value}
    return common, objects


class Connection:
    """Uploads objects one after another, on one connection where the server keeps it."""

    def __init__(self, common: dict[str, Any]) -> None:
        self._common = common
        self._headers: dict[str, str] = common["headers"]
        self._connection: http.client.HTTPConnection | None = None

    def put(self, item: dict[str, str]) -> None:
        started_s = time.perf_counter()
        url = urllib.parse.urlsplit(item["url"])
        is_new = self._connection is None
        if self._connection is None:
            limit_s = int(self._common["max-time"])
            self._connection = http.client.HTTPConnection(url.netloc, timeout=limit_s)
        body = Path(item["upload-file"]).read_bytes()
        self._connection.request("PUT", url.path, body, self._headers)
        answer = self._connection.getresponse()
        answer.read()
        if self._headers.get("Connection") == "close" or answer.will_close:
            self._connection.close()
            self._connection = None
        values = {
            "stderr": "",
            "http_code": answer.status,
            "time_total": f"{time.perf_counter() - started_s:.6f}",
            "num_connects": int(is_new),
            "http_version": "1.1",
        }
        text = self._common["write-out"]
        for name, value in values.items():
            text = text.replace(f"%{{{name}}}", str(value))
        sys.stderr.buffer.write(text.encode())
        sys.stderr.flush()


def main(words: list[str]) -> int:
    """Upload, or print the version."""
    if words == ["--version"]:
        print(VERSION)
        return 0
    flag, option, path = words
    assert (flag, option) == ("-q", "--config"), words
    common, objects = options_of(path)
    try:
        if "parallel" in common:
            with ThreadPoolExecutor(int(common["parallel-max"])) as pool:
                list(pool.map(lambda item: Connection(common).put(item), objects))
        else:
            connection = Connection(common)
            for item in objects:
                connection.put(item)
    except OSError as error:
        print(f"curl: (7) {error}", file=sys.stderr)
        return 7
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
