"""A server on loopback that answers every request with the same bytes, or with silence."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


def response(status: int, body: str) -> bytes:
    """An HTTP response with this body."""
    data = body.encode()
    return b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s" % (status, len(data), data)


@asynccontextmanager
async def answering(answer: bytes | None) -> AsyncIterator[str]:
    """The base URL of a server that sends `answer` when a request's head has come; None: nothing, ever."""
    done = asyncio.Event()
    open_writers: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_writers.add(writer)
        try:
            await reader.readuntil(b"\r\n\r\n")
            if answer is None:
                await done.wait()
            else:
                writer.write(answer)
                await writer.drain()
        finally:
            writer.close()
            await writer.wait_closed()
            open_writers.discard(writer)
            changed.set()

    changed = asyncio.Event()
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        done.set()
        server.close()
        while open_writers:
            changed.clear()
            await asyncio.wait_for(changed.wait(), 10)
        await server.wait_closed()
