#!/usr/bin/env bash
# Opens every page of `lab site` in Chromium and prints what is wrong: browse.js says what is looked
# at. By hand: it needs node, npm and chromium, and takes minutes.
set -euo pipefail

HERE=$(dirname "$(readlink -f "$0")")
readonly HERE
# By version in package.json, by hash in package-lock.json.
readonly FOLDER=${XDG_CACHE_HOME:-$HOME/.cache}/lab/browse-$(sha256sum <"$HERE/package-lock.json" | cut -c-12)
readonly LIMIT_S=1500

if [[ $# == 0 || $1 == --help || $1 == -h ]]; then
  echo "usage: tools/proof browse FOLDER [--shots DIR]   look at every page that lab site wrote to FOLDER"
  echo "       tools/proof browse --served URL           look at pages of a running lab serve, of each kind a few"
  if [[ $# == 0 ]]; then exit 2; fi
  exit 0
fi
for program in node npm; do
  if ! command -v "$program" >/dev/null; then
    echo "$program is not installed" >&2
    exit 69
  fi
done
CHROMIUM=${CHROMIUM:-$(command -v chromium chromium-browser google-chrome | head -1 || true)}
if [[ -z $CHROMIUM ]]; then
  echo "chromium is not installed; CHROMIUM=PATH names another browser of its kind" >&2
  exit 69
fi
if [[ ! -f $FOLDER/done ]]; then
  mkdir -p "$FOLDER"
  cp "$HERE/package.json" "$HERE/package-lock.json" "$FOLDER/"
  npm ci --prefix "$FOLDER" --silent --no-fund --no-audit --ignore-scripts >&2
  touch "$FOLDER/done"
fi
export CHROMIUM NODE_PATH=$FOLDER/node_modules
SCRIPT=browse.js
if [[ $1 == --labels ]]; then
  SCRIPT=labels.js
  shift
elif [[ $1 == --served ]]; then
  SCRIPT=served.js
  shift
fi
exec timeout --kill-after 10 "$LIMIT_S" node "$HERE/$SCRIPT" "$@"
