#!/usr/bin/env python3
"""Runs the commands of our pages that no test and no other try runs, as they stand there.

  tools/proof pages [--list] [--only PAGE[,PAGE]] [--minutes N] [--tsv FILE]

commands.tsv beside this says which these are. They run in a clean clone of the last commit, in the pinned
environment, with what the page speaks of beside it: two programs, a repository of a small tool, a
report with its results. What stands for a name of the reader's (`QUERY DIR`) is replaced. A full sweep
takes --quick. What every command printed is in results/stranger/.

Prints for each command how it ended, in seconds; ends with 1 where one did not do what its page says.
"""

import argparse
import csv
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
import samples  # noqa: E402
from place import (ROOT, CannotTry, Stopped, clone, environment, let_only, run, scratch,  # noqa: E402
                   told)

OURS = "tools/try/pages.py"
# What the reader puts in, and what makes a sweep short.
STAND_INS = [
    ("QUERY DIR", "level:error docs"),
    ("target/release CONTEXT", "target/release ../context"),
    ("Containerfile CONTEXT", "Containerfile ../context"),
    ("--peers COMMAND", "--peers nix-instantiate --version"),
    ("./enter tools/proof browse DIR",
     "./enter target/release/lab site ../site && ./enter tools/proof browse ../site"),
    ("lab run experiments/tr115.toml", "lab run experiments/tr115.toml --quick --no-startup"),
    ("lab run experiments/tr115-ollama.toml",
     "lab run experiments/tr115-ollama.toml --quick --no-startup"),
]
# What an answer ends with; of all others 0.
ANSWERS = {"lab compare": {0, 10, 11}, "lab bisect": {0}, "lab audit": {0, 1},
           "lab import": {0, 10, 11}, "lab watch": {0, 12}, "lab doctor": {0, 1},
           "./enter bazel run //lab:audit": {0, 1}, "cargo run --release -p jsonl-search": {0, 1}}
MINUTES = 40


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--list", action="store_true", help="print the commands")
    parser.add_argument("--only", default="", help="the commands of these pages, with commas")
    parser.add_argument("--minutes", type=float, default=90.0, help="for all [default: 90]")
    parser.add_argument("--tsv", type=Path, help="write the table there too")
    given = parser.parse_args()
    wanted = [page for page in given.only.split(",") if page]
    rows = [row for row in table() if not wanted or row[0] in wanted]
    if not rows:
        parser.error(f"no command of {given.only} is run here")
    if given.list:
        for page, command in rows:
            print(page, command, sep="\t")
        return 0
    ended = in_turn(rows, time.monotonic() + 60 * given.minutes)
    if given.tsv:
        given.tsv.write_text("".join("\t".join(row) + "\n" for row in ended))
    met = sum(row[-1] == "yes" for row in ended)
    print(f"{met} of {len(ended)} commands do what their page says")
    return 0 if met == len(ended) else 1


def table():
    """Page and command of the rows that are ours, each command once, in the order of the table."""
    with open(ROOT / "tools/try/commands.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    first = {row["command"]: row["page"] for row in reversed(rows) if row["run_by"] == OURS}
    commands = dict.fromkeys(row["command"] for row in rows if row["command"] in first)
    # A build of everything comes first: others run what it made.
    last = ["docs/SERVERS.md"]
    order = sorted(commands, key=lambda one: (first[one] in last, "--workspace" not in one))
    return [(first[command], command) for command in order]


def in_turn(rows, deadline):
    """Each in the same clone; a command that fails stops none."""
    ended = []
    # ./enter shows what lies below /tmp to the commands inside, and nothing else beside the checkout.
    with scratch("/tmp") as folder:
        checkout = clone(folder)
        beside = samples.lay_out(folder / "reader")
        for number, (page, command) in enumerate(rows, 1):
            start = time.monotonic()
            measured, met = one(checkout, beside, command, deadline, f"pages-{number:02}")
            seconds = f"{time.monotonic() - start:.0f}"
            ended.append([page, command, measured, seconds, met])
            print(*ended[-1], sep="\t", flush=True)
    return ended


def one(checkout, reader, command, deadline, log):
    try:
        let_only(min(60 * MINUTES, deadline - time.monotonic()), log)
        done = shell(checkout, reader, command)
    except CannotTry as why:
        return f"not tried: {why}", "no"
    except Stopped as why:
        return str(why), "no"
    codes = next((codes for start, codes in ANSWERS.items() if command.startswith(start)), {0})
    return told(done), "yes" if done.status in codes else "no"


def shell(checkout, reader, command):
    """In the environment, where `lab` is the one that the clone built; the reader's own commands in
    the reader's folder."""
    for name, instead in STAND_INS:
        command = command.replace(name, instead)
    env = environment({"CARGO_INSTALL_ROOT": reader.parent / "installed"})
    if command == "./enter --clean":
        env["XDG_CACHE_HOME"] = str(reader.parent / "cache")
    if command.startswith(("./enter", "eval ")):
        return run(["bash", "-c", command], checkout, env)
    folder = samples.folder_of(command, reader, checkout)
    words = f"cd '{folder}' && export PATH={checkout}/target/release:$PATH && {command}"
    if "podman" in command:
        # Its images are the try's own, and end with it.
        words = f"eval \"$(containers/podman-env '{reader.parent / 'podman'}')\" && {words}"
    # Ollama is built with this machine's own Go, as its page says: no environment of ours has one.
    inside = [] if "tools/ollama" in command else ["./enter"]
    return run([*inside, "bash", "-c", words], checkout, env)


if __name__ == "__main__":
    sys.exit(main())
