#!/usr/bin/env python3
"""Feeds the readers of the lab with inputs that reach new branches, and keeps those inputs.

  tools/proof fuzz FOLDER [READER...] [--seconds 900] [--jobs 1] > fuzz.tsv
  tools/proof fuzz FOLDER [READER...] --keep

Needs a nightly toolchain, a C++ compiler and `cargo install cargo-fuzz`. Each reader gets SECONDS in
all: FOLDER keeps its corpus and its times, so a call that was stopped goes on there. An input that
breaks a reader ends its time and stays as FOLDER/READER/broken-*. `--keep` packs the fewest inputs
that reach the same branches into proof/program/corpus, whose tests feed them too. Ends with 1 where a
reader broke.
"""

import argparse
import fcntl
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CRATE = Path(__file__).resolve().parent
PROGRAM = ROOT / "target/fuzz/x86_64-unknown-linux-gnu/release/readers"
# What a stopped call loses at most.
SLICE_S = 300
LIMITS = ["-max_len=65536", "-timeout=20", "-report_slow_units=20", "-rss_limit_mb=4096"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("readers", nargs="*", metavar="READER", help="those of proof/program/src/fuzz/targets.rs")
    parser.add_argument("--seconds", type=int, default=900, help="for each reader, over all calls")
    parser.add_argument("--jobs", type=int, default=1, help="readers at a time")
    parser.add_argument("--keep", action="store_true", help="pack the corpora, and feed nothing")
    asked = parser.parse_args()
    folder = asked.folder.absolute()
    seeds = folder / "seeds"
    lab_fuzz("--seeds", seeds)
    known = sorted(path.name for path in seeds.iterdir())
    for unknown in set(asked.readers) - set(known):
        parser.error(f"there is no reader {unknown}; there are: {', '.join(known)}")
    build()
    readers = asked.readers or known
    if asked.keep:
        keep(folder, readers)
        return 0
    print("target", "inputs", "seconds", "branches", "corpus", "broken", sep="\t", flush=True)
    with ThreadPoolExecutor(asked.jobs) as pool:
        rows = pool.map(lambda reader: fuzz(folder, reader, asked.seconds), readers)
        broken = sum(row(*found) for found in rows)
    return int(broken > 0)


def lab_fuzz(*words):
    subprocess.run(["cargo", "run", "--quiet", "--release", "-p", "proof-program", "--", "fuzz", *words], cwd=ROOT, check=True)


def build():
    command = ["cargo", "+nightly", "fuzz", "build", "--fuzz-dir", CRATE, "--target-dir", ROOT / "target/fuzz"]
    subprocess.run(command, cwd=CRATE, check=True)


def fuzz(folder, reader, seconds):
    """The slices of a reader, those of earlier calls among them."""
    corpus = folder / reader / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    # Of two calls the second waits, and finds what the first did.
    lock = (folder / reader / "lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    done = slices(folder, reader)
    while not any(one["broken"] for one in done) and (left := seconds - sum(one["seconds"] for one in done)) > 0:
        said = libfuzzer(reader, corpus, folder / "seeds" / reader, f"-max_total_time={min(left, SLICE_S)}",
                         "-print_final_stats=1", f"-artifact_prefix={folder / reader}/broken-")
        one = {"inputs": number(r"stat::number_of_executed_units: *(\d+)", said),
               "seconds": number(r"Done \d+ runs in (\d+) second", said),
               "branches": number(r"cov: (\d+)", said), "corpus": number(r"corp: (\d+)/", said),
               "broken": [path.name for path in sorted((folder / reader).glob("broken-*"))]}
        if not one["seconds"] and not one["broken"]:
            sys.exit(f"libFuzzer did not run {reader}:\n{said[-2000:]}")
        done.append(one)
        (folder / reader / "slices.json").write_text(json.dumps(done), encoding="utf-8")
    return reader, done


def libfuzzer(reader, *words):
    environment = {**os.environ, "LAB_FUZZ_READER": reader}
    run = subprocess.run([PROGRAM, *LIMITS, *words], env=environment, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return run.stderr.decode(errors="replace")


def number(pattern, said):
    """The last one: libFuzzer says its counts again and again."""
    found = re.findall(pattern, said)
    return int(found[-1]) if found else 0


def slices(folder, reader):
    path = folder / reader / "slices.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def row(reader, done):
    broken = ", ".join(done[-1]["broken"]) or "-"
    print(reader, sum(one["inputs"] for one in done), sum(one["seconds"] for one in done), done[-1]["branches"],
          done[-1]["corpus"], broken, sep="\t", flush=True)
    return broken != "-"


def keep(folder, readers):
    """The fewest inputs that reach what the corpus reaches, packed."""
    for reader in readers:
        fewest = folder / "kept" / reader
        fewest.mkdir(parents=True, exist_ok=True)
        for old in fewest.iterdir():
            old.unlink()
        libfuzzer(reader, "-merge=1", fewest, folder / reader / "corpus", folder / "seeds" / reader)
    lab_fuzz("--keep", folder / "kept")


if __name__ == "__main__":
    sys.exit(main())
