#!/usr/bin/env python3
"""Cuts the power at every write of a sweep's record, as far as a trace can: needs strace.

  tools/proof power-cut LAB > power-cut.tsv

A sweep is run under strace. Then, for each system call of it that touches the record, the state is
made that the disk would have if all that was never synced were lost: of a file what was written before
its last sync, a name only if the file's folder was synced after it was given. From each state the
sweep has to go on: no line may be torn but the last, and every line's samples must be there."""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

EXPERIMENT = ["experiments/threads.toml", "--quick", "--no-report", "--no-startup"]
# Contents that were found whole, by the name of their samples.
WHOLE = {}
CALL = re.compile(r"^(?:\d+\s+)?(\w+)\((.*)\)\s+=\s+(-?\d+)(?:<([^>]*)>)?")


def main():
    lab = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        record, log = os.path.join(folder, "r"), os.path.join(folder, "trace")
        calls = "openat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,mkdir,mkdirat"
        subprocess.run(
            ["strace", "-f", "-y", "-s", "10000000", "-xx", "-o", log, "-e", f"trace={calls}", lab,
             "run", *EXPERIMENT, "--out", record],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        states, lines, lost = replay(log, record)
    print("cuts", "lines_at_the_end", "states_with_samples_lost", sep="\t")
    print(states, lines, lost, sep="\t")
    sys.exit(lost > 0)


def replay(log, record):
    written, synced, given, kept = {}, {}, {}, {}
    states = lost = 0
    with open(log, encoding="latin-1") as file:
        for line in joined(file):
            found = CALL.match(line)
            if not found or int(found[3]) < 0 or record not in unescape(line):
                continue
            apply(found[1], found[2], record, written, synced, given, kept)
            states += 1
            lost += not is_whole(kept, synced, record)
    rows = synced.get(kept.get("runs.jsonl", "runs.jsonl"), b"").count(b"\n")
    return states, rows, lost


def joined(lines):
    """A call that another thread's has cut in two, as one line again."""
    begun = {}
    for line in lines:
        thread, _, call = line.partition(" ")
        if call.rstrip().endswith("<unfinished ...>"):
            begun[thread] = call.rstrip()[: -len("<unfinished ...>")]
        elif call.lstrip().startswith("<..."):
            rest = call[call.index("resumed>") + len("resumed>"):]
            yield f"{thread} {begun.pop(thread, '')}{rest}"
        else:
            yield line


def unescape(text):
    return re.sub(r"\\x([0-9a-f]{2})", lambda one: chr(int(one[1], 16)), text)


def name(path, record):
    return os.path.relpath(path, record)


def apply(call, arguments, record, written, synced, given, kept):
    """`written` and `synced` are contents by the name that a file was made under; `given` and `kept`
    say under which names those are to be found, now and after a cut."""
    paths = [unescape(one) for one in re.findall(r"<([^>]*)>", arguments)]
    quoted = [unescape(one) for one in re.findall(r'"((?:[^"\\]|\\.)*)"', arguments)]
    if call in ("write", "pwrite64") and paths:
        key = name(paths[0], record)
        origin = given.setdefault(key, key)
        written[origin] = written.get(origin, b"") + quoted[0].encode("latin-1")
    elif call in ("fsync", "fdatasync") and paths:
        if os.path.splitext(paths[0])[1]:
            key = name(paths[0], record)
            origin = given.setdefault(key, key)
            synced[origin] = written.get(origin, b"")
            # A synced file that was made anew is found again: its own name goes with it.
            kept.setdefault(key, origin)
        else:
            folder = name(paths[0], record)
            here = {key: origin for key, origin in given.items()
                    if (os.path.dirname(key) or ".") == folder}
            kept.update(here)
    elif call.startswith("rename") and len(quoted) >= 2:
        old, new = (name(path, record) for path in quoted[:2])
        given[new] = given.pop(old, old)


def is_whole(kept, synced, record):
    text = synced.get(kept.get("runs.jsonl", ""), b"")
    for line in text.split(b"\n")[:-1]:
        samples = json.loads(line).get("samples")
        if not samples:
            continue
        content = synced.get(kept.get(f"samples/{samples}.zst"), b"")
        if WHOLE.get(samples) is content:
            continue
        unpacked = subprocess.run(["zstd", "-dcq"], input=content, capture_output=True)
        if hashlib.sha256(unpacked.stdout).hexdigest() != samples:
            return False
        WHOLE[samples] = content
    return True


main()
