#!/usr/bin/env python3
"""Runs the tests of the crates with `unsafe` under Miri, which looks for undefined behaviour.

  tools/proof miri [--limit SECONDS] [CRATE...] > miri.tsv

Needs `rustup component add miri rust-src --toolchain nightly`. Each test runs by itself, so that one
which Miri cannot run hides no other, and is ended after SECONDS of CPU time (60 unless told), or ten
times as long by the clock. Property tests take CASES cases, where they do not say how many
themselves. Ends with 1 where Miri finds something.
"""

import argparse
import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CASES = 8
# What holds `unsafe`, as lab/tidy/src/unsafety.rs lists it: the tests, or why Miri runs none.
CRATES = {
    "jsonl-search": ["--lib"],
    "workflows-worker": ["--lib"],
    "engines-io_uring": "system calls of io_uring, which Miri does not know",
    "lab-process": "its unsafe code is system calls around processes, which Miri does not know",
}
FLAGS = {
    # The machine's clock and files; vector registers, or that code would be passed by.
    "MIRIFLAGS": "-Zmiri-disable-isolation",
    "RUSTFLAGS": "-C target-feature=+avx2",
    "PROPTEST_CASES": str(CASES),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=60, metavar="SECONDS", help="of CPU time for one test")
    parser.add_argument("crates", nargs="*", metavar="CRATE", help=", ".join(CRATES))
    asked = parser.parse_args()
    for unknown in set(asked.crates) - set(CRATES):
        parser.error(f"{unknown} holds no unsafe; there are: {', '.join(CRATES)}")
    print("crate", "test", "result", "reason", sep="\t", flush=True)
    found = 0
    for crate in asked.crates or CRATES:
        if isinstance(CRATES[crate], str):
            print(crate, "-", "cannot", CRATES[crate], sep="\t", flush=True)
            continue
        for test in tests(crate):
            result, reason = one(crate, test, asked.limit)
            found += result == "undefined"
            print(crate, test, result, reason, sep="\t", flush=True)
    return int(found > 0)


def command(crate, *arguments):
    return ["cargo", "+nightly", "miri", "test", "--quiet", "-p", crate, *CRATES[crate], "--", *arguments]


def tests(crate):
    """The names of a crate's tests; the first call builds it."""
    listed = subprocess.run(command(crate, "--list"), cwd=ROOT, env=environment(), text=True,
                            stdout=subprocess.PIPE)
    if listed.returncode:
        sys.exit(f"{crate} cannot be built for Miri: the compiler's message is above")
    return [line.removesuffix(": test") for line in listed.stdout.splitlines()
            if line.endswith(": test")]


def one(crate, test, limit):
    """What Miri says of one test: `passes`, `undefined`, `cannot`, `fails` or `too long`."""
    too_long = "too long", f"more than {limit} s of CPU time"
    run = subprocess.Popen(command(crate, "--exact", test), cwd=ROOT, env=environment(), text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)))
    try:
        said, _ = run.communicate(timeout=10 * limit)
    except subprocess.TimeoutExpired:
        # The group is this call's own: Miri runs below Cargo.
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
        return too_long
    if "signal: 9" in said or "signal: 24" in said:
        return too_long
    if run.returncode == 0:
        return ("passes", "-") if "1 passed" in said else ("cannot", "the test is not run")
    for result, pattern in [("undefined", r"error: (Undefined Behavior.*)"),
                            ("cannot", r"error: unsupported operation: (.*)"),
                            ("fails", r"panicked at (.*)"), ("fails", r"error(?:\[.*\])?: (.*)")]:
        if matched := re.search(pattern, said):
            return result, matched[1].replace("\t", " ")
    return "fails", f"ended with {run.returncode}"


def environment():
    return {**os.environ, **FLAGS}


if __name__ == "__main__":
    sys.exit(main())
