#!/usr/bin/env python3
"""Plants errors with cargo-mutants and asks whether the tests of a crate find them.

  tools/proof mutants FOLDER [AREA...] [--file PATH | --sample N | --again] [--timeout SECONDS] > mutants.tsv

Needs `cargo install cargo-mutants`. FOLDER keeps what was found, one folder an area: a second call
goes on where the first was stopped, and tries survivors again; `--again` tries nothing else. All areas
take hours of two CPUs; `--file` takes the mutants of one file, `--sample` N of an area at random, the
same N in each call and all of them in a larger sample, while the sources stay as they are. Prints
measured, target and met, and the survivors on standard error; ends with 1 where the target is missed.
Of a sample the target is met where the lower end of its 95 % interval reaches it.
"""

import argparse
import json
import math
import os
import random
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = 0.95
# The package, and its files: all where none is named.
AREAS = {
    "stats": ("lab-stats", []),
    "record": ("lab-record", []),
    "judge": ("lab-report", ["lab/report/src/judge.rs"]),
    "checks": ("lab-driver", ["lab/driver/src/package.rs", "lab/driver/src/resume.rs",
                              "lab/driver/src/execute.rs", "lab/driver/src/gate.rs"]),
    # Not its engine, which tests of lab/cli run.
    "compare": ("lab-compare", ["lab/compare/src/*.rs", "lab/compare/src/bisect/*.rs"]),
}
CAUGHT, MISSED = ["CaughtMutant", "Timeout"], ["MissedMutant"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("areas", nargs="*", metavar="AREA", help=", ".join(AREAS))
    parser.add_argument("--file", metavar="PATH", help="the mutants of this file alone")
    parser.add_argument("--sample", type=int, metavar="N", help="this many of an area's mutants, at random")
    parser.add_argument("--again", action="store_true", help="the known survivors and no other mutant")
    parser.add_argument("--timeout", type=int, default=300, metavar="SECONDS",
                        help="what a mutant's tests may take; 300 unless told")
    asked = parser.parse_args()
    for unknown in set(asked.areas) - set(AREAS):
        parser.error(f"there is no area {unknown}; there are: {', '.join(AREAS)}")
    print("area", "files", "mutants", "untested", "caught", "missed", "unviable", "measured", "from", "to",
          "target", "met", sep="\t", flush=True)
    missed = 0
    for area in asked.areas or AREAS:
        package, files = AREAS[area]
        files = [asked.file] if asked.file else files
        folder = asked.folder / area
        folder.mkdir(parents=True, exist_ok=True)
        # What a call that was stopped has found is not in the way of the next one.
        known = outcomes(folder)
        names = listed(package, files)
        tried = sampled(names, asked.sample)
        if asked.again:
            tried = [name for name in names if known.get(name) in MISSED]
            if not tried:
                told(area, files, names, known)
                continue
        # Most are caught by the tests beside the code, which are built in half the time.
        for tests in (["--cargo-arg=--lib"], []):
            mutate(folder, package, files, tried, [*tests, "--timeout", str(asked.timeout)])
            known = outcomes(folder)
        missed += not told(area, files, names, known)
    return int(missed > 0)


def listed(package, files):
    """The names of all mutants there are."""
    names = subprocess.run(["cargo", "mutants", "--list", *chosen(package, files)], cwd=ROOT,
                           check=True, stdout=subprocess.PIPE, text=True)
    return names.stdout.splitlines()


def sampled(names, count):
    """Those to try: all, or the first of them in an order that is random and always the same."""
    if count is None:
        return []
    names = sorted(names)
    random.Random(1).shuffle(names)
    return names[:count]


def mutate(folder, package, files, names, arguments):
    """Tests the mutants that were not caught yet; cargo-mutants keeps what it found."""
    named = [argument for name in names for argument in ("--re", f"^{re.escape(name)}$")]
    command = ["cargo", "mutants", *chosen(package, files), *named, *arguments, "--output", folder, "--iterate",
               "--baseline", "skip", "--no-shuffle"]
    run = subprocess.run(command, cwd=ROOT, stdout=sys.stderr, env={**os.environ, "RUST_BACKTRACE": "0"})
    # 2 and 3: mutants were missed, or took too long. 1, 4 and above: nothing is known.
    if run.returncode not in (0, 2, 3):
        sys.exit(f"cargo mutants ended with {run.returncode}: its message is above")


def chosen(package, files):
    of_files = [argument for file in files for argument in ("--file", file)]
    return ["--package", package, "--colors", "never", *of_files]


def outcomes(folder):
    """The last outcome of each mutant, over all calls; one call's file is kept beside the next."""
    last = folder / "mutants.out/outcomes.json"
    kept = folder / "outcomes.jsonl"
    if last.exists():
        for one in json.loads(last.read_text(encoding="utf-8"))["outcomes"]:
            if isinstance(one["scenario"], dict):
                with kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([one["scenario"]["Mutant"]["name"], one["summary"]]) + "\n")
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    return dict(json.loads(line) for line in lines)


def told(area, files, names, known):
    """Prints a row. What is known of mutants that the sources no longer give counts for nothing."""
    found = {name: known[name] for name in names if name in known}
    caught = sum(summary in CAUGHT for summary in found.values())
    survivors = [name for name, summary in found.items() if summary in MISSED]
    tried = caught + len(survivors)
    measured = caught / max(1, tried)
    low, high = (measured, measured) if len(found) == len(names) else wilson(caught, tried)
    met = "yes" if low >= TARGET else "no" if high < TARGET else "cannot tell"
    print(area, ", ".join(files) or "all", len(names), len(names) - len(found), caught, len(survivors),
          len(found) - tried, f"{measured:.3f}", f"{low:.3f}", f"{high:.3f}", TARGET, met, sep="\t", flush=True)
    for name in survivors:
        print(f"survived: {name}", file=sys.stderr)
    return met == "yes"


def wilson(hits, tried, z=1.96):
    """The 95 % interval of a share (Wilson 1927, J. Am. Stat. Assoc. 22, p. 209)."""
    if tried == 0:
        return 0, 1
    share, weight = hits / tried, z * z / tried
    middle = share + weight / 2
    half = z * math.sqrt(share * (1 - share) / tried + weight / (4 * tried))
    return max(0, (middle - half) / (1 + weight)), min(1, (middle + half) / (1 + weight))


if __name__ == "__main__":
    sys.exit(main())
