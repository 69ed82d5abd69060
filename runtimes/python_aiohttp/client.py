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
# Bytes that lie there already get so long, where this process was not given time to read them:
# uvloop's timers come before its sockets. aiohttp's own timeouts give them none.
GRACE_S = 0.02


class Resolver(aiohttp.ThreadedResolver):
    """Asking for an address is none of the server's silence."""

    is_asking = False

    async def resolve(self, *arguments, **named):
        self.is_asking = True
        try:
            return await super().resolve(*arguments, **named)
        finally:
            self.is_asking = False


class Connection:
    """An agent's session, which keeps its connection from call to call where the server does."""

    def __init__(self, server, stall_s):
        self.url = f"{server.rstrip('/')}/api/generate"
        self.resolver = Resolver()
        # Nobody else is asked: no proxy of the environment, no cookie.
        self.session = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            trust_env=False,
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            connector=aiohttp.TCPConnector(limit=1, resolver=self.resolver),
        )
        self.stall_s, self.heard_s, self.task, self.timer = stall_s, 0.0, None, None
        self.is_reused = self.has_begun = self.is_late = self.is_stalled = False

    async def post(self, body, reply):
        """One call. Every failure is a sentence."""
        try:
            await self.exchange_again(body, reply)
        except asyncio.CancelledError:
            if not self.is_stalled:
                raise
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
        self.task = asyncio.current_task()
        self.watch()
        try:
            async with sending as response:
                self.has_begun = True
                self.heard_s = time.monotonic()
                reply.status = response.status
                async for data in response.content.iter_any():
                    received_ns = now_ns()
                    self.heard_s = time.monotonic()
                    reply.feed(data, received_ns)
        finally:
            self.timer.cancel()
        reply.finish(now_ns())

    def watch(self):
        """One timer a call and none a token: a deadline only ever moves away, so the timer is early
        at worst, and then it is set again."""
        self.heard_s, self.is_late = time.monotonic(), False
        self.timer = asyncio.get_running_loop().call_later(self.stall_s, self.look)

    def look(self):
        if self.resolver.is_asking:
            self.heard_s = time.monotonic()
        left_s = self.heard_s + self.stall_s - time.monotonic()
        if left_s <= 0 and self.is_late:
            self.is_stalled = True
            self.task.cancel()
            return
        self.is_late = left_s <= 0
        wait_s = GRACE_S if self.is_late else left_s
        self.timer = asyncio.get_running_loop().call_later(wait_s, self.look)

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
