#!/usr/bin/env python3
"""Kills each durable back end of the workflows, peers included, and says what that cost.

  ./enter tools/proof coming-back COUNT > coming-back.tsv

Runs Bazel's test of that name for COUNT seeds. Each seed runs 120 tasks without a kill; then again,
kills the run with all its processes while tasks are under way, and starts it in the same folder.
A kill's cost is the time of both of those together, less that without a kill. Peers are left out
where the environment does not name them, as tools/peer dbos up and tools/peer restate up say.
"""

import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEST = ["bazel", "test", "//proof/kit:workflows_coming_back_test", "--nocache_test_results",
        "--test_arg=--nocapture", "--test_output=all", "--test_timeout=3600",
        "--test_env=LAB_DBOS_PYTHON", "--test_env=LAB_RESTATE"]
UNDER_WAY = "tasks under way"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    commit = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
                            cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    ended = subprocess.run([*TEST, f"--test_env=LAB_KILLS={int(sys.argv[1])}"], cwd=ROOT, text=True,
                           stdout=subprocess.PIPE)
    if ended.returncode:
        sys.exit(ended.stdout)
    costs = {}
    print(f"# {commit}")
    print("back_end", "seed", "when", "killed_after_ms", "without_kill_ms", "with_kill_ms", sep="\t")
    for line in ended.stdout.splitlines():
        if line.startswith("came back\t"):
            _, back_end, seed, when, after, without, together = line.split("\t")
            print(back_end, seed, when, after, without, together, sep="\t")
            if when == UNDER_WAY:
                costs.setdefault(back_end, []).append(int(together) - int(without))
    for back_end, of in costs.items():
        print(f"{back_end}: {len(of)} kills cost {statistics.median(of):.0f} ms each in the median, "
              f"{min(of)} to {max(of)}", file=sys.stderr)


if __name__ == "__main__":
    main()
