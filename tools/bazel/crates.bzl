"""The crates of Cargo.lock, as the repository `@crates` with one alias for each direct dependency, and
those of variants' own locks, as `@own_locks`."""

load("//tools/bazel:cargo_crate.bzl", "cargo_crate")
load(
    "//tools/bazel:cargo_lock.bzl",
    "aliases_text",
    "checksum",
    "crate_text",
    "full_name",
    "read_lock",
    "used",
)
load("//tools/bazel:own_locks.bzl", "own_locks")

def _repository(name):
    return "crates__" + name.replace("+", "-")

def _names_impl(ctx):
    ctx.file("BUILD.bazel", ctx.attr.text)

_names = repository_rule(
    implementation = _names_impl,
    doc = "The hub: a name for each crate that our manifests name.",
    attrs = {"text": attr.string(mandatory = True)},
)

def _crates_impl(ctx):
    manifest = ctx.path(Label("//:Cargo.toml"))
    label = lambda name, crate: "@%s//:%s" % (_repository(name), crate)
    world = read_lock(ctx, manifest, label)
    direct = []
    for package in world.packages.values():
        if package["source"]:
            if full_name(package) in world.features:
                cargo_crate(
                    name = _repository(full_name(package)),
                    build_text = crate_text(world, package),
                    sha256 = checksum(world, package),
                    strip_prefix = full_name(package),
                )
        else:
            # A feature that a manifest of ours asks for changes what is built.
            ctx.watch(package["manifest_path"])
            for kind in [None, "build", "dev"]:
                direct += used(world, package, kind).packages
    _names(name = "crates", text = aliases_text(world, direct))
    own_locks(name = "own_locks")

crates = module_extension(
    implementation = _crates_impl,
    doc = "Declares every crate of the locks; `@crates//:NAME` are the ones our manifests name.",
    arch_dependent = True,
    environ = ["CARGO_HOME"],
)
