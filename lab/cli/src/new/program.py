#!/usr/bin/env python3
"""@FAMILY@-@NAME@: what it is, in one sentence.

Reads one run spec as a JSON line from standard input and writes one outcome as a JSON line.

  --describe  print who this is, as JSON
  --help      print this

Exit codes: 0 done, 1 failed (the outcome says why), 2 bad spec
"""

import json
import sys
import time

# As variant.toml has it.
IDENTITY = {
    "protocol": 1,
    "family": "@FAMILY@",
    "variant": "@NAME@",
    "measures": "python",
    "version": "installed",
    "features": [],
}
DONE, FAILED, BAD_SPEC = 0, 1, 2


class BadSpec(Exception):
    """Nothing is run; the text says which key is wrong, and what to write."""


class Unsupported(Exception):
    """It cannot do this workload; the text is the outcome's reason."""


def now_ns():
    """The clock of every stamp: comparable between processes of one machine."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def prepare(workload):
    """Checks the workload and gives what `measure` takes, or raises `BadSpec`."""
    return workload


def measure(prepared):
    """Does the work and gives its counters and its columns of samples, both by name: lab/protocol has
    what the family asks for. Any exception is a failed run."""
    raise Unsupported("its work is not written yet: write `measure` in its program")


def read_spec():
    line = sys.stdin.buffer.readline()
    if not line:
        raise BadSpec("standard input ended before a run spec: write one JSON line to it")
    try:
        spec = json.loads(line)
    except ValueError as error:
        raise BadSpec(f"cannot read the run spec: {error}") from None
    keys = ("protocol", "run", "workload")
    if not isinstance(spec, dict):
        raise BadSpec("cannot read the run spec: it is no object")
    for key in spec:
        if key not in keys:
            raise BadSpec(f"cannot read the run spec: unknown field `{key}`")
    for key in keys:
        if key not in spec:
            raise BadSpec(f"cannot read the run spec: missing field `{key}`")
    if spec["protocol"] != IDENTITY["protocol"]:
        theirs, ours = spec["protocol"], IDENTITY["protocol"]
        raise BadSpec(f"the run spec is protocol {theirs}, this variant speaks {ours}")
    return spec["run"], prepare(spec["workload"])


def outcome(run, prepared):
    """The outcome and the exit code."""
    answer = {"protocol": IDENTITY["protocol"], "run": run}
    try:
        counters, samples = measure(prepared)
        return {**answer, "status": "ok", "counters": counters, "samples": samples}, DONE
    except Unsupported as sentence:
        status, code, reason = "unsupported", DONE, str(sentence)
    except Exception as error:
        status, code, reason = "failed", FAILED, f"{type(error).__name__}: {error}"
    print(f"{IDENTITY['variant']}: {reason}", file=sys.stderr)
    return {**answer, "status": status, "reason": reason}, code


def main(arguments):
    if arguments == ["--describe"]:
        print(json.dumps(IDENTITY))
        return DONE
    if arguments in (["--help"], ["-h"]):
        print(__doc__.strip())
        return DONE
    if arguments:
        print("the only arguments are --describe and --help", file=sys.stderr)
        return BAD_SPEC
    try:
        run, prepared = read_spec()
    except BadSpec as sentence:
        print(sentence, file=sys.stderr)
        return BAD_SPEC
    answer, code = outcome(run, prepared)
    print(json.dumps(answer))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
