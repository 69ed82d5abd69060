#!/usr/bin/env python3
"""Runs the tests that try something against the lab, and writes down what came of each attempt.

  tools/proof attacks > attacks.tsv

The tests are those of the packages that know `lab_attacks`, in the working tree as it is; each names
its attacks itself. Everything that they try comes from them and goes to loopback. An attack that is
named twice counts once, and is right where it was right each time. Tests that were skipped, and those
that failed, are named on standard error; the exit code is 1 where an attack or a test was wrong."""

import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOURS_MAX = 2


def main():
    at = commit()
    packages = [name for name in map(package, manifests()) if name]
    with tempfile.TemporaryDirectory() as folder:
        book = Path(folder) / "book"
        passed = run(packages, book)
        attacks = read(book)
    if not attacks:
        sys.exit("no test named an attack")
    print(f"# commit {at}\nkind\tattack\tcame_of_it")
    for (kind, name), came_of_it in sorted(attacks.items()):
        print(f"{kind}\t{name}\t{came_of_it}")
    sys.exit(not passed or "wrong" in attacks.values())


def manifests():
    return sorted(ROOT.glob("lab/*/Cargo.toml"))


def package(manifest):
    """Its name, where its tests know the book."""
    text = tomllib.loads(manifest.read_text())
    return text["package"]["name"] if "proof-kit" in text.get("dev-dependencies", {}) else None


def run(packages, book):
    command = ["cargo", "test", "--no-fail-fast", *(word for name in packages for word in ("-p", name))]
    ended = subprocess.run(command, cwd=ROOT, env={**os.environ, "LAB_ATTACKS": str(book)}, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=3600 * HOURS_MAX)
    for line in ended.stdout.splitlines():
        if line.startswith(("SKIPPED", "error")) or line.endswith("... FAILED"):
            print(line, file=sys.stderr)
    return ended.returncode == 0


def read(book):
    attacks = {}
    lines = book.read_text().splitlines() if book.exists() else []
    for kind, name, came_of_it in (line.split("\t") for line in lines):
        if attacks.get((kind, name)) != "wrong":
            attacks[kind, name] = came_of_it
    return attacks


def commit():
    said = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, text=True, capture_output=True, check=True)
    return said.stdout.strip()


main()
