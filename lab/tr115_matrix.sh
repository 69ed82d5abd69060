#!/usr/bin/env bash
# `bazel run //lab:tr115_matrix`: the TR115 matrix on the paced server, from the programs that Bazel
# built. Bazel starts this in the runfiles, which are laid out as the repository is: experiments/,
# plots/, and runtimes/FOLDER/ with each variant's program beside its variant.toml. Results go to
# the folder that BUILD_WORKSPACE_DIRECTORY names, which Bazel sets to the real repository.
set -euo pipefail

root=$PWD
exec "$root/lab/cli/lab" --root "$root" run experiments/tr115.toml "$@"
