"""The crates of variants that have a lock of their own: another version of what they measure.

Such a variant's folder holds a workspace, `crate`, whose `Cargo.lock` is ours but for that version.
Crates that our own lock has in the same version are `@crates`', so that the family's kit and the
variant share them; the others lie in this repository, a package each.
"""

load("//tools/bazel:cargo_crate.bzl", "extract_crate")
load(
    "//tools/bazel:cargo_lock.bzl",
    "aliases_text",
    "checksum",
    "checksums",
    "crate_text",
    "full_name",
    "read_lock",
    "used",
)

def _folders_with_locks(root):
    """The folders FAMILY/NAME below a path that have a lock of their own."""
    families = [child for child in root.readdir() if child.get_child("kit", "BUILD.bazel").exists]
    folders = [folder for family in families for folder in family.readdir()]
    return [folder for folder in folders if folder.get_child("crate", "Cargo.lock").exists]

def _add_lock(ctx, folder, shared):
    """Writes the crates of one variant's lock, and a name for each that the variant takes."""
    manifest = folder.get_child("crate", "Cargo.toml")
    ctx.watch(manifest)
    place = "%s/%s" % (folder.dirname.basename, folder.basename)

    def label(name, crate):
        if name in shared:
            return "@crates__%s//:%s" % (name.replace("+", "-"), crate)
        return "//%s/%s:%s" % (place, name, crate)

    world = read_lock(ctx, manifest, label)
    own = [package for package in world.packages.values() if not package["source"]]
    direct = [taken for package in own for taken in used(world, package, None).packages]
    ctx.file(place + "/BUILD.bazel", aliases_text(world, direct))
    for package in world.packages.values():
        name = full_name(package)
        if package["source"] and name in world.features and name not in shared:
            to = "%s/%s" % (place, name)
            extract_crate(ctx, name, checksum(world, package), manifest, to)
            ctx.file(to + "/BUILD.bazel", crate_text(world, package))

def _own_locks_impl(ctx):
    root = ctx.path(ctx.attr.workspace).dirname
    shared = checksums(ctx.read(ctx.attr.lock))
    ctx.file("BUILD.bazel", "")
    for folder in _folders_with_locks(root):
        _add_lock(ctx, folder, shared)

own_locks = repository_rule(
    implementation = _own_locks_impl,
    doc = "`@own_locks//FAMILY/NAME:CRATE` for each crate that a variant with its own lock names.",
    attrs = {
        "lock": attr.label(default = Label("//:Cargo.lock")),
        "workspace": attr.label(default = Label("//:Cargo.toml")),
    },
    environ = ["CARGO_HOME"],
)
