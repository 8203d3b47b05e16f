# SPDX-License-Identifier: MPL-2.0
"""Refuse addresses in a deployment's answers that lead to this machine's private surroundings.

A user who names a deployment trusts it with requests to itself. It must not make this machine send
requests to other hosts of a private network, to local services, or to link-local addresses, where
clouds have their metadata service. So an answer may lead to public addresses, and to more private
ones only where the deployment itself has such an address. A name is judged by the addresses that it
resolves to, at the time of the connection. An https deployment may lead to https addresses only.
"""

import asyncio
import ipaddress
import socket
from enum import IntEnum
from urllib.parse import urlsplit

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

from io_benchmark.errors import ResultError
from io_benchmark.text import clean

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class _Reach(IntEnum):
    """How private an address is: the higher, the fewer hosts can reach it."""

    PUBLIC = 0
    PRIVATE = 1
    LOOPBACK = 2
    LINK_LOCAL = 3  # and groups of hosts


def _reach_of(text: str) -> _Reach:
    address = ipaddress.ip_address(text)
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and ipaddress.IPv6Address(int(address)) in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return _reach_of(str(inner))
    if address.is_loopback:
        return _Reach.LOOPBACK
    if address.is_link_local or address.is_multicast or address.is_unspecified:
        return _Reach.LINK_LOCAL
    # Carriers' 100.64.0.0/10 is neither global nor private to Python.
    return _Reach.PUBLIC if address.is_global else _Reach.PRIVATE


class AddressGuard(AbstractResolver):
    """Resolve names in the answers of one origin, and drop addresses that they must not reach."""

    def __init__(self, origin: str, resolver: AbstractResolver | None = None) -> None:
        self._origin = urlsplit(origin)
        self._resolver = resolver or ThreadedResolver()
        self._allowed: _Reach | None = None

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        resolved = await self._resolver.resolve(host, port, family)
        reachable = [host for host in resolved if await self._allows(host["host"])]
        if not reachable:
            raise self._refusal(host, resolved[0]["host"])
        return reachable

    async def check(self, url: str) -> None:
        """Refuse a URL that leads from https to another scheme, or has a forbidden IP address.

        No resolver sees such an address.
        """
        parts = urlsplit(url)
        if self._origin.scheme == "https" and parts.scheme != "https":
            raise ResultError(
                f"it leads from https to {clean(url, 100)!r}; only https addresses are followed "
                f"from there"
            )
        host = parts.hostname or ""
        try:
            ipaddress.ip_address(host)
        except ValueError:  # a name
            return
        if not await self._allows(host):
            raise self._refusal(host, host)

    async def close(self) -> None:
        await self._resolver.close()

    async def _allows(self, address: str) -> bool:
        reach = _reach_of(address)
        if reach > _Reach.PUBLIC and self._allowed is None:
            self._allowed = await self._reach_of_origin()
        return reach <= (self._allowed or _Reach.PUBLIC)

    async def _reach_of_origin(self) -> _Reach:
        """Return the reach of the most public address; a name that cannot be resolved is public."""
        loop = asyncio.get_running_loop()
        try:
            addresses = await loop.getaddrinfo(self._origin.hostname, None, type=socket.SOCK_STREAM)
        except OSError:
            return _Reach.PUBLIC
        return min((_reach_of(str(address[4][0])) for address in addresses), default=_Reach.PUBLIC)

    def _refusal(self, host: str, address: str) -> ResultError:
        shown = host if host == address else f"{host} ({address})"
        kind = _reach_of(address).name.lower().replace("_", "-")
        return ResultError(
            f"it leads to {clean(shown, 150)}, a {kind} address, to which answers of "
            f"{clean(self._origin.hostname or '', 100)} must not lead"
        )
