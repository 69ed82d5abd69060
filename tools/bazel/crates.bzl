"""The crates of Cargo.lock, as the repository `@crates` with one alias for each direct dependency."""

load("//third_party/crates:crates.bzl", "crate_repositories")

def _crates_impl(_ctx):
    crate_repositories()

crates = module_extension(
    implementation = _crates_impl,
    doc = "Declares every crate of the lock; `@crates//:NAME` are the ones our manifests name.",
)
