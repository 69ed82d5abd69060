#!/usr/bin/env bash
# `bazel run //lab:audit`: the audit of the published claims, from the files that Bazel laid out as
# the repository is: claims/ and reports/. With a file, that file is audited instead; files are
# meant from where `bazel run` was typed, which Bazel names in BUILD_WORKING_DIRECTORY.
set -euo pipefail

root=$PWD
# Every file of reports/ is a link here; in a record `lab` follows only those that Bazel made.
export RUNFILES_DIR=${RUNFILES_DIR:-${root%/*}}
cd "${BUILD_WORKING_DIRECTORY:-$PWD}"
case "${1:--}" in
  # Of claims: none, options alone, or a claim file.
  -* | *.toml) exec "$root/lab/claims/claims_program" --root "$root" "$@" ;;
  *) exec "$root/lab/cli/lab" --root "$root" audit "$@" ;;
esac
