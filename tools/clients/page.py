"""The page of reports/clients and its tables, from the runs that measure.py has stored."""

import csv
import io
import json
import math
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
READERS = ROOT / "lab/import/src/generators.tsv"
CONFIDENCE, FEWEST = 0.95, 6
OURS, PYTHON = "floor", ("aiperf", "guidellm", "inference-perf")
# Of a generator's times between tokens, the one that has most of them.
BETWEEN = ("gap", "chunk_gap", "mean_gap", "token_share")
# In the place of a number, behind its name.
STATISTICS = ("avg", "mean", "p50", "successful", "average")
DEFINITIONS = {
    "first_token": "from the request to the first token",
    "reply": "from the request to the end of the reply",
    "gap": "between two tokens, all replies pooled; 0 within a chunk",
    "chunk_gap": "between two chunks, all replies pooled",
    "mean_gap": "of a reply: first token to last, by their number less one",
    "token_share": "of a reply: request to end, by the number of tokens",
}
EXPECTED = ["id", "kind", "says", "published", "measured", "low", "high", "n", "at_least", "at_most",
            "detectable_log", "declared", "outcome", "why", "note"]


def read_runs(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def write(folder, loads, check):
    runs = [run for run in read_runs(folder / "runs.jsonl") if "error" not in run]
    failed = [run for run in read_runs(folder / "runs.jsonl") if "error" in run]
    curve = read_table(folder / "pacing.tsv")
    errors = Errors(runs, [row["client"] for row in read_table(folder / "clients.tsv")])
    costs = slopes(runs)
    bars = all_bars(errors, costs, curve)
    files = {
        "errors.tsv": tsv(errors.columns, errors.rows),
        "expectations.tsv": tsv(EXPECTED, bars),
        "report.md": report(folder, errors, runs, failed, curve, bars, costs),
        "details/errors.md": all_errors(errors),
        "details/definitions.md": definitions(errors),
        "details/load.md": detail("What was asked and what came", *table_of_arrivals(errors, loads)),
        "details/server.md": detail(
            "The server's pacing, from outside", "A program in Python reads its sockets with the kernel's receive "
            "stamps ([pacing.tsv](../pacing.tsv), `tools/proof clients pacing`). Tokens are late against the moment "
            "before their request was written.", "", *table_of_curve(curve)),
        "details/bars.md": detail("Bars", "[expectations.tsv](../expectations.tsv)", "", *table_of_bars(bars)),
        "details/commands.md": commands(folder, loads),
    }
    for name, text in files.items():
        path = folder / name
        if check:
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                sys.exit(f"{path} does not follow from its runs: tools/proof clients page {folder}")
            continue
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


class Errors:
    """Of each load, client and number: what the server saw, what the client said, how far it was off."""

    columns = ["load", "client", "quantity", "statistic", "server", "client_says", "off", "low", "high", "n"]

    def __init__(self, runs, order):
        runs = sorted(runs, key=lambda run: order.index(run["client"]))
        values = defaultdict(list)
        for run in runs:
            for each in run["quantities"]:
                key = run["load"], run["client"], each["quantity"], each["statistic"]
                values[key].append((each["server"], each["generator"]))
        self.values = dict(values)
        self.rows = [[*key, *self.summary(key)] for key in self.values]

    def summary(self, key):
        pairs = self.values[key]
        off = self.off(*key)
        said = [said for _, said in pairs if said is not None]
        server = f"{median(server for server, _ in pairs):.6g}"
        if not off:
            return [server, "-", "-", "-", "-", len(pairs)]
        low, high = interval(off)
        return [server, f"{median(said):.6g}", f"{median(off):.6g}", f"{low:.6g}", f"{high:.6g}", len(off)]

    def off(self, *key):
        return [said - server for server, said in self.values.get(key, []) if said is not None]

    def has(self, *key):
        return bool(self.off(*key))

    def server(self, *key):
        return median(server for server, _ in self.values[key])

    def clients(self, load):
        return list(dict.fromkeys(client for its, client, *_ in self.values if its == load))


def interval(values):
    """Of the median, by ranks, as lab/stats has it: the narrowest that holds it with 95 %; from six values on."""
    ordered, n = sorted(values), len(values)
    below = lambda rank: sum(math.comb(n, k) for k in range(rank)) / 2**n
    ranks = [rank for rank in range(1, n // 2 + 1) if 1 - 2 * below(rank) >= CONFIDENCE]
    if n < FEWEST or not ranks:
        return math.nan, math.nan
    return ordered[ranks[-1] - 1], ordered[n - ranks[-1]]


def slopes(runs):
    """Microseconds of CPU time a token, without what starting costs: by client and round."""
    taken = {(run["client"], run["round"], run["load"]): run for run in runs}
    costs = defaultdict(dict)
    for (client, number, load), long in taken.items():
        short = taken.get((client, number, "crowd-short"))
        if load == "crowd" and short and long["tokens"] > short["tokens"]:
            cpu = long["generator_cpu_ns"] - short["generator_cpu_ns"]
            costs[client][number] = cpu / (long["tokens"] - short["tokens"]) / 1e3
    return costs


def all_bars(errors, costs, curve):
    bars = []
    for load, most, words in (("pair", 0.2, "2 streams of 100 tokens/s"), ("crowd", 1, "1,000 streams of 10 tokens/s")):
        for quantity, name in (("first_token", "time to first token"), ("gap", "time between tokens")):
            off = [abs(each) / 1e6 for each in errors.off(load, OURS, quantity, "p99")]
            says = f"Our client is off by at most {most} ms in the P99 of the {name}, {words}"
            bars.append(bar(f"{load}_{quantity}", says, off, at_most=most))
    python = {client: median(costs[client].values()) for client in PYTHON if costs.get(client)}
    rivals = [(min(python, key=python.get), 20)] if python else []
    for rival, least in [*rivals, *([("oha", 1.5)] if "oha" in costs else [])]:
        shared = sorted(costs[OURS].keys() & costs[rival].keys())
        ratios = [costs[rival][each] / costs[OURS][each] for each in shared]
        kind = "the cheapest generator in Python" if rival in PYTHON else rival
        bars.append(bar(f"cheaper_{rival}", f"A token costs {kind} at least {least} times our client's CPU time, "
                        "1,000 streams of 10 tokens/s", ratios, at_least=least))
    slow = [float(row["p99_us"]) for row in curve if int(row["streams"]) * int(row["rate"]) == 200]
    bars.append(bar("pacing_pair", "Seen from outside, 99 of 100 tokens of the paced server come within 200 µs of "
                    "their due time, 2 streams of 100 tokens/s", slow, at_most=200))
    points = defaultdict(list)
    for row in curve:
        if int(row["streams"]) * int(row["rate"]) <= 50_000:
            points[row["streams"], row["rate"]].append(float(row["p99_us"]) / 1e3)
    bars.append(bar("pacing_50000", "Seen from outside, 99 of 100 tokens of the paced server come within 1 ms of their "
                    "due time at every load up to 50,000 tokens/s", max(points.values(), key=median), at_most=1))
    return bars


def bar(name, says, values, at_least=math.nan, at_most=math.nan):
    low, high = interval(values) if values else (math.nan, math.nan)
    if math.isnan(low):
        outcome, why = "cannot tell", f"{len(values)} runs give no interval"
    elif not (low < at_least or high > at_most):
        outcome, why = "holds", ""
    elif high < at_least or low > at_most:
        outcome, why = "fails", ""
    else:
        outcome, why = "cannot tell", "the interval reaches over the bar"
    measured = median(values) if values else math.nan
    return [name, "bar", says, "", f"{measured:.6g}", f"{low:.6g}", f"{high:.6g}", len(values), f"{at_least:g}",
            f"{at_most:g}", "nan", "before", outcome, why, ""]


def report(folder, errors, runs, failed, curve, bars, costs):
    rounds = max(run["round"] for run in runs)
    met = sum(row[EXPECTED.index("outcome")] == "holds" for row in bars)
    names = sorted({f"{run['client']} in {run['load']}" for run in failed})
    broke = [f"* {len(failed)} runs failed: {', '.join(names)}; [runs.jsonl](runs.jsonl) says how."] if failed else []
    return "\n".join([
        "# How wrong are load generators?", "", answer(errors, costs), "",
        f"Each asked `lab sim`, whose tokens carry the server's stamps, on the same CPUs ({machine(folder)}). What it "
        f"reports less what the stamps say, in ms: medians over up to {rounds} runs in random order, from six on with "
        "95 % intervals. `pair`: 2 streams of 100 tokens/s; `crowd`: 1,000 of 10. Between tokens is what each has of "
        "[six definitions](details/definitions.md). CPU time is in µs a token, between runs of one and of two "
        "replies a stream, so that starting does not count; wrk, oha and k6 read no token.", "",
        *first_table(errors, costs), "", "## More", "",
        "* [Each load, with more of what they report](details/errors.md); all numbers: [errors.tsv](errors.tsv)",
        "* [Streams and rates that were asked and came, tokens counted in chunks](details/load.md)",
        "* [The server's own pacing, seen from outside](details/server.md)",
        f"* [Bars](details/bars.md): {met} of {len(bars)} are met",
        "* [Versions and command lines](details/commands.md), and what is not here",
        "* Every run: [runs.jsonl](runs.jsonl), made by `tools/proof clients run`; `tools/proof clients page "
        "reports/clients` writes these pages.", *broke, ""])


def machine(folder):
    return next(row["version"] for row in read_table(folder / "clients.tsv") if row["client"] == "machine")


def first_table(errors, costs):
    rows = []
    for client in errors.clients("crowd"):
        cells = [ms(errors, load, client, quantity, "p99") if quantity else "-" for load in ("pair", "crowd")
                 for quantity in ("first_token", between(errors, load, client))]
        rows.append([client, *cells, cpu(costs, client)])
    return markdown(["client", "pair: first token, P99", "between tokens, P99", "crowd: first token, P99",
                     "between tokens, P99", "CPU"], rows)


def between(errors, load, client):
    return next((name for name in BETWEEN if errors.has(load, client, name, "p99")), None)


def cpu(costs, client):
    each = list(costs.get(client, {}).values())
    return f"{median(each):.1f}{within(*interval(each), '.1f')}" if each else "-"


def detail(title, *parts):
    return "\n".join([f"# {title}", "", "[Report](../report.md)", "", *parts, ""])


def all_errors(errors):
    return detail("How far each generator is off", "Off by, in ms; \"at once\" is what the server saw. Percentiles of "
                  "few replies are their longest.", "",
                  "## Two streams of 100 tokens/s", "", *table_of_errors(errors, "pair"), "",
                  "## 1,000 streams of 10 tokens/s", "", *table_of_errors(errors, "crowd"))


def answer(errors, costs):
    said = []
    for load, words in (("pair", "2 streams of 100 tokens/s"), ("crowd", "1,000 streams of 10 tokens/s")):
        off = {client: median(errors.off(load, client, "first_token", "p99")) / 1e6
               for client in errors.clients(load) if errors.has(load, client, "first_token", "p99")}
        others = {client: value for client, value in off.items() if client not in (OURS, "tokio_sockets")}
        worst = max(others, key=lambda client: abs(others[client]))
        least = min(others, key=lambda client: abs(others[client]))
        said.append(f"At {words} generators are off by {others[least]:+.2f} ms ({least}) to {others[worst]:+.2f} ms "
                    f"({worst}) in the P99 of the time to first token; our client is by {off[OURS]:+.2f} ms.")
    cost = {client: median(each.values()) for client, each in costs.items() if each}
    said.append("A token costs " + ", ".join(f"{client} {value:.1f}" for client, value in
                                            sorted(cost.items(), key=lambda pair: pair[1])) + " µs of CPU time.")
    return " ".join(said)


def table_of_errors(errors, load):
    rows = []
    for client in errors.clients(load):
        name = between(errors, load, client)
        rate = errors.off(load, client, "tokens_per_s", "")
        server_rate = errors.server(load, client, "tokens_per_s", "")
        rows.append([client, ms(errors, load, client, "first_token", "p50"),
                     ms(errors, load, client, "first_token", "p99"),
                     f"{ms(errors, load, client, name, 'p99')} `{name}`" if name else "-",
                     ms(errors, load, client, "reply", "p50"), ms(errors, load, client, "reply", "p99"),
                     f"{100 * median(rate) / server_rate:+.1f} %" if rate else "-",
                     f"{errors.server(load, client, 'at_once_mean', ''):.1f}"])
    return markdown(["client", "first token, P50", "P99", "between tokens, P99", "reply, P50", "P99", "tokens/s",
                     "at once, mean"], rows)


def ms(errors, *key):
    off = [each / 1e6 for each in errors.off(*key)]
    if not off:
        return "-"
    return f"{median(off):+.2f}{within(*interval(off), '+.2f')}"


def within(low, high, form):
    return "" if math.isnan(low) else f" ({low:{form}}…{high:{form}})"


def table_of_arrivals(errors, loads):
    rows = []
    for client in errors.clients("pair"):
        load = "crowd" if client in errors.clients("crowd") else "pair"
        arrivals = "-"
        if client in errors.clients("arrivals"):
            arrivals = f"{errors.server('arrivals', client, 'arrivals_per_s', ''):.2f}"
        tokens = median(errors.off("chunks", client, "tokens", "") or [math.nan])
        sent = errors.server("chunks", client, "tokens", "") if client in errors.clients("chunks") else math.nan
        counted = "-" if math.isnan(tokens) else f"{sent + tokens:.0f} of {sent:.0f}"
        rows.append([client, str(loads[load]["streams"]), f"{errors.server(load, client, 'at_once_most', ''):.0f}",
                     arrivals, counted])
    asked = loads["arrivals"]["per_s"]
    return markdown(["client", "at once, asked", "at most", f"requests/s, {asked} asked",
                     f"tokens counted, {loads['chunks']['chunk']} a chunk"], rows)


def table_of_curve(curve):
    points = defaultdict(list)
    for row in curve:
        points[int(row["streams"]), int(row["rate"])].append(row)
    rows = []
    for (streams, rate), its in sorted(points.items(), key=lambda point: point[0][0] * point[0][1]):
        p99 = [float(row["p99_us"]) for row in its]
        whole = sum(int(row["tokens"]) for row in its) / sum(int(row["asked"]) for row in its)
        p50 = median(float(row["p50_us"]) for row in its)
        late = f"{median(p99):.0f}{within(*interval(p99), '.0f')}"
        rows.append([f"{streams:,} × {rate}", f"{streams * rate:,}", f"{p50:.0f}", late,
                     f"{median(float(row['max_us']) for row in its):.0f}", f"{100 * whole:.1f} %"])
    return markdown(["streams × tokens/s", "tokens/s", "late, P50 (µs)", "P99", "most", "tokens that came"], rows)


def table_of_bars(bars):
    word = {"holds": "met", "fails": "missed"}
    rows = []
    for row in bars:
        its = dict(zip(EXPECTED, row, strict=True))
        target = f"at most {its['at_most']}" if its["at_least"] == "nan" else f"at least {its['at_least']}"
        spread = within(float(its["low"]), float(its["high"]), ".3g")
        met = word.get(its["outcome"], its["outcome"])
        rows.append([its["says"], f"{float(its['measured']):.3g}{spread}", target, met])
    return markdown(["bar", "measured", "target", "met"], rows)


def definitions(errors):
    """What each generator's words mean, and what each definition makes of one load in chunks."""
    names = defaultdict(list)
    for row in read_table(READERS):
        own = next(way for way in (row["mean"], row["p50"], row["p99"]) if way != "-")
        parts = [part for part in own.split("/") if part not in STATISTICS]
        names[row["quantity"]].append(f"{row['tool']} `{parts[-1]}`")
    rows = []
    for quantity, words in DEFINITIONS.items():
        cells = [f"{errors.server(load, OURS, quantity, statistic) / 1e6:.3f}"
                 for load in ("pair", "chunks") for statistic in ("mean", "p99")]
        rows.append([f"`{quantity}`", words, ", ".join(names[quantity]) or "-", *cells])
    said = []
    for client in errors.clients("chunks"):
        for quantity in BETWEEN:
            if errors.has("chunks", client, quantity, "mean"):
                server = errors.server("chunks", client, quantity, "mean") / 1e6
                off = median(errors.off("chunks", client, quantity, "mean")) / 1e6
                said.append([client, f"`{quantity}`", f"{server:.3f}", f"{server + off:.3f}", f"{off:+.3f}"])
    return detail(
        "What each calls the time between tokens",
        "Six times of the same replies, by the server's stamps, in ms: two streams of 100 tokens/s, one token a chunk "
        "and four. Where tokens leave together, a generator that takes chunks for tokens reports `chunk_gap`.", "",
        *markdown(["name", "definition", "reported as", "mean", "P99", "mean, 4 a chunk", "P99, 4 a chunk"], rows), "",
        "## What each says of four tokens a chunk", "", "Means, in ms; medians over the runs.", "",
        *markdown(["client", "definition", "by the stamps", "it says", "off by"], said))


def commands(folder, loads):
    rows = read_table(folder / "clients.tsv")
    parts = ["`tools/peer clients up` installs them, `tools/proof clients run` runs them by `lab sim calibrate`.", "",
             "Not here: vLLM's benchmark. `vllm bench serve` comes with all of vLLM and PyTorch for CUDA, for which "
             "the disk had no room; `lab sim calibrate` reads its JSON.", ""]
    for name, its in loads.items():
        parts.append(f"* `{name}`: " + ", ".join(f"{key} {value}" for key, value in its.items()))
    for row in rows:
        if row["command"]:
            parts += ["", f"## {row['client']} {row['version']}", "", "```", *row["command"].split("\\n"), "```"]
    return detail("Versions and command lines", *parts)


def markdown(head, rows):
    line = lambda cells: "| " + " | ".join(cells) + " |"
    return [line(head), "|" + "---|" * len(head), *map(line, rows)]


def tsv(columns, rows):
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t", quoting=csv.QUOTE_NONE, lineterminator="\n", quotechar=None)
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue()
