#!/usr/bin/env python3
"""Kills a sweep again and again, resumes it, and holds its record against what must be true.

  tools/proof kills LAB COUNT [--at-sync] > kills.tsv

LAB is the program `lab` with the variants' programs beside it. COUNT kills by SIGKILL are made, each
at a random instant of a sweep, or with --at-sync (needs strace) where a file was written and is about
to be synced. After each kill: no line of runs.jsonl that was there before has changed, no run stands
twice, all samples are there under their hash, and no process of the sweep is left. When a sweep has
ended, every planned run is there once and its report follows from it."""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# Of this run of this script, in the environment of all that it starts.
MARK = f"LAB_KILLS={os.getpid()}-{time.time_ns()}"
EXPERIMENT = ["experiments/threads.toml", "--quick", "--no-report"]
SEED = 20261122


def main():
    lab, count = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    at_sync = "--at-sync" in sys.argv
    rng = random.Random(SEED)
    print("kill", "kind", "after_ms", "rows_before", "rows_after", "torn", "left", "wrong", sep="\t")
    done = 0
    while done < count:
        with tempfile.TemporaryDirectory() as folder:
            record = os.path.join(folder, "r")
            done = one_sweep(lab, record, rng, at_sync, done, count)
    print(f"{done} kills", file=sys.stderr)


def one_sweep(lab, record, rng, at_sync, done, count):
    before = []
    while True:
        arguments = ["run", "--resume", record, "--no-report"] if before_exists(record) else [
            "run", *EXPERIMENT, "--out", record]
        if done >= count:
            finish(lab, record)
            return done
        killed, after_ms, kind = attempt([lab, *arguments], rng, at_sync)
        if not killed:
            finish(lab, record)
            return done
        rows, torn, wrong = look(record, before)
        left = wait_for_none_left(record)
        print(done, kind, after_ms, len(before), len(rows), torn, left, wrong or "-", sep="\t")
        sys.stdout.flush()
        if wrong or left:
            sys.exit(f"kill {done}: {wrong or 'processes are left'}")
        before, done = rows, done + 1
        if not before_exists(record):
            shutil.rmtree(record, ignore_errors=True)


def before_exists(record):
    return os.path.exists(os.path.join(record, "run.json"))


def attempt(command, rng, at_sync):
    """Whether it was killed before its end, when, and how."""
    name, value = MARK.split("=")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL,
             "env": {**os.environ, name: value}}
    if at_sync:
        when = rng.randrange(1, 60)
        inject = f"inject=fsync,fdatasync:signal=SIGKILL:when={when}"
        started = time.monotonic()
        ended = subprocess.run(["strace", "-o", "/dev/null", "-e", inject, *command], **quiet)
        took = round(1000 * (time.monotonic() - started))
        return ended.returncode != 0, took, f"at sync {when}"
    child = subprocess.Popen(command, **quiet)
    wait = rng.uniform(0.0, 4.0)
    try:
        child.wait(wait)
        return False, 0, "-"
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
        child.wait()
        return True, round(1000 * wait), "random"


def look(record, before):
    """The whole lines of runs.jsonl, whether there is a torn one, and what is wrong."""
    try:
        with open(os.path.join(record, "runs.jsonl"), "rb") as file:
            text = file.read()
    except FileNotFoundError:
        return [], 0, "records are gone" if before else ""
    torn = int(bool(text) and not text.endswith(b"\n"))
    lines = text.split(b"\n")[:-1]
    if lines[: len(before)] != before:
        return lines, torn, "an earlier line has changed"
    rows = [json.loads(line) for line in lines]
    keys = [(row["order"], row["attempt"]) for row in rows]
    if len(set(keys)) != len(keys):
        return lines, torn, "a run stands twice"
    for row in rows:
        if row.get("samples") and not samples_are_whole(record, row["samples"]):
            return lines, torn, f"the samples of run {row['order']} are not whole"
    return lines, torn, ""


def samples_are_whole(record, name):
    path = os.path.join(record, "samples", name + ".zst")
    unpacked = subprocess.run(["zstd", "-dcq", path], capture_output=True)
    return unpacked.returncode == 0 and hashlib.sha256(unpacked.stdout).hexdigest() == name


def wait_for_none_left(record):
    """Processes that still carry our mark after ten seconds."""
    for _ in range(200):
        left = [pid for pid in os.listdir("/proc") if pid.isdigit() and is_marked(pid)]
        if not left:
            return 0
        time.sleep(0.05)
    return len(left)


def is_marked(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return MARK.encode() in file.read().split(b"\0")
    except OSError:
        return False


def finish(lab, record):
    """The rest of the sweep, without any kill; then its report must follow from it."""
    subprocess.run([lab, "run", "--resume", record, "--no-report"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lines, torn, wrong = look(record, [])
    orders = sorted(json.loads(line)["order"] for line in lines)
    if torn or wrong or orders != list(range(len(orders))):
        sys.exit(f"after its end: {wrong or 'runs are missing'}")
    subprocess.run([lab, "report", record], check=True, stdout=subprocess.DEVNULL)


main()
