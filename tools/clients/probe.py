"""When the paced server's tokens arrive, told from outside: by the kernel's stamps on a socket of our own.

  python3 probe.py PORT STREAMS RATE SECONDS TTFT_MS      prints one line of JSON

Each stream asks once, at a random moment of a second. A token is due at the moment before its request
was written, plus the time to the first token, plus its place by the rate. It is late by the kernel's
receive stamp (SO_TIMESTAMPNS) less that, so that both ways over the loopback count against the server.
Tokens that were read together share the stamp of the last: those before it look later than they were.
"""

import json
import random
import selectors
import socket
import struct
import sys
import time

# <asm-generic/socket.h>, which Python's module does not name.
SO_TIMESTAMPNS = 35
STAMP = struct.Struct("qq")
TOKEN = b'"done":false'
# Behind the last token of all, before it is given up.
PATIENCE_S = 30
BYTES = 16_384


def main():
    port, streams, rate, seconds, ttft_ms = (float(argument) for argument in sys.argv[1:])
    tokens, gap_ns = int(rate * seconds), 1e9 / rate
    body = json.dumps({"model": "paced", "prompt": "measure", "options": {"num_predict": tokens}})
    request = (f"POST /api/generate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
               f"{body}").encode()
    sockets = [opened(int(port)) for _ in range(int(streams))]
    begin_at = time.monotonic()
    starts = sorted((begin_at + random.uniform(0.2, 1.2) for _ in range(int(streams))), reverse=True)
    last_at = begin_at + 1.2 + ttft_ms / 1e3 + seconds + PATIENCE_S
    waiting, late, shared = selectors.DefaultSelector(), [], 0
    open_streams = 0
    while (starts or open_streams) and time.monotonic() < last_at:
        while starts and starts[-1] <= time.monotonic():
            starts.pop()
            client = sockets.pop()
            # The time of the request, and how many tokens have come.
            waiting.register(client, selectors.EVENT_READ, [time.time_ns() + ttft_ms * 1e6, 0])
            client.sendall(request)
            open_streams += 1
        wait = max(0, starts[-1] - time.monotonic()) if starts else 1
        for key, _ in waiting.select(wait):
            data, extra, _, _ = key.fileobj.recvmsg(BYTES, 64)
            came, stream = data.count(TOKEN), key.data
            if came:
                s, ns = STAMP.unpack_from(extra[0][2])
                stamp = s * 1_000_000_000 + ns - stream[0]
                late.extend(stamp - (stream[1] + token) * gap_ns for token in range(came))
                stream[1] += came
                shared += came - 1
            if not data or stream[1] == tokens:
                waiting.unregister(key.fileobj)
                open_streams -= 1
    late.sort()
    print(json.dumps({"tokens": len(late), "asked": int(streams) * tokens, "shared_stamp": shared,
                      "p50_us": at(late, 50), "p99_us": at(late, 99), "max_us": at(late, 100)}))


def opened(port):
    client = socket.create_connection(("127.0.0.1", port))
    client.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return client


def at(ordered, percent):
    """By nearest rank, in microseconds."""
    return round(ordered[max(1, -(-len(ordered) * percent // 100)) - 1] / 1e3, 1) if ordered else None


if __name__ == "__main__":
    main()
