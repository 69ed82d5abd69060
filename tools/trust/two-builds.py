#!/usr/bin/env python3
"""Builds targets twice from nothing and holds the programs against each other, byte for byte.

  ./enter tools/proof two-builds [TARGET...] > two-builds.tsv

Without a target, the variants of all families. Each build has an output folder of its own and no
disk cache, so that nothing of the one can be in the other. Ends with 1 where a file differs.
"""

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAMILIES = ["engines", "ledgers", "runtimes", "schedulers", "workflows"]


def main():
    targets = sys.argv[1:] or [f"//{family}:variants" for family in FAMILIES]
    # Not in /tmp, which may lie in memory: two builds take gigabytes.
    with tempfile.TemporaryDirectory(prefix="two-builds-", dir="/var/tmp") as folder:
        first, second = (hashes(Path(folder) / name, targets) for name in ("first", "second"))
    print("file", "first", "second", "equal", sep="\t")
    differ = 0
    for name in sorted(first.keys() | second.keys()):
        one, other = first.get(name, "-"), second.get(name, "-")
        differ += one != other
        print(name, one, other, "yes" if one == other else "no", sep="\t")
    print(f"{len(first)} files, {differ} differ", file=sys.stderr)
    return int(differ > 0 or not first)


def hashes(base, targets):
    """The hash of each file of the targets after a build from nothing, by its name."""
    bazel = ["bazel", f"--output_base={base}"]
    try:
        subprocess.run([*bazel, "build", "--disk_cache=", *targets], cwd=ROOT, check=True)
        asked = [*bazel, "cquery", "--disk_cache=", "--output=files", f"set({' '.join(targets)})"]
        files = subprocess.run(asked, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
        root = subprocess.run([*bazel, "info", "--disk_cache=", "execution_root"], cwd=ROOT, check=True,
                              stdout=subprocess.PIPE, text=True).stdout.strip()
        return {name: sha256(Path(root) / name) for name in files.stdout.split()}
    finally:
        subprocess.run([*bazel, "clean", "--expunge"], cwd=ROOT, check=False)


def sha256(path):
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
