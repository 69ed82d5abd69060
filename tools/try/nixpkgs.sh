#!/usr/bin/env bash
# usage: tools/proof nixpkgs TREE      (./enter --peers brings Nix along)
# Evaluates every output of flake.nix for both systems with a checkout of nixpkgs, and builds nothing:
# a package that it no longer has, or a version that docs/ENVIRONMENTS.md does not promise, is an
# error. Prints the derivations as JSON.
set -euo pipefail

[[ -d ${1:-}/lib ]] || { echo "usage: tools/proof nixpkgs TREE, a checkout of nixpkgs" >&2; exit 64; }
tree=$(cd "$1" && pwd -P)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# No daemon and no store of the machine's are touched.
NIX_STATE_DIR=$scratch/state NIX_STORE_DIR=$scratch/store NIX_LOG_DIR=$scratch/log \
  nix-instantiate --eval --strict --readonly-mode --json --arg nixpkgs "$tree" nix/real.nix
