#!/usr/bin/env python3
"""Writes the pages of reports/trust from the tables in it; with --check compares only.

  tools/proof page reports/trust [--check]
"""

import csv
import os
import statistics
import sys
from collections import defaultdict

ATTACKS_LEAST = 300


def main():
    folder, check = sys.argv[1], "--check" in sys.argv
    os.makedirs(os.path.join(folder, "details"), exist_ok=True)
    put(folder, "report.md", [HEAD, answer(folder), FACTS, attacks(folder), kills(folder), selftest(folder), known(folder), fuzz(folder), orders(folder), undefined(folder), mutants(folder), builds(folder)], check)
    put(folder, "details/how.md", [HOW, ATTACKS, "", KILLS, *coming_back(folder), "", SELFTEST, "", KNOWN, "", FUZZ, "", ORDERS, "", UNDEFINED, "", MUTANTS, ""], check)


def put(folder, name, parts, check):
    path, page = os.path.join(folder, name), "\n".join(parts)
    if not check:
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
        return
    with open(path, encoding="utf-8") as file:
        if file.read() != page:
            sys.exit(f"{path} does not follow from its tables: tools/proof page {folder}")


def rows(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        lines = (line for line in file if not line.startswith("#"))
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def answer(folder):
    all_rows = rows(folder, "kills.tsv") + rows(folder, "kills-at-sync.tsv")
    wrong = sum(row["wrong"] != "-" for row in all_rows)
    same = [row for row in rows(folder, "selftest.tsv") if row["truth"] == "shift 0"]
    experiments = sum(int(row["experiments"]) for row in same)
    different = sum(int(row["experiments"]) * (float(row["faster"]) + float(row["slower"])) for row in same)
    tried = rows(folder, "attacks.tsv")
    held = sum(row["came_of_it"] == "right" for row in tried)
    kept = f"Of {len(all_rows)} kills {'none lost or doubled' if wrong == 0 else f'{wrong} lost, doubled or spoilt'} a row"
    return (f"Of {len(tried)} attacks {held} were held off. {kept}, and of {experiments:,} simulated experiments without a difference "
            f"{100 * different / experiments:.1f} % were called different, where 5 % are allowed.\n")


def attacks(folder):
    """Counts of attacks.tsv, by kind."""
    tried, right = defaultdict(int), defaultdict(int)
    for row in rows(folder, "attacks.tsv"):
        tried[row["kind"]] += 1
        right[row["kind"]] += row["came_of_it"] == "right"
    kinds = sorted(tried, key=lambda kind: (-tried[kind], kind))
    said = ", ".join(f"{kind} {tried[kind]}" if right[kind] == tried[kind] else f"{kind} {right[kind]}/{tried[kind]}"
                     for kind in kinds)
    all_tried, all_right = sum(tried.values()), sum(right.values())
    bar = "met" if all_tried >= ATTACKS_LEAST and all_right == all_tried else "missed"
    return "\n".join(["## Attacks", "", f"Held off: {said}. Measured {all_right}/{all_tried}; target all of "
                      f"{ATTACKS_LEAST}+: {bar}.", ""])


def kills(folder):
    out = ["## Kills", "", "| kind | kills | with a torn last line | rows lost | runs twice | processes left |",
           "|---|---|---|---|---|---|"]
    for name, kind in [("kills.tsv", "at a random instant"),
                       ("kills-at-sync.tsv", "between a write and its sync")]:
        all_rows = rows(folder, name)
        torn = sum(int(row["torn"]) for row in all_rows)
        lost = sum(row["wrong"] == "an earlier line has changed" for row in all_rows)
        twice = sum(row["wrong"] == "a run stands twice" for row in all_rows)
        left = sum(int(row["left"]) for row in all_rows)
        out.append(f"| {kind} | {len(all_rows)} | {torn} | {lost} | {twice} | {left} |")
    return "\n".join(out + power_cuts(folder) + [""])


def power_cuts(folder):
    said = [f"{row['lab']}: {row['states_with_samples_lost']} of {row['cuts']}" for row in rows(folder, "power-cut.tsv")]
    return ["", f"Power cuts that lost a line's samples, {'; '.join(said)}."]


def coming_back(folder):
    costs = defaultdict(list)
    for row in rows(folder, "coming-back.tsv"):
        if row["when"] == "tasks under way":
            costs[row["back_end"]].append((int(row["with_kill_ms"]) - int(row["without_kill_ms"])) / 1000)
    said = [f"{back_end} {statistics.median(of):.1f} s ({max(of):.1f})"
            for back_end, of in sorted(costs.items(), key=lambda item: statistics.median(item[1]))]
    kills = sum(map(len, costs.values()))
    return ["", f"Workflow back ends came back from {kills} kills with tasks under way and lost no step. Time lost, median "
            f"(most): {', '.join(said)}."]


def selftest(folder):
    groups = defaultdict(list)
    for row in rows(folder, "selftest.tsv"):
        groups[row["truth"]].append(row)
    titles = ["truth", "records × candidates", "pairs", "experiments", "called different", "called equivalent",
              "interval holds the truth"]
    lines = []
    for truth, group in groups.items():
        pairs = [int(row["pairs"]) for row in group]
        experiments = sum(int(row["experiments"]) for row in group)
        different = [float(row["faster"]) + float(row["slower"]) for row in group]
        equivalent = [float(row["equivalent"]) for row in group]
        covered = [float(row["covered"]) for row in group]
        lines.append([truth, str(len(group)), f"{min(pairs)} to {max(pairs)}", f"{experiments:,}", spread(different),
                      spread(equivalent), spread(covered)])
    return "\n".join(["## Known answers", ""] + table(titles, lines) + [""])


def known(folder):
    bars, measured = rows(folder, "known-answers-bars.tsv"), defaultdict(list)
    for row in bars:
        measured[row["what"]].append(row["measured"])
    said = "; ".join(f"{what} {' and '.join(of)}" for what, of in measured.items())
    missed = ", ".join(f"{row['experiment']}, {row['what']}" for row in bars if row["met"] != "yes")
    return f"Real sweeps, of a search and of clients: {said}. Targets missed: {missed or 'none'}.\n"


def table(titles, lines):
    """Markdown; what all rows share is said once, below."""
    shared = [column for column in range(len(titles)) if column and len({line[column] for line in lines}) == 1]
    shared = shared if len(lines) > 1 else []
    shown = [column for column in range(len(titles)) if column not in shared]
    out = ["| " + " | ".join(titles[column] for column in shown) + " |", "|" + "---|" * len(shown)]
    out += ["| " + " | ".join(line[column] for column in shown) + " |" for line in lines]
    if shared and lines:
        out += ["", "In every row above: " + ", ".join(f"{titles[column]} {lines[0][column]}" for column in shared) + "."]
    return out


def spread(shares):
    middle = sorted(shares)[len(shares) // 2]
    return f"{100 * middle:.1f} % ({100 * min(shares):.1f} to {100 * max(shares):.1f})"


def fuzz(folder):
    all_rows = rows(folder, "fuzz.tsv")
    readers = ", ".join(f"{row['target']} {int(row['inputs']):,}" for row in all_rows)
    broken = ", ".join(f"{row['target']} at {row['broken']}" for row in all_rows if row["broken"] != "-")
    seconds = sorted({int(row["seconds"]) for row in all_rows})
    lasted = f"{seconds[0]} to {seconds[-1]}" if len(seconds) > 1 else str(seconds[0])
    return "\n".join(["## Broken input", "", f"Inputs that each reader got in {lasted} s: {readers}. "
                      f"Broke: {broken or 'none'}.", ""])


def orders(folder):
    all_rows = rows(folder, "loom.tsv")
    holds = [row for row in all_rows if row["planted"] == "-"]
    planted = [row for row in all_rows if row["planted"] != "-"]
    # A model without an answer has no number of them.
    tried = sorted(int(row["orders"]) for row in holds if row["orders"] != "-")
    between = f"{tried[0]} to {tried[-1]} orders each" if tried else "no order"
    broken = [row["model"] for row in holds if row["found"] != "-"]
    found = sum(row["found"] not in ("-", "no answer") for row in planted)
    return "\n".join(["## Threads", "", f"{len(holds)} models of the scheduler's atomics in {between}. "
                      f"Broke: {', '.join(broken) or 'none'}. Of {len(planted)} planted errors {found} were found.", ""])


def undefined(folder):
    counts, reasons = defaultdict(lambda: defaultdict(int)), defaultdict(set)
    results = ["passes", "undefined", "fails", "too long", "cannot"]
    for row in rows(folder, "miri.tsv"):
        counts[row["crate"]][row["result"]] += row["test"] != "-"
        if row["test"] == "-":
            reasons[row["crate"]].add(row["reason"])
    lines = [[crate] + [str(counts[crate][result]) for result in results] for crate in counts if crate not in reasons]
    out = ["## Undefined behaviour", "", "Tests under Miri:", ""] + table(["crate"] + results, lines)
    out += [""] + [f"Not `{crate}`: {'; '.join(sorted(why))}." for crate, why in reasons.items()]
    return "\n".join(out + [""])


def mutants(folder):
    titles = ["area", "mutants", "caught", "missed", "measured", "target", "met"]
    all_rows = rows(folder, "mutants.tsv")
    for row in all_rows:
        if row["untested"] != "0":
            row["measured"] += f" ({row['from']}-{row['to']})"
            row["mutants"] = f"{int(row['mutants']) - int(row['untested'])}/{row['mutants']}"
    lines = [[row[title] for title in titles] for row in all_rows]
    return "\n".join(["## Planted errors", ""] + table(titles, lines) + [""])


def builds(folder):
    files = rows(folder, "two-builds.tsv")
    return (f"Two clean Bazel builds of all variants: {len(files)} files, "
            f"{sum(row['equal'] != 'yes' for row in files)} differ.\n")


HEAD = """# trust

**Does the lab keep what it measured, and is its judge right as often as it says?**
"""

FACTS = """Made 2026-11-22 to 27 on an AMD EPYC with 2 CPUs, beside other work; each TSV names its commit. [How](details/how.md).
"""

HOW = """# How the lab's own errors were counted

[Report](../report.md)
"""

ATTACKS = """`tools/proof attacks` runs the tests in which something is tried against the lab: hostile names, pages and links in a record,
records changed by hand, programs replaced amid a run, lies of variants and servers. Each test names its attacks, and all of them are tests
of every day. An attack is held off where its test has passed."""

KILLS = """`tools/proof kills` kills `lab run experiments/threads.toml --quick` by SIGKILL and resumes it. Every earlier line of
`runs.jsonl` must be unchanged, no run stand twice, all samples be there under their hash, no process be left; at the end every planned
run is there once. At a sync strace kills on entry of the system call.

`tools/proof power-cut` replays a sweep's system calls and makes, after each, the state of a disk that has lost all that was never synced.

`tools/proof coming-back` kills a back end with all its processes; a kill costs both runs' time, less that of a run without it."""

SELFTEST = """`proof judge reports/...` draws experiments from the noise of recorded runs: pairs with replacement, each turned by a coin, the
candidate moved by a known shift. The reports' judge decides at 5 %, without Holm's adjustment. A cell is the median over records and
candidates, with the extremes. "Margin" shifts by exactly the declared margin. "One run in ten slow" makes a tenth of the candidate's runs half
as slow again, so *equivalent* would be wrong; it needs 72 pairs, which no record has. The functions give the answers of SciPy 1.14.1
and R 4.2.2 on 16 samples (`lab/stats/tests/golden.rs`)."""

KNOWN = """`tools/proof known-answers` repeats two real sweeps: `known-search` plants a search that takes exactly 2 % longer, twice its margin;
`known-tokens` a client that spends 5 µs more on each line of a stream. *Slower* must be found, and the reference's twin not be called
different; an interval holds the truth as often as it says, less two standard errors."""

FUZZ = """`proof fuzz` cuts, doubles, flips and mixes good input by numbered draws, which can be repeated. Besides panics it looks for
contradictions: replies give the same tokens however they are cut, and what was read survives writing and reading. `tools/proof fuzz`
gives the same readers what libFuzzer makes to reach new branches."""

ORDERS = """`tools/proof loom` compiles the files of `schedulers/adaptive` with loom's atomics. Each model has two threads and tries every order that
loom's reduction tells apart, with every value that a load may see. `Scheduler` itself has too many orders."""

UNDEFINED = """`tools/proof miri` runs each test of a crate with `unsafe` by itself, with vector registers, for at most the time that its table names."""

MUTANTS = """`tools/proof mutants` has cargo-mutants change the code and run the package's tests; a change that they do not find is missed;
the rest does not compile. Survivors got tests where one could tell them, and were tried again."""

main()
