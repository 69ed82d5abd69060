#!/usr/bin/env bash
# `bazel run //lab:workflow`: the comparison of workflow back ends, from the programs that Bazel
# built. As tr115_matrix.sh, it starts in the runfiles, and results go to the real repository.
set -euo pipefail

root=$PWD
exec "$root/lab/cli/lab" --root "$root" run experiments/workflow.toml "$@"
