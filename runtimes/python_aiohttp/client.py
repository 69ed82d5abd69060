# --- HTTP by aiohttp on uvloop --------------------------------------------------------------------
# `build` puts this behind the text of python_asyncio, whose agents, replies and columns it keeps.

import aiohttp
import uvloop

__doc__ = __doc__.replace(
    "on asyncio's streams, with nothing beside Python's standard library", "on uvloop and aiohttp"
)
IDENTITY.update(variant="@NAME@", measures="aiohttp")
run_loop = uvloop.run

STALLED = "stalled: the server sent nothing for the stall timeout"
# As they were sent: what a server packs unasked is no reply.
HEADERS = {"content-type": "application/json", "accept-encoding": "identity"}


class Connection:
    """An agent's session, which keeps its connection from call to call where the server does."""

    def __init__(self, server, stall_s):
        self.url = f"{server.rstrip('/')}/api/generate"
        # Asking for an address is none of the server's silence, so connecting has a bound of its
        # own; nobody else is asked: no proxy of the environment, no cookie.
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=stall_s, sock_read=stall_s)
        self.session = aiohttp.ClientSession(
            timeout=timeout,
            trust_env=False,
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            connector=aiohttp.TCPConnector(limit=1),
        )
        self.is_reused = self.has_begun = False

    async def post(self, body, reply):
        """One call. Every failure is a sentence."""
        try:
            await self.exchange_again(body, reply)
        except (TimeoutError, asyncio.TimeoutError):
            raise Failed(STALLED) from None
        except (aiohttp.ClientError, OSError) as error:
            raise Failed(sentence(error)) from None

    async def exchange_again(self, body, reply):
        """A server may close an idle connection while the next request is on its way; that one
        request is sent again on a fresh connection."""
        try:
            await self.exchange(body, reply)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
            if not self.is_reused or self.has_begun:
                raise
            await self.exchange(body, reply)
        self.is_reused = True

    async def exchange(self, body, reply):
        self.has_begun = False
        # No address that a server names is followed.
        sending = self.session.post(self.url, data=body, headers=HEADERS, allow_redirects=False)
        async with sending as response:
            self.has_begun = True
            reply.status = response.status
            async for data in response.content.iter_any():
                reply.feed(data, now_ns())
        reply.finish(now_ns())

    async def end(self):
        await self.session.close()


def sentence(error):
    """Says in the words of the family what aiohttp says in its own."""
    if caused_by(error, ConnectionRefusedError):
        return "connection refused"
    # Inside a body aiohttp names what ended the connection in words alone.
    is_reset = caused_by(error, (ConnectionResetError, BrokenPipeError))
    if is_reset or "ConnectionResetError" in str(error):
        return "connection reset by the server"
    if isinstance(error, aiohttp.ServerDisconnectedError) or "not completed" in str(error):
        return "the connection was closed inside the reply"
    if caused_by(error, aiohttp.http_exceptions.HttpProcessingError):
        return f"the response is not HTTP/1.1: {error}"
    return f"cannot talk to the server: {error}"


def caused_by(error, kind):
    """Whether an exception of this kind is among what led to another one."""
    while error is not None:
        if isinstance(error, kind):
            return True
        error = error.__cause__ or error.__context__
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
