# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""An HTTP server on loopback that accepts objects, discards them, and answers after a delay."""

import asyncio


async def _serve(delay_s, report_port):
    async def handle(reader, writer):
        try:
            # A distant server's first answer on a new connection takes one more round trip.
            await asyncio.sleep(delay_s)
            while await _accept_object(reader, writer, delay_s):
                pass
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client is gone
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, backlog=1024)
    report_port(server.sockets[0].getsockname()[1])
    await asyncio.Event().wait()


async def _accept_object(reader, writer, delay_s):
    """Read one object and answer; return false if the connection ends after it."""
    head = await reader.readuntil(b"\r\n\r\n")
    fields = {}
    for line in head.decode("latin-1").split("\r\n")[1:]:
        name, _, value = line.partition(":")
        fields[name.strip().lower()] = value.strip().lower()
    if fields.get("expect") == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    await reader.readexactly(int(fields.get("content-length", "0")))
    await asyncio.sleep(delay_s)
    last = fields.get("connection") == "close"
    writer.write(
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n%s\r\n"
        % (b"Connection: close\r\n" * last)
    )
    await writer.drain()
    return not last


def serve(delay_s, report_port):
    """Serve until the process is killed."""
    asyncio.run(_serve(delay_s, report_port))
