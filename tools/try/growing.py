"""Adding to the lab from a clean clone: variants, a family, another version of a crate."""

import json
import re

from place import LAB, cloned, last, run, told

# Of each family: who is copied, and an experiment that runs it quickly.
FAMILIES = {
    "runtimes": ("floor", "tr112"),
    "engines": ("sequential", "search"),
    "ledgers": ("sync", "threads"),
    "schedulers": ("always_inline", "offload-wake"),
    "workflows": ("memory", "workflow"),
}
# The one in Python that does its family's work; of the others, `--language python` begins one.
PYTHON = ("runtimes", "python_asyncio")


def new_variants():
    """In every family one in Rust and one in Python: made, built, verified, and run."""
    with cloned() as checkout:
        wrong = [made for family in FAMILIES if (made := make(checkout, family))]
        if wrong:
            return "; ".join(wrong), False
        outcomes = [sweep(checkout, family) for family in FAMILIES]
        good = sum(outcome is None for outcome in outcomes)
        told_of = "; ".join(outcome for outcome in outcomes if outcome)
        return f"{good} of {len(FAMILIES)} families {told_of}".strip(), good == len(FAMILIES)


def make(checkout, family):
    """A variant in each language; what went wrong, or nothing."""
    like, experiment = FAMILIES[family]
    python = ["--like", PYTHON[1]] if family == PYTHON[0] else ["--language", "python"]
    for name, how in (("mine", ["--like", like]), ("snake", python)):
        ended = run([*LAB, "new", "variant", f"{family}/{name}", *how], checkout)
        if ended.status:
            return f"{family}/{name}: {told(ended)}"
    manifest = checkout / family / "snake" / "variant.toml"
    # An experiment's tag is its name.
    manifest.write_text(manifest.read_text().replace("tags = []", f'tags = ["{experiment}"]'))
    return None


def sweep(checkout, family):
    """Verifies and runs; what went wrong, or nothing."""
    out = checkout / "results" / family
    experiment = f"experiments/{FAMILIES[family][1]}.toml"
    command = ["./enter", "bazel", "run", "//lab:run", "--", experiment]
    ended = run([*command, "--quick", "--no-startup", "--out", out], checkout)
    if not (out / "runs.jsonl").exists():
        return f"{family}: {told(ended)}"
    rows = [json.loads(line) for line in (out / "runs.jsonl").read_text().splitlines()]
    # A copy can do what its original can: some of an experiment's cells are beyond both.
    mine, original = (
        {(json.dumps(row["cell"], sort_keys=True), row["status"])
         for row in rows if row["variant"] == name}
        for name in ("mine", FAMILIES[family][0]))
    done = sum(status == "ok" for _, status in mine)
    snake = [row for row in rows if row["variant"] == "snake"]
    if not done or not mine <= original:
        return f"{family}/mine: {done} of {len(mine)} cells ok, unlike its original"
    if family == PYTHON[0]:
        return None if {row["status"] for row in snake} == {"ok"} else f"{family}/snake: {snake[:1]}"
    unwritten = [row for row in snake if "not written yet" in (row.get("reason") or "")]
    return None if snake and unwritten == snake else f"{family}/snake: {snake[:1] or 'no run'}"


def new_family():
    """Made, built, verified, run and judged."""
    with cloned() as checkout:
        made = run([*LAB, "new", "family", "sums"], checkout)
        if made.status:
            return told(made), False
        out = checkout / "results" / "sums"
        sweep_of = ["bazel", "run", "//lab:run", "--", "experiments/sums.toml", "--out", out]
        ended = run(["./enter", *sweep_of], checkout)
        if ended.status:
            return told(ended), False
        page = (out / "report.md").read_text()
        answer = re.search(r"`halves`", page)
        return f"{told(ended)}: {first_bullet(page)}", bool(answer)


def first_bullet(page):
    return next((line for line in page.splitlines() if line.startswith("* ")), last(page))[:120]


# Of variants with a lock of their own: who is copied, and in which version of its crate. Their crates
# have build scripts and macros, of which Bazel has to know as Cargo does.
OLDER = {"rayon": "1.7.0", "smol": "1.3.0", "tokio": "1.50.0"}


def two_versions():
    """The same variants on two versions of their crate, side by side in one sweep, with Bazel; then
    one of them with Cargo."""
    with cloned() as checkout:
        for name, version in OLDER.items():
            new = ["new", "engine", f"{name}_older", "--like", name, "--version", version]
            ended = run([*LAB, *new], checkout)
            if ended.status:
                return f"{name}: {told(ended)}", False
        write_experiment(checkout)
        sweep_of = ["run", "//lab:run", "--", "experiments/older.toml", "--no-startup"]
        ended = run(["./enter", "bazel", *sweep_of, "--out", checkout / "results/older"], checkout)
        if ended.status:
            return told(ended), False
        record = json.loads((checkout / "results/older/run.json").read_text())
        versions = {entry["variant"]: entry["version"] for entry in record["variants"]}
        apart = all(
            versions.get(f"{name}_older") == version != versions.get(name)
            and is_linked(checkout, f"{name}_older", f"{name}-{version}")
            and not is_linked(checkout, f"{name}_older", f"{name}-{versions.get(name)}")
            for name, version in OLDER.items())
        ended = run(["./enter", "engines/tokio_older/build"], checkout)
        identity = run(["./enter", "engines/tokio_older/engines-tokio_older", "--describe"], checkout)
        by_cargo = not ended.status and f'"version":"{OLDER["tokio"]}"' in identity.said
        measured = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
        cargo = "with Cargo too" if by_cargo else f"not with Cargo: {told(ended)}"
        return f"{measured}; {cargo}", apart and by_cargo


def is_linked(checkout, variant, crate):
    """Whether Bazel's program has this crate in it: messages of panics name the sources. What a
    record says is only what variant.toml says."""
    program = checkout / f"bazel-bin/engines/{variant}/engines-{variant}"
    return f"/{crate}/".encode() in program.read_bytes()


def write_experiment(checkout):
    """One of the variants and those that they were made after."""
    text = (checkout / "experiments/versions.toml").read_text()
    text = text.replace('name = "versions"', 'name = "older"').replace("budget_s = 120", "budget_s = 5")
    names = ["sequential", *OLDER, *(f"{name}_older" for name in OLDER)]
    text = re.sub(r"(?m)^names = .*$", f"names = {json.dumps(names)}", text)
    (checkout / "experiments/older.toml").write_text(text)


TRIES = {
    "new family": ("made, built, run, judged", 15, new_family),
    "two versions": ("3 crates, both in one record", 25, two_versions),
    "new variants": ("5 of 5 families, Rust and Python", 25, new_variants),
}
