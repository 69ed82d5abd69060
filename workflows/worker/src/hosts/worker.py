"""A worker in Python: on its own (`process`), or by calling the library in Rust (`ffi PATH`)."""

import os
import struct
import sys
import time

VERSION = 1
LACKING = 3
MODULUS = (1 << 61) - 1
WORD = (1 << 64) - 1


def main():
    if sys.argv[1] == "process":
        process()
    else:
        ffi(sys.argv[2])


def process():
    steps = open(0, "rb", closefd=False)
    os.write(1, struct.pack("<QQ", VERSION, 0))
    while head := steps.read(32):
        operation, argument, part, count = struct.unpack("<4Q", head)
        values = struct.unpack(f"<{count}Q", steps.read(8 * count))
        started_ns = time.monotonic_ns()
        value = compute(operation, argument, part, values)
        finished_ns = time.monotonic_ns()
        os.write(1, struct.pack("<3Q", value, started_ns, finished_ns))


def ffi(path):
    try:
        import ctypes
    except ImportError:
        sys.exit(LACKING)

    class Step(ctypes.Structure):
        _fields_ = [
            ("operation", ctypes.c_uint64),
            ("argument", ctypes.c_uint64),
            ("part", ctypes.c_uint64),
            ("count", ctypes.c_uint64),
            ("values", ctypes.POINTER(ctypes.c_uint64)),
        ]

    def function(name, result, *arguments):
        found = getattr(library, name)
        found.restype, found.argtypes = result, arguments
        return found

    library = ctypes.CDLL(path)
    handle, word = ctypes.c_void_p, ctypes.c_uint64
    empty = function("workflows_worker_empty", None)
    open_ = function("workflows_worker_open", handle, ctypes.c_int, ctypes.c_int, word)
    next_ = function("workflows_worker_next", ctypes.c_int, handle, ctypes.POINTER(Step))
    record = function("workflows_worker_record", ctypes.c_int, handle, word)
    close = function("workflows_worker_close", None, handle)

    worker = open_(0, 1, empty_call_ns(empty))
    if not worker:
        sys.exit("the worker cannot be opened")
    step = Step()
    while (more := next_(worker, step)) == 1:
        values = step.values[: step.count]
        record(worker, compute(step.operation, step.argument, step.part, values))
    close(worker)
    if more < 0:
        sys.exit("the pipe brought no step")


def empty_call_ns(empty):
    """The median of calls by the hundred: one is about as short as a look at the clock."""
    times = []
    for _ in range(101):
        start_ns = time.monotonic_ns()
        for _ in range(100):
            empty()
        times.append(time.monotonic_ns() - start_ns)
    return sorted(times)[50] // 100


def compute(operation, argument, part, values):
    first = values[0] if values else 0
    if operation == 0:
        return first
    if operation == 1:
        product = 1
        for value in values:
            product = product * value % MODULUS
        return product * product % MODULUS
    if operation == 2:
        return sum(values) % MODULUS
    if operation == 3:
        return argument
    if operation == 4:
        rows = range(part * argument, (part + 1) * argument)
        return sum(mix(first, row) % 10_000 for row in rows) % MODULUS
    sys.exit(f"there is no operation {operation}")


def mix(seed, index):
    state = (seed + (index + 1) * 0x9E37_79B9_7F4A_7C15) & WORD
    state = (state ^ (state >> 30)) * 0xBF58_476D_1CE4_E5B9 & WORD
    state = (state ^ (state >> 27)) * 0x94D0_49BB_1331_11EB & WORD
    return state ^ (state >> 31)


main()
