"""What Cargo says of a lock, as BUILD files: a package for each crate.

Which crates there are, and what each of them takes, is `cargo metadata`'s; features are those that
`cargo tree` builds with, for the other counts those of other platforms and of build scripts in.
"""

load("//tools/bazel:cargo_crate.bzl", "cargo")
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
    link_deps = {link_deps},
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

_LIBRARIES = ["lib", "rlib", "proc-macro"]

def checksums(lock):
    """`NAME-VERSION` → sha256, of a lock's text."""
    found = {}
    for entry in lock.split("[[package]]")[1:]:
        lines = [line.split(" = ") for line in entry.split("\n") if " = \"" in line]
        fields = {line[0]: line[1].strip("\"") for line in lines}
        if "checksum" in fields:
            found["%s-%s" % (fields["name"], fields["version"])] = fields["checksum"]
    return found

def read_lock(ctx, manifest, label):
    """What a workspace's lock resolves to on this machine.

    Args:
        ctx: of a repository rule or module extension.
        manifest: the path of the workspace's Cargo.toml, with its lock beside it.
        label: of a crate's target, from its full name and its crate name.
    """
    platform = host_triple(ctx).str
    said = cargo(ctx, manifest, ["metadata", "--format-version=1", "--filter-platform=" + platform])
    metadata = json.decode(said)
    tree = ["tree", "--workspace", "--target=" + platform, "--prefix=none", "--format={p}|{f}"]
    return struct(
        checksums = checksums(ctx.read(manifest.dirname.get_child("Cargo.lock"))),
        features = _features(cargo(ctx, manifest, tree)),
        label = label,
        manifest = manifest,
        nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]},
        packages = {package["id"]: package for package in metadata["packages"]},
    )

def _features(tree):
    """`NAME-VERSION` → features, of each crate in `cargo tree`'s text."""
    found = {}
    for line in tree.split("\n"):
        package, _, features = line.partition("|")
        words = package.split(" ")
        if len(words) > 1:
            of_crate = found.setdefault("%s-%s" % (words[0], words[1].removeprefix("v")), {})
            for feature in features.removesuffix(" (*)").split(","):
                if feature:
                    of_crate[feature] = True
    return {name: sorted(of_crate) for name, of_crate in found.items()}

def _target(package, kinds):
    """The first target of a package with one of these kinds, or None."""
    for target in package["targets"]:
        for kind in target["kind"]:
            if kind in kinds:
                return target
    return None

def _crate_name(package):
    return _target(package, _LIBRARIES)["name"].replace("-", "_")

def full_name(package):
    """`NAME-VERSION`."""
    return "%s-%s" % (package["name"], package["version"])

def used(world, package, kind):
    """What a crate takes: labels of libraries, labels of macros, and the crates themselves.

    Args:
        world: of `read_lock`.
        package: the crate.
        kind: None of the crate itself, "build" of its build script, "dev" of its tests.
    """
    libraries, macros, aliases, packages, linked = [], [], {}, [], []
    for taken in world.nodes[package["id"]]["deps"]:
        other = world.packages[taken["pkg"]]
        kinds = [asked["kind"] for asked in taken["dep_kinds"]]

        # What has no source is ours, which a BUILD file names; what is in no tree is not built.
        if kind not in kinds or not other["source"] or full_name(other) not in world.features:
            continue
        label = world.label(full_name(other), _crate_name(other))
        (macros if _target(other, ["proc-macro"]) else libraries).append(label)
        if taken["name"] != _crate_name(other):
            aliases[label] = taken["name"]
        if other["links"]:
            linked.append(label)
        packages.append(other)
    return struct(
        libraries = libraries,
        macros = macros,
        aliases = aliases,
        packages = packages,
        linked = linked,
    )

def aliases_text(world, packages):
    """The BUILD text that gives these crates the names without a version."""
    label = lambda package: world.label(full_name(package), _crate_name(package))
    names = {package["name"]: label(package) for package in packages}
    return "".join([_ALIAS % (name, names[name]) for name in sorted(names)])

def _rule(template, world, package, target, taken, **more):
    root = target["src_path"].removeprefix(package["manifest_path"].removesuffix("Cargo.toml"))
    return template.format(
        aliases = repr(taken.aliases),
        deps = repr(taken.libraries + more.pop("deps", [])),
        edition = target["edition"],
        features = repr(world.features[full_name(package)]),
        macros = repr(taken.macros),
        root = root,
        version = package["version"],
        **more
    )

def crate_text(world, package):
    """The BUILD text of a crate."""
    library, script = _target(package, _LIBRARIES), _target(package, ["custom-build"])
    taken = used(world, package, None)
    text = _CRATE + _rule(
        _LIBRARY,
        world,
        package,
        library,
        taken,
        deps = [":build_script_build"] if script else [],
        name = _crate_name(package),
        rule = "rust_proc_macro" if _target(package, ["proc-macro"]) else "rust_library",
    )
    if not script:
        return text
    return text + _rule(
        _BUILD_SCRIPT,
        world,
        package,
        script,
        used(world, package, "build"),
        link_deps = repr(taken.linked),
        links = repr(package["links"]),
        name = "build_script_build",
        pkg_name = package["name"],
    )

def checksum(world, package):
    """The sha256 of a crate's archive, as the lock has it."""
    found = world.checksums.get(full_name(package))
    if not found:
        fail("%s: %s comes from no registry" % (world.manifest, full_name(package)))
    return found
