# SPDX-License-Identifier: MPL-2.0
"""A recorded registry of Windows, as Python's module for it would show it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Registry:
    """In the place of the module `winreg`.

    A key has its values by name. A key that is an error refuses everything.
    """

    HKEY_LOCAL_MACHINE, KEY_READ, KEY_WOW64_64KEY = "HKLM", 0x20019, 0x100

    def __init__(self) -> None:
        self.keys: dict[str, dict[str, Any] | OSError] = {}

    @contextmanager
    def OpenKey(  # noqa: N802 - Python's name
        self, root: str, path: str, _reserved: int, access: int
    ) -> Iterator[dict[str, Any]]:
        assert (root, access) == ("HKLM", 0x20119)
        key = self.keys.get(path, FileNotFoundError(2, "no such key"))
        if isinstance(key, OSError):
            raise key
        yield key

    def QueryValueEx(self, key: dict[str, Any], name: str) -> tuple[Any, int]:  # noqa: N802
        if name not in key:
            raise FileNotFoundError(2, "no such value")
        return key[name], 1

    def QueryInfoKey(self, key: dict[str, Any]) -> tuple[int, int, int]:  # noqa: N802
        return 7, len(key), 0

    def EnumValue(self, key: dict[str, Any], index: int) -> tuple[str, Any, int]:  # noqa: N802
        return *list(key.items())[index], 1
