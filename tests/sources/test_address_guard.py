# SPDX-License-Identifier: MPL-2.0
"""Addresses in answers, allowed by their scheme and by what their name resolves to."""

import asyncio
import re
from contextlib import nullcontext

import pytest
from aiohttp.abc import AbstractResolver
from loopback_deployment import AMD_16, ARTIFACT, Artifact

from io_benchmark.errors import ResultError
from io_benchmark.sources.address_guard import AddressGuard
from io_benchmark.sources.gather import gather
from io_benchmark.sources.web_client import WebClient

METADATA = "169.254.169.254"


class OneAddress(AbstractResolver):
    """A resolver that gives every name the same address."""

    def __init__(self, address):
        self.address = address

    async def close(self):
        pass

    async def resolve(self, host, port=0, family=0):
        shared = {"hostname": host, "port": port, "family": family, "proto": 0, "flags": 0}
        return [{**shared, "host": self.address}]


def resolved(origin, address):
    guard = AddressGuard(origin, OneAddress(address))
    return [found["host"] for found in asyncio.run(guard.resolve("storage", 443))]


@pytest.mark.parametrize(
    ("kind", "addresses"),
    [
        ("public", "1.1.1.1 8.8.8.8 2606:4700::1111"),
        ("private", "10.1.2.3 192.168.0.1 100.64.0.1 fd00::1 ::ffff:10.0.0.1"),
        ("loopback", "127.0.0.1 127.8.8.8 ::1 2002:7f00:1::"),
        ("link-local", f"{METADATA} fe80::1 fe80::1%eth0 0.0.0.0 224.0.0.1"),
        ("link-local", f"::ffff:{METADATA} 64:ff9b::a9fe:a9fe"),
    ],
)
def test_kinds_of_addresses(kind, addresses):
    """A public deployment leads to public ones alone.

    IPv4 addresses inside IPv6 ones count as IPv4.
    """
    for address in addresses.split():
        line = rf"^it leads to storage \({re.escape(address)}\), a {kind} address, to"
        with nullcontext() if kind == "public" else pytest.raises(ResultError, match=line):
            assert resolved("https://8.8.8.8", address) == [address]


@pytest.mark.parametrize(
    ("origin", "address", "is_followed"),
    [
        ("https://10.0.0.1", "10.2.0.1", True),
        ("https://10.0.0.1", "127.0.0.1", False),
        ("http://127.0.0.1:80", "127.0.0.1", True),
        ("http://127.0.0.1:80", "10.0.0.1", True),
        ("http://127.0.0.1:80", METADATA, False),
        ("https://name.invalid", "127.0.0.1", False),
    ],
)
def test_what_is_followed(origin, address, is_followed):
    """Public addresses, and those no more private than the deployment's.

    A name by what it resolves to.
    """
    line = rf"^it leads to storage \({address}\), a [a-z-]+ address, to"
    with nullcontext() if is_followed else pytest.raises(ResultError, match=line):
        assert resolved(origin, address) == [address]


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", METADATA, "[::ffff:10.0.0.1]"])
def test_addresses_without_a_name(policy, host):
    """No resolver sees them; no request is sent."""

    async def main():
        async with WebClient(policy) as http:
            await http.download(f"http://{host}:9/x", 100, "http://8.8.8.8")

    with pytest.raises(
        ResultError, match=r"address, to which answers of 8\.8\.8\.8 must not lead$"
    ):
        asyncio.run(main())


@pytest.mark.parametrize("storage_type", ["s3", "reference"])
def test_https_stays_https(loopback, storage_type):
    """This holds for an artifact's content too: the storage host gets no request."""
    loopback.deployment.set_result(AMD_16, 0, Artifact(b"{}", storage_type=storage_type))
    root_url = "https://tc.invalid"
    environment = {"TASKCLUSTER_ROOT_URL": root_url, "TASKCLUSTER_PROXY_URL": loopback.url}
    gathered = gather([f"task:{AMD_16}"], environment, lambda *_: None, lambda run: run)
    assert loopback.asked("storage") == []
    url = f"{loopback.storage_url}/public-bucket/{AMD_16}/0/{ARTIFACT}"
    problem = f"it leads from https to '{url}'; only https addresses are followed from there"
    page = f"{root_url}/tasks/{AMD_16}/runs/0"
    line = f"task {AMD_16} run 0 (io-benchmark-amd-16): {problem} ({page})"
    assert gathered.unreadable == (line,)
