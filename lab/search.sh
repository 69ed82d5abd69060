#!/usr/bin/env bash
# `bazel run //lab:search`: the search comparison, from the programs that Bazel built. As
# tr115_matrix.sh, it starts in the runfiles, and results go to the real repository. Corpora are made
# on the first run (1.2 GB in results/corpora) and kept.
set -euo pipefail

root=$PWD
exec "$root/lab/cli/lab" --root "$root" run experiments/search.toml "$@"
