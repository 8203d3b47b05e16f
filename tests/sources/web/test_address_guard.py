# SPDX-License-Identifier: MPL-2.0
"""Addresses in answers, allowed by their scheme and by what their name resolves to."""

import asyncio

import pytest
from aiohttp.abc import AbstractResolver
from loopback import Loopback
from loopback_deployment import AMD_16, ARTIFACT, Artifact

from io_benchmark.errors import ResultError
from io_benchmark.sources.gather import gather
from io_benchmark.sources.web.address_guard import AddressGuard, _Reach, _reach_of
from io_benchmark.sources.web.web_client import WebClient

METADATA = "169.254.169.254"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("8.8.8.8", _Reach.PUBLIC),
        ("2606:4700::1111", _Reach.PUBLIC),
        ("10.1.2.3", _Reach.PRIVATE),
        ("192.168.0.1", _Reach.PRIVATE),
        ("100.64.0.1", _Reach.PRIVATE),
        ("fd00::1", _Reach.PRIVATE),
        ("127.0.0.1", _Reach.LOOPBACK),
        ("127.8.8.8", _Reach.LOOPBACK),
        ("::1", _Reach.LOOPBACK),
        (METADATA, _Reach.LINK_LOCAL),
        ("fe80::1", _Reach.LINK_LOCAL),
        ("fe80::1%eth0", _Reach.LINK_LOCAL),
        ("0.0.0.0", _Reach.LINK_LOCAL),  # noqa: S104 - nothing is bound to it
        ("224.0.0.1", _Reach.LINK_LOCAL),
        ("::ffff:169.254.169.254", _Reach.LINK_LOCAL),
        ("::ffff:10.0.0.1", _Reach.PRIVATE),
        ("64:ff9b::a9fe:a9fe", _Reach.LINK_LOCAL),
        ("2002:7f00:1::", _Reach.LOOPBACK),
    ],
)
def test_reach_of(address, expected):
    """IPv4 addresses inside IPv6 ones count as IPv4."""
    assert _reach_of(address) is expected


class Names(AbstractResolver):
    """A resolver that knows these names alone."""

    def __init__(self, **addresses):
        self.addresses = addresses

    async def close(self):
        pass

    async def resolve(self, host, port=0, family=0):  # noqa: ARG002 - as aiohttp calls it
        return [
            {"hostname": host, "host": one, "port": port, "family": 2, "proto": 0, "flags": 0}
            for one in self.addresses[host]
        ]


def resolved(origin, *addresses):

    async def main():
        guard = AddressGuard(origin, Names(storage=addresses))
        return [one["host"] for one in await guard.resolve("storage", 443)]

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("origin", "address"),
    [
        pytest.param("https://8.8.8.8", "1.1.1.1", id="public-to-public"),
        pytest.param("http://127.0.0.1:80", "127.0.0.1", id="loopback-to-loopback"),
        pytest.param("http://127.0.0.1:80", "10.0.0.1", id="loopback-to-private"),
        pytest.param("https://10.0.0.1", "10.2.0.1", id="private-to-private"),
    ],
)
def test_what_is_followed(origin, address):
    """Public addresses, and those no more private than the deployment's."""
    assert resolved(origin, address) == [address]


@pytest.mark.parametrize(
    ("origin", "address"),
    [
        pytest.param("https://8.8.8.8", "127.0.0.1", id="public-to-loopback"),
        pytest.param("https://8.8.8.8", "10.0.0.1", id="public-to-private"),
        pytest.param("https://10.0.0.1", "127.0.0.1", id="private-to-loopback"),
        pytest.param("http://127.0.0.1:80", METADATA, id="loopback-to-metadata"),
        pytest.param("https://name.invalid", "127.0.0.1", id="unknown-to-loopback"),
    ],
)
def test_what_is_not_followed(origin, address):
    """What a name resolves to decides, not its text."""
    with pytest.raises(
        ResultError, match=rf"^it leads to storage \({address}\), a [a-z-]+ address, to"
    ):
        resolved(origin, address)


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
def test_https_stays_https(policy, storage_type):
    """This holds for an artifact's content too: the storage host gets no request."""
    with Loopback() as loopback:
        loopback.deployment.set_result(AMD_16, 0, Artifact(b"{}", storage_type=storage_type))
        environment = {
            "TASKCLUSTER_ROOT_URL": "https://tc.invalid",
            "TASKCLUSTER_PROXY_URL": loopback.url,
        }
        gathered = gather(
            [f"task:{AMD_16}"], environment, lambda _progress: None, lambda result: result, policy
        )
        assert loopback.asked("storage") == []
        url = f"{loopback.storage_url}/public-bucket/{AMD_16}/0/{ARTIFACT}"
    (line,) = gathered.unreadable
    said = f"it leads from https to '{url}'; only https addresses are followed from there"
    page = f"https://tc.invalid/tasks/{AMD_16}/runs/0"
    assert line == f"task {AMD_16} run 0 (io-benchmark-amd-16): {said} ({page})"
