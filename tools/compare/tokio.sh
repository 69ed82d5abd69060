#!/usr/bin/env bash
# usage: tools/proof tokio [build | measure [SECONDS] | report]
#
# Compares versions and settings of Tokio on work that is little else than scheduling, each workload
# with `lab compare`, and writes reports/tokio-versions. Without a word all three, one after the other.
#
#   build     the programs, into the cache folder; needs Cargo and its registry, some minutes
#   measure   every workload: SECONDS (default 80) for each of eight, half for four that read a file
#   report    the pages from the rounds; measures nothing
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/lab/compare-tokio
readonly OUT=$PWD/reports/tokio-versions

# The last one is the one that the lab itself uses. 1.45.0 gave all timers one lock again; 1.51.0 let
# workers steal from the LIFO slot, and 1.52.2 took that back.
readonly VERSIONS=(1.44.2 1.45.0 1.50.0 1.51.0 1.52.1 1.52.2 1.54.1)
readonly NEWEST=${VERSIONS[-1]}
readonly SCHEDULING=(chain messages spawn beside handlers timers mutex crowd)
# KIBIBYTES TIMES
readonly READS=("64 2000" "1024 400" "16384 4")

main() {
  case ${1:-all} in
    build) build ;;
    measure) measure "${2:-80}" ;;
    report) report ;;
    all) build && measure 80 && report ;;
    --help | -h) usage ;;
    *) usage >&2 && exit 64 ;;
  esac
}

usage() {
  sed -n '2,9s/^# \?//p' "${BASH_SOURCE[0]}"
}

build() {
  cargo build --quiet --release -p lab-cli
  mkdir -p "$CACHE/bin"
  for version in "${VERSIONS[@]}"; do program "$version" ""; done
  # Its settings need `tokio_unstable`, which changes the runtime too: they are compared with this.
  program 1.52.1 -unstable
  program "$NEWEST" -unstable
  program "$NEWEST" -io-uring
  # Programs in one file would have rounds of their own.
  for version in 1.52.1 "$NEWEST"; do
    cp "$CACHE/bin/tokio-$version-unstable" "$CACHE/bin/tokio-$version-no-lifo"
  done
  cp "$CACHE/bin/tokio-$NEWEST-unstable" "$CACHE/bin/tokio-$NEWEST-alt-timer"
  for read in "${READS[@]}"; do
    head -c "${read% *}K" /dev/zero >"$CACHE/bin/${read% *}.bin"
  done
}

# VERSION KIND. All crates but Tokio are those of our lock.
program() {
  local folder=$CACHE/$1$2 features='"fs", "rt-multi-thread", "sync", "time"' cargo=(cargo)
  [[ -z $2 ]] || cargo+=(--config tools/cargo/tokio-unstable.toml)
  [[ $2 != -io-uring ]] || features+=', "io-uring"'
  mkdir -p "$folder/src"
  cp tools/compare/scheduling.rs "$folder/src/main.rs"
  cp Cargo.lock "$folder/Cargo.lock"
  cat >"$folder/Cargo.toml" <<MANIFEST
[package]
name = "scheduling"
edition = "2024"

[dependencies]
tokio = { version = "=$1", features = [$features] }

[lints.rust]
unexpected_cfgs = { level = "warn", check-cfg = ["cfg(tokio_unstable)"] }

[workspace]
MANIFEST
  cargo update --quiet --workspace --manifest-path "$folder/Cargo.toml"
  "${cargo[@]}" build --quiet --release --locked --manifest-path "$folder/Cargo.toml"
  cp "$folder/target/release/scheduling" "$CACHE/bin/tokio-$1$2"
}

measure() {
  mkdir -p "$OUT"
  printf '%s\t%s\n' commit "$(git rev-parse HEAD)" processors "$(nproc)" kernel "$(uname -r)" \
    machine "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)" \
    load "$(cut -d' ' -f1 /proc/loadavg)" >"$OUT/measured.tsv"
  for workload in "${SCHEDULING[@]}"; do
    local commands=()
    for version in "${VERSIONS[@]}"; do
      commands+=(-n "$version" "./tokio-$version $workload")
    done
    for version in 1.52.1 "$NEWEST"; do
      commands+=(-n "$version, unstable" "./tokio-$version-unstable $workload")
      commands+=(-n "$version, no LIFO slot" "./tokio-$version-no-lifo $workload no-lifo")
    done
    commands+=(-n "$NEWEST, alternative timer" "./tokio-$NEWEST-alt-timer $workload alt-timer")
    compare "$workload" "$1" "${commands[@]}"
  done
  for read in "${READS[@]}"; do
    reads "read-${read% *}k" "$(($1 / 2))" "$read"
  done
  reads read-64k-current-thread "$(($1 / 2))" "${READS[0]}" current-thread
}

# NAME SECONDS "KIBIBYTES TIMES" [SETTING]: a file in the page cache.
reads() {
  local work="read ${3% *}.bin ${3#* } ${4:-}"
  compare "$1" "$2" -n "$NEWEST, unstable" "./tokio-$NEWEST-unstable $work" \
    -n "$NEWEST, io_uring" "./tokio-$NEWEST-io-uring $work"
}

# NAME SECONDS, and commands for `lab compare`, which exits with 10 or 11 where something is slower or open.
compare() {
  local file=$OUT/$1.jsonl status=0
  rm -f "$file" "$file.zst"
  echo "$1" >&2
  # From the programs' folder, so that no path of this machine is in the record.
  (cd "$CACHE/bin" && "$OLDPWD/target/release/lab" compare --budget "$2" --precision 0.5 \
    --record "$file" "${@:3}") >&2 || status=$?
  ((status == 0 || status == 10 || status == 11)) || exit "$status"
  zstd --quiet -19 --rm "$file"
}

report() {
  tools/proof compare tokio "$OUT"
}

main "$@"
