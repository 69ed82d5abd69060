#!/usr/bin/env bash
# Draws every picture of reports/ anew under the longest names that there are, and prints the labels
# that cover each other or leave the picture: labels.js says how that is seen. By hand: it needs
# gnuplot and lab (target/release/lab, or LAB) beside what tools/proof browse needs, and takes a minute.
set -euo pipefail

HERE=$(dirname "$(readlink -f "$0")")
readonly HERE
if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  echo "usage: tools/proof labels [--shots DIR]   look at the labels of every picture of reports/"
  exit 0
fi
if ! command -v gnuplot >/dev/null; then
  echo "gnuplot is not installed" >&2
  exit 69
fi
exec bash "$HERE/browse.sh" --labels "$HERE/../.." "$@"
