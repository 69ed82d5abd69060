"""DBOS, with one durable workflow that is any shape. `operations.py` of the peers stands before it.

Its arguments: the database, the shape, how many steps may run at once. Lines of JSON come in, one
a task: `[task, input]`. Lines go out: `["ready", statements]`, `["accepted", task]`,
`["complete", task, statements]`, and once the input has ended `["row", ...]` for each step. Of what
goes wrong, `["failed", reason]` tells.

In a folder that a killed process has left, DBOS itself takes up the workflows that were under way.
What that process did is told as if it had been done when its task was handed in here.
"""

import asyncio
import concurrent.futures
import json
import os
import sys
import time

# Whatever a library prints goes to the log: standard output is the door.
DOOR = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

try:
    # SQLAlchemy would ask for it later, and say less clearly that it is missing.
    import psycopg  # noqa: F401
    import sqlalchemy
    from dbos import DBOS, SetWorkflowID
except ImportError as error:
    print(json.dumps(["missing", str(error)]), file=DOOR, flush=True)
    sys.exit(0)

DATABASE, SHAPE, WORKERS = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
STEPS = SHAPE["steps"]

# CLOCK_MONOTONIC on Linux, as on the other side of the door.
now = time.monotonic_ns


class Count:
    """Statements that DBOS sends: what its SQLAlchemy executes, BEGIN and COMMIT left out."""

    statements = 0

    @staticmethod
    def one(*_):
        Count.statements += 1


# By task: a row for each step, once its workflow has done all of them.
ROWS = {}
# By task: when it was handed in to this process.
HANDED_NS = {}
# A line for each workflow that has done its steps: its rows.
KEPT = open("rows", "a+b", buffering=0)


def deciders(step):
    of = [] if step.get("when") is None else [step["when"]["step"]]
    return of if step.get("parts_of") is None else of + [step["parts_of"]]


def parts_of(step, values):
    """How many steps are made of one whose deciders are done."""
    first = lambda other: values[other][0] if values[other] else None
    when = step.get("when")
    if when is not None:
        value = first(when["step"])
        if value is None or not when["low"] <= value < when["high"]:
            return 0
    return 1 if step.get("parts_of") is None else first(step["parts_of"]) or 0


def read_kept():
    """What processes before this one have done; the last may have been killed while it wrote."""
    KEPT.seek(0)
    left = KEPT.read()
    end = left.rfind(b"\n") + 1
    KEPT.truncate(end)
    for rows in map(json.loads, left[:end].splitlines()):
        ROWS[rows[0][0]] = rows


def keep(rows):
    """Before DBOS has the workflow as done, since it does not call that one again."""
    ROWS[rows[0][0]] = rows
    KEPT.write(json.dumps(rows).encode() + b"\n")


async def run_step(rows, task, index, part, inputs, created_ns, enqueued_ns):
    """One step of DBOS.

    What its stamps mean: `created`, the workflow's code has learned all that decides about the
    step. `enqueued`, it has learned the results of all that the step waits for, and makes the
    call. `claimed`, DBOS has seen that no result is on record and calls the step's function, in a
    thread. `started` and `finished` are around the operation. `recorded`, DBOS's call has returned,
    so that the result's transaction is committed.
    """
    stamps = []

    def step():
        claimed_ns = now()
        started_ns = now()
        value = compute(STEPS[index]["operation"], inputs, part)
        stamps.append([claimed_ns, started_ns, now()])
        return value

    value = await DBOS.run_step_async({"name": f"{index}.{part}"}, step)
    recorded_ns = now()
    # Its value was on record where it was not called.
    called = stamps[-1] if stamps else [recorded_ns] * 3
    times = [created_ns, enqueued_ns, *called, recorded_ns]
    rows.append([task, index, part, *times, value, max(len(stamps), 1)])
    return value


@DBOS.workflow(name="shape")
async def workflow(task, given):
    """Runs at once whatever may be: DBOS wants the order in which steps begin to be the same
    whenever the workflow is run again, so the next begin when all of these are done. In the
    published shapes nothing has to wait longer for that."""
    rows = []
    values = [None] * len(STEPS)
    created_ns = [None] * len(STEPS)
    known = lambda others: all(values[other] is not None for other in others)
    while None in values:
        at_ns = now()
        wave, calls = [], []
        for index, step in enumerate(STEPS):
            if created_ns[index] is None and known(deciders(step)):
                created_ns[index] = at_ns
            if values[index] is not None or not known(step["after"] + deciders(step)):
                continue
            parts = parts_of(step, values)
            if parts == 0:
                values[index] = []
                continue
            inputs = [value for other in step["after"] for value in values[other]]
            inputs = inputs if step["after"] else [given]
            wave.append((index, parts))
            for part in range(parts):
                calls.append(run_step(rows, task, index, part, inputs, created_ns[index], at_ns))
        found = iter(await asyncio.gather(*calls))
        for index, parts in wave:
            values[index] = [next(found) for _ in range(parts)]
    keep(rows)
    return values[-1][0]


def tell(*message):
    print(json.dumps(message), file=DOOR, flush=True)


async def follow(task, handle):
    try:
        await handle.get_result()
    except Exception as error:
        tell("failed", f"task {task}: {type(error).__name__}: {error}")
        return
    tell("complete", task, Count.statements)


async def serve():
    loop = asyncio.get_running_loop()
    # Steps run in these threads; so does what takes a task over, hence one more.
    loop.set_default_executor(concurrent.futures.ThreadPoolExecutor(WORKERS + 1))
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    following = set()
    tell("ready", Count.statements)
    while line := await reader.readline():
        task, given = json.loads(line)
        HANDED_NS[task] = now()
        with SetWorkflowID(str(task)):
            handle = await DBOS.start_workflow_async(workflow, task, given)
        tell("accepted", task)
        # The loop itself keeps no task alive.
        follower = asyncio.create_task(follow(task, handle))
        following.add(follower)
        follower.add_done_callback(following.discard)


def main():
    config = {
        "name": "lab",
        "system_database_url": DATABASE,
        # Otherwise computed from the source's file, which there is not.
        "application_version": "lab",
        "log_level": "WARNING",
        "enable_otlp": False,
    }
    read_kept()
    try:
        DBOS(config=config)
        sqlalchemy.event.listen(sqlalchemy.Engine, "before_cursor_execute", Count.one)
        DBOS.launch()
        asyncio.run(serve())
    except Exception as error:
        tell("failed", f"{type(error).__name__}: {error}")
        raise
    for task, handed_ns in HANDED_NS.items():
        for _, index, part, *times, value, claims in ROWS[task]:
            times = [max(at_ns, handed_ns) for at_ns in times]
            tell("row", task, index, part, *times, value, claims)
    # Not DBOS.destroy(): it waits for threads that look once a second.
    DOOR.flush()
    os._exit(0)


main()
