#!/usr/bin/env python3
"""Runs all models of schedulers/adaptive's atomics, and holds planted errors against them.

  tools/proof loom > loom.tsv

Each model has to hold in every order that loom tries. Then each error of PLANTED is written into a
copy of the scheduler's files, and the model that it names has to break. Ends with 1 where a model
breaks, or an error is not found. Takes some minutes, most of them the compiler's.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CRATE, SOURCES = "tools/trust/loom", "schedulers/adaptive/src"
TARGET = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target/loom"))
LIMIT_S = 600

# The model that breaks, the error's name, the file, what stands there once, and what is put there.
PLANTED = [
    ("counts_on_the_shared_stripe_are_not_lost", "load, then store", "stripe.rs",
     "counter.fetch_add(1, Relaxed);",
     "counter.store(counter.load(Relaxed) + 1, Relaxed);"),
    ("counts_of_a_stripe_outlive_its_owner", "given back relaxed", "lease.rs",
     "leased.fetch_and(!(1 << slot), Release);",
     "leased.fetch_and(!(1 << slot), std::sync::atomic::Ordering::Relaxed);"),
    ("counts_of_a_stripe_outlive_its_owner", "taken relaxed", "lease.rs",
     "leased.fetch_update(AcqRel, Acquire, ",
     "leased.fetch_update(Release, std::sync::atomic::Ordering::Relaxed, "),
    ("a_sum_never_goes_back", "zero between two values", "stripe.rs",
     "counter.store(counter.load(Relaxed) + 1, Relaxed);",
     "let old = counter.swap(0, Relaxed); counter.store(old + 1, Relaxed);"),
    ("two_threads_never_own_one_stripe", "load, then store", "lease.rs",
     "let taken = leased.fetch_update(AcqRel, Acquire, |bits| {",
     "let then_store = |_, _, next: fn(u64) -> Option<u64>| {\n"
     "        let bits = leased.load(Acquire);\n"
     "        next(bits).map(|next| { leased.store(next, Release); bits })\n"
     "    };\n"
     "    let taken = then_store(AcqRel, Acquire, |bits| {"),
    ("a_stripe_that_is_given_back_is_free", "load, then store", "lease.rs",
     "leased.fetch_and(!(1 << slot), Release);",
     "leased.store(leased.load(Acquire) & !(1 << slot), Release);"),
    ("two_stripes_never_have_one_seed", "load, then store", "stripe.rs",
     "self.seeded.fetch_add(1, Relaxed) as u64;",
     "self.seeded.load(Relaxed) as u64; self.seeded.store(order as usize + 1, Relaxed);"),
    ("a_key_has_one_place", "who comes second does not look who was first", "table.rs",
     "key.compare_exchange(0, hash, Relaxed, Relaxed).err().unwrap_or(hash);",
     "key.compare_exchange(0, hash, Relaxed, Relaxed).map_or(0, |_| hash);"),
    ("two_keys_have_two_places", "load, then store", "table.rs",
     "key.compare_exchange(0, hash, Relaxed, Relaxed).err().unwrap_or(hash);",
     "{ key.store(hash, Relaxed); hash };"),
    ("a_probe_is_taken_once", "load, then store", "site.rs",
     "flags & probe != 0 && self.flags.fetch_and(!probe, Relaxed) & probe != 0",
     "self.flags.store(flags & !probe, Relaxed); flags & probe != 0"),
    ("a_flag_is_not_lost_beside_a_probe_that_is_taken", "load, then store", "site.rs",
     "self.flags.fetch_or(set, Relaxed);",
     "self.flags.store(self.flags.load(Relaxed) | set, Relaxed);"),
    ("a_strike_takes_back_the_probe_and_no_other_flag", "load, then store", "site.rs",
     "self.flags.fetch_and(!PROBE_INLINE, Relaxed);",
     "self.flags.store(self.flags.load(Relaxed) & !PROBE_INLINE, Relaxed);"),
    ("a_pardon_loses_no_other_flag", "load, then store", "site.rs",
     "self.flags.fetch_and(!STRUCK, Relaxed);",
     "self.flags.store(self.flags.load(Relaxed) & !STRUCK, Relaxed);"),
    ("thresholds_are_those_of_one_call", "in two halves", "site.rs",
     "self.thresholds.store(word, Relaxed);",
     "let half = 0xffff_ffff;\n"
     "            self.thresholds.store(self.thresholds.load(Relaxed) & !half | word & half, Relaxed);\n"
     "            self.thresholds.store(self.thresholds.load(Relaxed) & half | word & !half, Relaxed);"),
    ("estimates_are_values_that_were_stored", "in two steps", "site.rs",
     "put(&place[1], belief.variance);",
     "put(&place[1], belief.variance / 2.0); put(&place[1], belief.variance);"),
    ("calls_in_flight_come_back_to_zero", "load, then store", "pressure.rs",
     "self.in_flight.fetch_sub(1, Relaxed);",
     "self.in_flight.store(self.in_flight.load(Relaxed) - 1, Relaxed);"),
    ("a_recent_mean_lies_within_what_was_measured", "zero between two values", "pressure.rs",
     "place.store(moved, Relaxed);",
     "place.store(0, Relaxed); place.store(moved, Relaxed);"),
]


def main():
    program = build()
    models = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
    print("model", "planted", "orders", "found", sep="\t")
    wrong = sum(row(program, model, "-") != "-" for model in models)
    unplanted = set(models) - {model for model, *_ in PLANTED}
    for model in sorted(unplanted):
        print(f"no error is planted for {model}", file=sys.stderr)
    for model, error, *change in PLANTED:
        wrong += row(build(*change), model, error) in ("-", None)
    return int(wrong > 0 or bool(unplanted))


def row(program, model, error):
    """Runs a model, prints its row, and tells what it found: `-` for nothing."""
    try:
        run = subprocess.run([program, model], capture_output=True, text=True, timeout=LIMIT_S)
        orders, found = run.stdout.strip().split("\t")
    except (subprocess.TimeoutExpired, ValueError):
        orders, found = "-", None
    print(model, error, orders, found or "no answer", sep="\t", flush=True)
    return found


def build(*change):
    """The models' program, of the scheduler's files as they are or with one change."""
    with tempfile.TemporaryDirectory() as folder:
        for part in (CRATE, SOURCES):
            # With new times, always: by them Cargo tells one copy from another.
            shutil.copytree(ROOT / part, Path(folder) / part, copy_function=shutil.copyfile)
        if change:
            plant(Path(folder) / SOURCES, *change)
        command = ["cargo", "build", "--quiet", "--release", "--locked", "--target-dir", TARGET,
                   "--manifest-path", Path(folder) / CRATE / "Cargo.toml"]
        # From here, so that rustup finds the compiler's version.
        subprocess.run(command, cwd=ROOT, check=True)
    return Path(TARGET) / "release/adaptive-loom"


def plant(sources, file, old, new):
    text = (sources / file).read_text(encoding="utf-8")
    if text.count(old) != 1:
        sys.exit(f"{SOURCES}/{file} has {text.count(old)} places like `{old}`: PLANTED is out of date")
    (sources / file).write_text(text.replace(old, new), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
