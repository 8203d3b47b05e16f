# SPDX-License-Identifier: MPL-2.0
"""A network of two machines whose round trip and rate are known, as root: a namespace per machine.

This program forwards packets between two TUN devices, one of which is in a namespace of its own,
where a server answers. So connections are the kernel's own, with its windows. Where the kernel has
netem, it would do the same.

usage: emulated_network.py NAME ROUND_TRIP_MS BYTES_PER_S SERVER_MS CERTIFICATE
It prints the URL when the server is ready, and ends with its standard input.
"""

import asyncio
import fcntl
import os
import re
import select
import ssl
import struct
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

SERVER = "10.213.7.2"
CLIENT = "10.213.7.1"
PORT = 8443
MTU = 9000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
MOST_QUEUED_NS = 200_000_000
MIB = 2**20


@dataclass
class Way:
    """One direction: packets leave at this rate, and arrive later."""

    source: int
    target: int
    delay_ns: int = 0
    ns_per_byte: float = 0.0
    free_ns: int = 0
    packets: deque[tuple[int, bytes]] = field(default_factory=deque)

    def take(self, now_ns: int) -> None:
        with suppress(BlockingIOError):
            for _ in range(64):
                packet = os.read(self.source, 65536)
                leaving_ns = max(now_ns, self.free_ns)
                if leaving_ns - now_ns > MOST_QUEUED_NS:
                    continue  # a full queue drops what comes
                self.free_ns = leaving_ns + int(len(packet) * self.ns_per_byte)
                self.packets.append((self.free_ns + self.delay_ns, packet))

    def give(self, now_ns: int) -> None:
        while self.packets and self.packets[0][0] <= now_ns:
            with suppress(BlockingIOError):
                os.write(self.target, self.packets.popleft()[1])


def run(command: str) -> None:
    subprocess.run(command.split(), check=True)


def tunnel(name: str) -> int:
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    request = struct.pack("16sH14x", name.encode(), IFF_TUN | IFF_NO_PI)
    fcntl.ioctl(device, TUNSETIFF, request)
    return device


def forward(name: str, round_trip_ms: float, bytes_per_s: float) -> None:
    """Forward packets until the standard input ends."""
    here, there = tunnel(f"{name}a"), tunnel(f"{name}b")
    run(f"ip link set {name}b netns {name}")
    run(f"ip addr add {CLIENT} peer {SERVER} dev {name}a")
    run(f"ip link set {name}a up mtu {MTU}")
    run(f"ip -n {name} addr add {SERVER} peer {CLIENT} dev {name}b")
    run(f"ip -n {name} link set {name}b up mtu {MTU}")
    back = Way(there, here, int(round_trip_ms * 1e6), 1e9 / bytes_per_s)
    ways = (Way(here, there), back)
    while True:
        now_ns = time.monotonic_ns()
        due_ns = back.packets[0][0] - now_ns if back.packets else 10**8
        ready, _, _ = select.select([here, there, 0], [], [], max(0, due_ns) / 1e9)
        if 0 in ready and not os.read(0, 1):
            return
        now_ns = time.monotonic_ns()
        for way in ways:
            if way.source in ready:
                way.take(now_ns)
            way.give(now_ns)


async def serve(server_s: float, certificate: str) -> None:
    """Answer each range after this time, and lead from any path but /object to it."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            request = await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(server_s)
            if not request.startswith(b"GET /object "):
                writer.write(b"HTTP/1.1 303 x\r\nLocation: /object\r\nContent-Length: 0\r\n\r\n")
            else:
                last = re.search(rb"bytes=0-([0-9]+)", request)
                size = int(last[1]) + 1 if last else MIB
                head = (
                    "HTTP/1.1 206 x\r\nContent-Length: %d\r\nContent-Range: bytes 0-%d/%d\r\n\r\n"
                )
                writer.write((head % (size, size - 1, 64 * MIB)).encode())
                for _ in range(size // MIB):
                    writer.write(bytes(MIB))
                    await writer.drain()
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, SERVER, PORT, ssl=tls, backlog=64)
    print(f"https://{SERVER}:{PORT}/a", flush=True)
    async with server:
        await server.serve_forever()


def main(name: str, round_trip_ms: str, bytes_per_s: str, server_ms: str, certificate: str) -> None:
    run(f"ip netns add {name}")
    server = None
    try:
        command = ["ip", "netns", "exec", name, sys.executable, __file__, "serve"]
        child = os.fork()
        if child == 0:
            forward(name, float(round_trip_ms), float(bytes_per_s))
            os._exit(0)
        time.sleep(0.5)
        server = subprocess.Popen([*command, server_ms, certificate], stdin=subprocess.DEVNULL)
        os.waitpid(child, 0)
    finally:
        if server is not None:
            server.kill()
            server.wait()
        run(f"ip netns del {name}")


@contextmanager
def emulated_network(
    certificate: Path, round_trip_ms: float, bytes_per_s: float, server_ms: float
) -> Iterator[str]:
    """Yield the URL of an object at the other end of such a network; skip where none can be."""
    name = f"iob{os.getpid() % 10_000}"
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists():
        pytest.skip("needs root and /dev/net/tun: makes a network")
    numbers = map(str, (round_trip_ms, bytes_per_s, server_ms))
    process = subprocess.Popen(
        [sys.executable, __file__, name, *numbers, certificate],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        assert url, "the network or its server did not start"
        yield url
    finally:
        process.stdin.close()
        process.wait(20)
        process.stdout.close()


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        asyncio.run(serve(float(sys.argv[2]) / 1000, sys.argv[3]))
    else:
        main(*sys.argv[1:])
