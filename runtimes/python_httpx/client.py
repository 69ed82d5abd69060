# --- HTTP by httpx --------------------------------------------------------------------------------
# `build` puts this behind the text of python_asyncio, whose agents, replies and columns it keeps.

import httpx

__doc__ = __doc__.replace(
    "on asyncio's streams, with nothing beside Python's standard library", "on asyncio and httpx"
)
IDENTITY.update(variant="@NAME@", measures="httpx")


class Connection:
    """An agent's client, which keeps its connection from call to call where the server does."""

    def __init__(self, server, stall_s):
        self.url = f"{server.rstrip('/')}/api/generate"
        # Nobody else is asked: no proxy of the environment, no address that a server names.
        self.client = httpx.AsyncClient(timeout=stall_s, trust_env=False, follow_redirects=False)
        self.is_reused = self.has_begun = False

    async def post(self, body, reply):
        """One call. Every failure is a sentence."""
        try:
            await self.exchange_again(body, reply)
        except httpx.TimeoutException:
            raise Failed("stalled: the server sent nothing for the stall timeout") from None
        except httpx.RemoteProtocolError as error:
            if is_closing(error):
                raise Failed("the connection was closed inside the reply") from None
            raise Failed(f"the response is not HTTP/1.1: {error}") from None
        except httpx.HTTPError as error:
            if caused_by(error, ConnectionRefusedError):
                raise Failed("connection refused") from None
            if caused_by(error, (ConnectionResetError, BrokenPipeError)):
                raise Failed("connection reset by the server") from None
            raise Failed(f"cannot talk to the server: {error}") from None

    async def exchange_again(self, body, reply):
        """A server may close an idle connection while the next request is on its way; that one
        request is sent again on a fresh connection."""
        try:
            await self.exchange(body, reply)
        except (httpx.NetworkError, httpx.RemoteProtocolError):
            if not self.is_reused or self.has_begun:
                raise
            await self.exchange(body, reply)
        self.is_reused = True

    async def exchange(self, body, reply):
        self.has_begun = False
        headers = {"content-type": "application/json", "accept-encoding": "identity"}
        sending = self.client.stream("POST", self.url, content=body, headers=headers)
        async with sending as response:
            self.has_begun = True
            reply.status = response.status_code
            # As they were sent: what a server packs unasked is no reply.
            async for data in response.aiter_raw():
                reply.feed(data, now_ns())
        reply.finish(now_ns())

    async def end(self):
        await self.client.aclose()


def is_closing(error):
    """httpx has one exception for a connection that ends early and for what is no HTTP."""
    return any(words in str(error) for words in ("closed connection", "disconnected"))


def caused_by(error, kind):
    """Whether an exception of this kind is among what led to another one."""
    while error is not None:
        several = getattr(error, "exceptions", ())
        if isinstance(error, kind) or any(caused_by(one, kind) for one in several):
            return True
        error = error.__cause__ or error.__context__
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
