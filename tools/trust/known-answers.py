#!/usr/bin/env python3
"""Asks real sweeps questions whose answers are known, again and again.

  tools/proof known-answers LAB COUNT FOLDER

LAB is the program `lab` with the variants' programs beside it. Each of the experiments known-search
(a kernel slower by exactly 2 %, twice the margin) and known-tokens (5 µs of CPU time more on each
token) runs COUNT times, with another seed each time, one after the other in turn. A row of
FOLDER/known-answers.tsv is one candidate of one sweep: the planted one, whose truth is not zero, or
the twin of the reference, whose truth is zero. A sweep that stands there is not run again.

FOLDER/known-answers-bars.tsv, printed too, says how often the lab was right: measured, target, met.
"""

import csv
import os
import subprocess
import sys
import tempfile
import time
from math import log, sqrt
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Experiment: the planted variant and its truth, on the scale of the comparison. A ratio's is the
# logarithm; the wall time is that of the search alone, so that 2 % are 2 %. A stream has one line
# more than tokens, its end: the truth per token is higher than 5 µs by less than 1 %.
TRUTHS = {
    "known-search": ("sequential_plus_2_percent", log(1.02)),
    "known-tokens": ("tokio_default_plus_5us", 5_000.0),
}
HEADER = ["experiment", "seed", "candidate", "truth", "n", "estimate", "low", "high", "confidence",
          "outcome", "seconds"]
SECONDS_MAX = 600
FOUND_MIN = 0.95


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.strip())
    lab, count, folder = os.path.abspath(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / "known-answers.tsv"
    there = rows(out) if out.exists() else []
    done = {(row["experiment"], row["seed"]) for row in there}
    if not there:
        append(out, [[f"# {commit()}"], HEADER])
    for seed in range(1, count + 1):
        for experiment in TRUTHS:
            if (experiment, str(seed)) not in done:
                append(out, sweep(lab, experiment, seed))
                print(f"{experiment}, sweep {seed} of {count}", file=sys.stderr)
    bars = folder / "known-answers-bars.tsv"
    bars.unlink(missing_ok=True)
    append(bars, summary(rows(out)))
    print(bars.read_text(), end="")


def rows(path):
    with path.open(newline="") as file:
        lines = (line for line in file if not line.startswith("#"))
        return list(csv.DictReader(lines, delimiter="\t"))


def append(path, lines):
    with path.open("a", newline="") as file:
        csv.writer(file, delimiter="\t", lineterminator="\n").writerows(lines)


def commit():
    said = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
                          cwd=ROOT, capture_output=True, text=True, check=True)
    return said.stdout.strip()


def sweep(lab, experiment, seed):
    """Runs it in a folder of its own and returns a row for each candidate."""
    planted, truth = TRUTHS[experiment]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "tables").symlink_to(ROOT / "experiments/tables")
        text = (ROOT / f"experiments/{experiment}.toml").read_text()
        file = folder / f"{experiment}.toml"
        file.write_text(text.replace("\nseed = 1\n", f"\nseed = {seed}\n"))
        start = time.monotonic()
        command = [lab, "run", str(file), "--out", str(folder / "record"), "--no-startup", "--json"]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True,
                               timeout=SECONDS_MAX)
        if ended.returncode != 0:
            sys.exit(f"{experiment}, seed {seed}: {ended.stderr.strip()}")
        seconds = time.monotonic() - start
        judged, twins = (rows(folder / f"record/{name}-1.tsv") for name in ("differences", "aa"))
    for twin in twins:
        twin["outcome"] = "told apart" if twin["told_apart"] == "true" else "not told apart"
    return [[experiment, seed, row["variant"], truth if row["variant"] == planted else 0.0,
             *(row[key] for key in HEADER[4:10]), round(seconds, 1)] for row in judged + twins]


def summary(all_rows):
    """How often the planted difference was found, the twin told apart, the truth held."""
    lines = [["experiment", "what", "measured", "target", "met"]]
    for experiment, (planted, _) in TRUTHS.items():
        of = [row for row in all_rows if row["experiment"] == experiment]
        candidates = [row for row in of if row["candidate"] == planted]
        twins = [row for row in of if row["candidate"] != planted]
        found = sum(row["outcome"] == "slower" for row in candidates)
        wrong = sum(row["outcome"] == "told apart" for row in twins)
        lines.append([experiment, "planted difference found", f"{found} of {len(candidates)}",
                      f"{FOUND_MIN:.0%}", met(found >= FOUND_MIN * len(candidates))])
        lines.append([experiment, "twin told apart", f"{wrong} of {len(twins)}", "0",
                      met(wrong == 0)])
        for what, group in [("planted truth in its interval", candidates),
                            ("zero in the twin's interval", twins)]:
            lines.append([experiment, what, *coverage(group)])
    return lines


def coverage(group):
    """How many intervals hold the truth; the target is what they say of themselves, less two
    standard errors."""
    known = [row for row in group if row["low"] not in ("", "nan")]
    held = sum(float(row["low"]) <= float(row["truth"]) <= float(row["high"]) for row in known)
    stated = sum(float(row["confidence"]) for row in known) / max(len(known), 1)
    least = stated - 2 * sqrt(stated * (1 - stated) / max(len(known), 1))
    return f"{held} of {len(known)}", f"{least:.1%}", met(held >= least * len(known))


def met(reached):
    return "yes" if reached else "no"


if __name__ == "__main__":
    main()
