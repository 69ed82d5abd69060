#!/usr/bin/env python3
"""Tries the first minutes of somebody who has never been here, in scratch folders.

  tools/proof stranger [--list] [--only TRY[,TRY]] [--but TRY[,TRY]] [--minutes N] [--tsv FILE]

Each try runs in a folder of its own that is removed afterwards, from the last commit: what is not
committed is not tried. The caches of this user are used, so that times are those of a warm machine;
only `first use` makes them anew, and takes most of an hour. Every try has a time limit, and --minutes
bounds all of them together. What every command printed is in results/stranger/.

Prints what was measured, the target, and whether it is met, for each try when it ends and for all of
them at the end; ends with 1 where one is not met.
"""

import argparse
import signal
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
import growing  # noqa: E402
import installing  # noqa: E402
import travelling  # noqa: E402
from place import CannotTry, Stopped, let_only  # noqa: E402

# Name: the target, the longest time in minutes, and the try. Short ones come first.
TRIES = {**installing.TRIES, **travelling.TRIES, **growing.TRIES, **installing.FROM_NOTHING}
HEAD = ["try", "measured", "target", "met", "seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--list", action="store_true", help="print the tries and their targets")
    parser.add_argument("--only", type=names, default=[], help="these tries, separated by commas")
    parser.add_argument("--but", type=names, default=["first use"],
                        help="not these [default: first use]")
    parser.add_argument("--minutes", type=float, default=60.0, help="for all tries [default: 60]")
    parser.add_argument("--tsv", type=Path, help="write the table there too")
    given = parser.parse_args()
    if given.list:
        for name, (target, minutes, _) in TRIES.items():
            print(name, target, f"at most {minutes} minutes", sep="\t")
        return 0
    # A shell's background jobs ignore Ctrl-C, and what they start would: tries have to hear it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    wanted = given.only or [name for name in TRIES if name not in given.but]
    return in_turn(wanted, time.monotonic() + 60 * given.minutes, given.tsv)


def names(text):
    wanted = [name.strip() for name in text.split(",") if name.strip()]
    for name in wanted:
        if name not in TRIES:
            raise argparse.ArgumentTypeError(f"there is no try `{name}`: {', '.join(TRIES)}")
    return wanted


def in_turn(wanted, deadline, tsv):
    """Tries each; the table stands however a try ends."""
    print("\t".join(HEAD), flush=True)
    rows = []
    try:
        for name in wanted:
            rows.append(row(name, deadline))
            print("\t".join(rows[-1]), flush=True)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    missing = [[name, "not reached", TRIES[name][0], "not tried", "0"] for name in wanted[len(rows):]]
    summary(rows + missing)
    if tsv:
        tsv.write_text("\n".join("\t".join(line) for line in [HEAD, *rows, *missing]) + "\n")
    return int(any(line[3] == "no" for line in rows))


def row(name, deadline):
    target, minutes, one = TRIES[name]
    start = time.monotonic()
    try:
        let_only(min(60 * minutes, deadline - start), name)
        measured, met = one()
        met = "yes" if met else "no"
    except CannotTry as reason:
        measured, met = str(reason), "not tried"
    except Stopped as reason:
        measured, met = str(reason), "no"
    except Exception as error:  # noqa: BLE001 - the other tries go on
        measured, met = f"{type(error).__name__}: {error}", "no"
    words = " ".join(measured.split())
    return [name, words, target, met, f"{time.monotonic() - start:.0f}"]


def summary(rows):
    widths = [max(len(line[column]) for line in [HEAD, *rows]) for column in (0, 2, 3)]
    print()
    for name, measured, target, met, _ in [HEAD, *rows]:
        print(f"{name:<{widths[0]}}  {met:<{widths[2]}}  {target:<{widths[1]}}  {measured}")
    counts = {word: sum(line[3] == word for line in rows) for word in ("yes", "no", "not tried")}
    print(f"\n{counts['yes']} met, {counts['no']} not met, {counts['not tried']} not tried")


if __name__ == "__main__":
    sys.exit(main())
