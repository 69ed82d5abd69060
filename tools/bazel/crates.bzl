"""The crates of Cargo.lock, as the repository `@crates` with one alias for each direct dependency, and
those of variants' own locks, as `@own_locks`."""

load("//third_party/crates:crates.bzl", "crate_repositories")
load("//tools/bazel:own_locks.bzl", "own_locks")

def _crates_impl(_ctx):
    crate_repositories()
    own_locks(name = "own_locks")

crates = module_extension(
    implementation = _crates_impl,
    doc = "Declares every crate of the locks; `@crates//:NAME` are the ones our manifests name.",
)
