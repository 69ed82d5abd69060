"""Adding to the lab from a clean clone: variants, a family, another version of a crate."""

import json
import re

from place import LAB, RUN, cloned, last, run, told

# Of each family: who is copied, and an experiment that runs it quickly.
FAMILIES = {
    "runtimes": ("floor", "tr112"),
    "engines": ("sequential", "search"),
    "ledgers": ("sync", "threads"),
    "schedulers": ("always_inline", "offload-wake"),
    "workflows": ("memory", "workflow"),
}
# Beside the copy in Rust; of these a machine may lack what builds or reads them.
OTHERS = {"gopher": "go", "noddy": "node", "plain": "c"}


def new_variants():
    """In every family one in Rust and one in Python: made, built, verified, run and reported."""
    return in_every_family({"snake": "python"})


def new_languages():
    """The same with Go, Node.js and C, where a family offers it."""
    return in_every_family(OTHERS)


def in_every_family(languages):
    with cloned() as checkout:
        wrong = [made for family in FAMILIES if (made := make(checkout, family, languages))]
        if wrong:
            return "; ".join(wrong), False
        outcomes = [sweep(checkout, family, languages) for family in FAMILIES]
        good = sum(outcome is None for outcome in outcomes)
        told_of = "; ".join(outcome for outcome in outcomes if outcome)
        return f"{good} of {len(FAMILIES)} families {told_of}".strip(), good == len(FAMILIES)


def make(checkout, family, languages):
    """A copy, and a variant in each language that the family offers; what went wrong, or nothing."""
    new = {"mine": ["--like", FAMILIES[family][0]]}
    offered = {path.name.removesuffix(".like") for path in (checkout / family / "languages").iterdir()}
    for name, language in languages.items():
        if language in offered:
            new[name] = ["--language", language]
    for name, how in new.items():
        ended = run([*LAB, "new", "variant", f"{family}/{name}", *how], checkout)
        if ended.status:
            return f"{family}/{name}: {told(ended)}"
        manifest = checkout / family / name / "variant.toml"
        # One that is copied takes part where its original does.
        tag = FAMILIES[family][1]
        if f'"{tag}"' not in manifest.read_text():
            manifest.write_text(manifest.read_text().replace("tags = [", f'tags = ["{tag}", '))
    return None


def sweep(checkout, family, languages):
    """Verifies, runs and reports; what went wrong, or nothing."""
    out = checkout / "results" / family
    experiment = f"experiments/{FAMILIES[family][1]}.toml"
    ended = run([*RUN, experiment, "--quick", "--no-startup", "--out", out], checkout)
    if not (out / "runs.jsonl").exists():
        return f"{family}: {told(ended)}"
    rows = [json.loads(line) for line in (out / "runs.jsonl").read_text().splitlines()]
    pages = "".join(page.read_text() for page in out.rglob("*.md"))
    # A copy can do what its original can: some of an experiment's cells are beyond both.
    mine, original = (
        {(json.dumps(row["cell"], sort_keys=True), row["status"])
         for row in rows if row["variant"] == name}
        for name in ("mine", FAMILIES[family][0]))
    done = sum(status == "ok" for _, status in mine)
    if not done or not mine <= original:
        return f"{family}/mine: {done} of {len(mine)} cells ok, unlike its original"
    for name in languages:
        if not (checkout / family / name).exists():
            continue
        own = [row for row in rows if row["variant"] == name]
        failed = [row for row in own if row["status"] == "failed"]
        # What a machine lacks, it lacks in every cell.
        ok, why = [row for row in own if row["status"] == "ok"], str([row.get("reason") for row in own])
        if failed or not (ok or "there is no" in why or "not installed" in why):
            return f"{family}/{name}: {(failed or own or ['no run'])[0]}"
        if ok and name not in pages:
            return f"{family}/{name}: no page of the report has it"
    return None


def new_family():
    """Made, built, verified, run and judged."""
    with cloned() as checkout:
        made = run([*LAB, "new", "family", "sums"], checkout)
        if made.status:
            return told(made), False
        out = checkout / "results" / "sums"
        ended = run([*RUN, "experiments/sums.toml", "--out", out], checkout)
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
        out = checkout / "results/older"
        ended = run([*RUN, "experiments/older.toml", "--no-startup", "--out", out], checkout)
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
    "new languages": ("5 of 5 families, Go, Node.js and C", 25, new_languages),
}
