#!/usr/bin/env bash
# A target of sweep.bzl: a command of the lab, its first argument, on the experiment that the second
# one names, with the programs that Bazel built. Bazel starts this in the runfiles, which are laid out as the repository
# is: experiments/, plots/, and FAMILY/FOLDER/ with each variant's program beside its variant.toml.
# Results go to the folder that BUILD_WORKSPACE_DIRECTORY names, which Bazel sets to the real
# repository.
set -euo pipefail

root=$PWD
# `lab` follows the links of a record that Bazel laid out here, and no others.
export RUNFILES_DIR=${RUNFILES_DIR:-${root%/*}}
exec "$root/lab/cli/lab" --root "$root" "$@"
