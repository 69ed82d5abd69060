# shellcheck shell=bash
# tasker, which is built here, and its worker in Python: the peer `tasker` of the workflow comparison.
# Takes 20 minutes and 2 GB, once.
title=tasker version=0.1.8 variable=LAB_TASKER
place=$CACHE/tasker-$version
value=$place

up() {
  needs cargo
  mkdir -p "$place/extension" "$place/migrations"
  # rustup looks for the compiler's version from here.
  cd "$folder/host"
  build
  take_sql
  take_python
  told
}

is_there() {
  [[ -x $place/tasker-host && -x $place/python/bin/python ]]
}

# A crate has the protobuf compiler that a build script of tasker wants.
build() {
  local machine compiler
  machine=$(uname -m)
  compiler=$(crate "protoc-bin-vendored-linux-${machine/aarch64/aarch_64} ")
  PROTOC=$compiler/bin/protoc PROTOC_INCLUDE=$compiler/include \
    cargo build --quiet --release --locked --target-dir "$place/target"
  cp "$place/target/release/tasker-host" "$place/tasker-host.new"
  mv "$place/tasker-host.new" "$place/tasker-host"
}

# tasker's own worker in Python, with what it needs, by version and hash.
take_python() {
  if ! "$place/python/bin/python" -c 'import tasker_core' >/dev/null 2>&1; then
    python3 -m venv --clear "$place/python"
    "$place/python/bin/pip" install --quiet --no-deps --require-hashes -r "$folder/requirements.txt"
  fi
}

# PostgreSQL takes an extension from any folder that has a folder of this name.
take_sql() {
  local embedded version
  embedded=$(crate "pgmq 0.34")/src/install/embedded
  version=$(sed -n "s/^default_version *= *'\(.*\)'/\1/p" "$embedded/pgmq.control")
  cp "$embedded/pgmq.control" "$place/extension/"
  cp "$embedded/sql/pgmq.sql" "$place/extension/pgmq--$version.sql"
  cp "$(crate "tasker-shared ")"/migrations/*.sql "$place/migrations/"
}

# The folder that Cargo has put a crate into, by its name and the beginning of its version.
crate() {
  cargo metadata --locked --format-version 1 | python3 -c '
import json, os, sys
for each in json.load(sys.stdin)["packages"]:
    if (each["name"] + " " + each["version"]).startswith(sys.argv[1]):
        print(os.path.dirname(each["manifest_path"]))' "$1"
}
