"""The crates of variants that have a lock of their own: another version of what they measure.

Such a variant's folder holds a workspace, `crate`, whose `Cargo.lock` is ours but for that version.
Cargo says what it resolves to. Crates that our own lock has in the same version are `@crates`', so
that the family's kit and the variant share them; the others lie in this repository, a package each,
with their sources out of Cargo's download cache, as those of `@crates` are.
"""

load("//tools/bazel:cargo_crate.bzl", "cargo", "extract_crate")
load("//tools/bazel:rust_toolchain.bzl", "host_triple")

_CRATE = """load("@rules_rust//cargo:defs.bzl", "cargo_build_script")
load("@rules_rust//rust:defs.bzl", "rust_library", "rust_proc_macro")

package(default_visibility = ["//visibility:public"])

_FILES = glob(
    ["**"],
    exclude = ["**/* *", "BUILD", "BUILD.bazel", "WORKSPACE", "WORKSPACE.bazel"],
)

_SOURCES = glob(["**/*.rs"])
"""

_LIBRARY = """
{rule}(
    name = "{name}",
    srcs = _SOURCES,
    aliases = {aliases},
    compile_data = _FILES,
    crate_features = {features},
    crate_root = "{root}",
    edition = "{edition}",
    proc_macro_deps = {macros},
    rustc_flags = ["--cap-lints=allow"],
    version = "{version}",
    deps = {deps},
)
"""

_BUILD_SCRIPT = """
cargo_build_script(
    name = "{name}",
    srcs = _SOURCES,
    aliases = {aliases},
    compile_data = _FILES,
    crate_features = {features},
    crate_name = "build_script_build",
    crate_root = "{root}",
    data = _FILES,
    edition = "{edition}",
    links = {links},
    pkg_name = "{pkg_name}",
    proc_macro_deps = {macros},
    rustc_flags = ["--cap-lints=allow"],
    version = "{version}",
    deps = {deps},
)
"""

_ALIAS = """
alias(
    name = "%s",
    actual = "%s",
    visibility = ["//visibility:public"],
)
"""

def _folders_with_locks(root):
    """The folders FAMILY/NAME below a path that have a lock of their own."""
    families = [child for child in root.readdir() if child.get_child("kit", "BUILD.bazel").exists]
    folders = [folder for family in families for folder in family.readdir()]
    return [folder for folder in folders if folder.get_child("crate", "Cargo.lock").exists]

def _checksums(lock):
    """`NAME-VERSION` → sha256, of a lock's text."""
    found = {}
    for entry in lock.split("[[package]]")[1:]:
        lines = [line.split(" = ") for line in entry.split("\n") if " = \"" in line]
        fields = {line[0]: line[1].strip("\"") for line in lines}
        if "checksum" in fields:
            found["%s-%s" % (fields["name"], fields["version"])] = fields["checksum"]
    return found

def _target(package, kinds):
    """The first target of a package with one of these kinds, or None."""
    for target in package["targets"]:
        for kind in target["kind"]:
            if kind in kinds:
                return target
    return None

_LIBRARIES = ["lib", "rlib", "proc-macro"]

def _crate_name(package):
    return _target(package, _LIBRARIES)["name"].replace("-", "_")

def _full_name(package):
    return "%s-%s" % (package["name"], package["version"])

def _label(world, package):
    """Where a crate is: in `@crates` where our lock has it too, else here."""
    name, crate = _full_name(package), _crate_name(package)
    if name in world.shared:
        return "@crates__%s//:%s" % (name, crate)
    return "//%s/%s:%s" % (world.folder, name, crate)

def _used(world, node, kind):
    """What a crate takes: labels of libraries, labels of macros, and the crates themselves.

    Args:
        world: the lock's.
        node: of the resolution.
        kind: None of the crate itself, "build" of its build script.
    """
    libraries, macros, aliases, packages = [], [], {}, []
    for used in node["deps"]:
        package = world.packages[used["pkg"]]
        kinds = [asked["kind"] for asked in used["dep_kinds"]]

        # What has no source is ours: the kit, which the variant's BUILD file names.
        if kind not in kinds or not package["source"]:
            continue
        label = _label(world, package)
        (macros if _target(package, ["proc-macro"]) else libraries).append(label)
        if used["name"] != _crate_name(package):
            aliases[label] = used["name"]
        packages.append(package)
    return struct(libraries = libraries, macros = macros, aliases = aliases, packages = packages)

def _rule(template, package, target, used, features, **more):
    root = target["src_path"].removeprefix(package["manifest_path"].removesuffix("Cargo.toml"))
    return template.format(
        aliases = repr(used.aliases),
        deps = repr(used.libraries + more.pop("deps", [])),
        edition = target["edition"],
        features = repr(features),
        macros = repr(used.macros),
        root = root,
        version = package["version"],
        **more
    )

def _add_crate(ctx, world, package):
    """Writes a crate's package; returns what it takes."""
    folder = "%s/%s" % (world.folder, _full_name(package))
    sha256 = world.checksums.get(_full_name(package))
    if not sha256:
        fail("%s: %s comes from no registry" % (world.manifest, _full_name(package)))
    extract_crate(ctx, _full_name(package), sha256, world.manifest, folder)
    node = world.nodes[package["id"]]
    library, script = _target(package, _LIBRARIES), _target(package, ["custom-build"])
    used, built = _used(world, node, None), _used(world, node, "build")
    text = _CRATE + _rule(
        _LIBRARY,
        package,
        library,
        used,
        node["features"],
        deps = [":build_script_build"] if script else [],
        name = _crate_name(package),
        rule = "rust_proc_macro" if _target(package, ["proc-macro"]) else "rust_library",
    )
    if script:
        text += _rule(
            _BUILD_SCRIPT,
            package,
            script,
            built,
            node["features"],
            links = repr(package["links"]),
            name = "build_script_build",
            pkg_name = package["name"],
        )
    ctx.file(folder + "/BUILD.bazel", text)
    return used.packages + (built.packages if script else [])

def _add_lock(ctx, folder, shared):
    """Writes the crates of one variant's lock, and a name for each that the variant takes."""
    manifest = folder.get_child("crate", "Cargo.toml")
    ctx.watch(manifest)
    command = ["metadata", "--format-version=1", "--filter-platform=" + host_triple(ctx).str]
    found = json.decode(cargo(ctx, manifest, command))
    world = struct(
        checksums = _checksums(ctx.read(folder.get_child("crate", "Cargo.lock"))),
        folder = "%s/%s" % (folder.dirname.basename, folder.basename),
        manifest = manifest,
        nodes = {node["id"]: node for node in found["resolve"]["nodes"]},
        packages = {package["id"]: package for package in found["packages"]},
        shared = shared,
    )
    direct = _used(world, world.nodes[found["resolve"]["root"]], None).packages
    aliases = [_ALIAS % (package["name"], _label(world, package)) for package in direct]
    ctx.file(world.folder + "/BUILD.bazel", "".join(aliases))
    waiting, written = direct, {}
    for _ in found["packages"]:
        further = []
        for package in waiting:
            name = _full_name(package)
            if name not in shared and name not in written:
                written[name] = True
                further += _add_crate(ctx, world, package)
        waiting = further

def _own_locks_impl(ctx):
    root = ctx.path(ctx.attr.workspace).dirname
    shared = _checksums(ctx.read(ctx.attr.lock))
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
