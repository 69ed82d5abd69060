"""The kinds of packages that the lab is made of, each as one macro.

Those of crates make the crate itself, a test of the unit tests in its sources where there are any,
and one test for each `tests/NAME.rs` and `tests/NAME/main.rs`, as Cargo does. Crates of Cargo.lock
are named as Cargo.toml names them.
"""

load("@rules_rust//rust:defs.bzl", "rust_binary", "rust_library", "rust_test")

# Of [workspace.package]; lab/tidy compares the two.
_EDITION = "2024"
_VERSION = "0.1.0"

# Code of these never runs while something is timed, so rustc does not optimise it: it was most of what
# a first build compiled of ours. lab/tidy refuses what is timed.
_UNTIMED = [
    "audit",
    "cli",
    "families",
    "import",
    "plan",
    "report",
    "site",
    "tidy",
    "watch",
]
_UNOPTIMISED = ["-Copt-level=0", "-Cdebug-assertions=no", "-Cstrip=symbols"]

# The statistics' simulations are unbearable at 0. Symbols are a third of a test.
_TESTS = ["-Copt-level=1", "-Cstrip=symbols"]

def lab_library(
        name,
        crate_name,
        deps = [],
        crates = [],
        test_deps = [],
        test_crates = [],
        test_files = [],
        test_tags = [],
        alone = [],
        unit_tests = True,
        binaries = {},
        files = [],
        included = [],
        shared_srcs = [],
        visibility = ["//lab:__subpackages__", "//proof:__subpackages__"]):
    """A library of the lab, with its tests.

    In a family it is what variants share, and no variant: its targets `files` and `manifest`, which
    the family collects, have what is given here and nothing.

    Args:
        name: of the target; by habit the folder's name.
        crate_name: as `use` writes it.
        deps: libraries of ours.
        crates: of [dependencies], not ours.
        test_deps: libraries of ours that only tests use.
        test_crates: of [dev-dependencies], not ours.
        test_files: labels of files outside the package, which tests read or include.
        test_tags: Bazel tags of the tests in tests/.
        alone: those of tests/ beside which nothing else may run, by name.
        unit_tests: whether there are any.
        binaries: as in `_tests`.
        files: programs that variants start.
        included: labels of files outside the package, which its sources include.
        shared_srcs: sources of other packages that a `#[path]` of this one names.
        visibility: the arrows between crates, as Bazel checks them.
    """
    rust_library(
        name = name,
        srcs = _sources() + shared_srcs,
        compile_data = _included_files() + included,
        crate_name = crate_name,
        edition = _EDITION,
        rustc_flags = _flags(),
        version = _VERSION,
        visibility = visibility,
        deps = deps + _of_lock(crates),
    )
    _collected(files = files, manifest = [])
    _tests(
        name = name,
        library = name,
        deps = deps + test_deps,
        crates = crates + test_crates,
        files = test_files,
        tags = test_tags,
        alone = alone,
        unit_tests = unit_tests,
        binaries = binaries,
    )

def lab_binary(
        name,
        deps = [],
        crates = [],
        test_deps = [],
        test_crates = [],
        test_files = [],
        alone = [],
        unit_tests = True,
        binaries = {},
        shared_srcs = [],
        own_lock = False,
        visibility = ["//lab:__subpackages__"]):
    """A program of the lab, with its tests, which find it as CARGO_BIN_EXE_<name>.

    Args:
        name: of the program.
        deps: libraries of ours.
        crates: of [dependencies], not ours.
        test_deps: libraries of ours that only tests use.
        test_crates: of [dev-dependencies], not ours.
        test_files: labels of files outside the package, which tests read or include.
        alone: those of tests/ beside which nothing else may run, by name.
        unit_tests: whether there are any.
        binaries: further programs for the tests, as in `_tests`.
        shared_srcs: sources of other packages that a `#[path]` of this one names, and what they
            include.
        own_lock: whether it is the workspace in `crate`, with another lock than ours. Its tests are
            left to what it was made after.
        visibility: who may run it.
    """
    below = "crate/" if own_lock else ""
    rust_binary(
        name = name,
        srcs = _sources(below) + [label for label in shared_srcs if label.endswith(".rs")],
        compile_data = _included_files(below) +
                       [label for label in shared_srcs if not label.endswith(".rs")],
        crate_root = below + "src/main.rs",
        edition = _EDITION,
        rustc_flags = _flags(),
        version = _VERSION,
        visibility = visibility,
        deps = deps + (_of_own_lock(crates) if own_lock else _of_lock(crates)),
    )
    if own_lock:
        return
    _tests(
        name = name,
        deps = deps + test_deps,
        crates = crates + test_crates,
        files = test_files,
        alone = alone,
        unit_tests = unit_tests,
        binaries = dict(binaries, **{name: ":" + name}),
    )

def variant(
        family,
        crates = [],
        deps = [],
        kit = None,
        shared_srcs = [],
        own_lock = False,
        unit_tests = False,
        test_deps = [],
        test_crates = [],
        test_files = []):
    """A variant: the program FAMILY-FOLDER, its manifest, and its tests.

    The targets `files`, what the driver needs of it, and `manifest` are collected by the family's
    package, so that a new variant is a new folder and no edit elsewhere.

    Args:
        family: the family's name, which is its folder's.
        crates: of [dependencies], not ours.
        deps: libraries of ours beside the kit.
        kit: the family's kit, where it is not `//FAMILY/kit`.
        shared_srcs: sources of another variant that this one includes, by label.
        own_lock: whether it is of another version than our lock has, in a workspace `crate`.
        unit_tests: whether there are any.
        test_deps: libraries of ours that only tests use.
        test_crates: of [dev-dependencies], not ours.
        test_files: labels of files outside the package, which tests read or include.
    """
    program = family + "-" + native.package_name().split("/")[-1]
    lab_binary(
        name = program,
        crates = crates,
        deps = [kit or "//%s/kit" % family] + deps,
        shared_srcs = shared_srcs,
        own_lock = own_lock,
        unit_tests = unit_tests,
        test_deps = test_deps,
        test_crates = test_crates,
        test_files = test_files + ["variant.toml"],
        visibility = ["//visibility:public"],
    )
    _collected(files = ["variant.toml", ":" + program], manifest = ["variant.toml"])

def script(family, files = None):
    """A variant that Cargo does not build: its program FAMILY-FOLDER lies in its folder as a text.

    Args:
        family: the family's name, which is its folder's.
        files: what lies there instead: `build`, which makes the program, and what that reads.
    """
    program = family + "-" + native.package_name().split("/")[-1]
    _collected(files = ["variant.toml"] + (files or [program]), manifest = ["variant.toml"])

def variants(family, crates, deps, shared_srcs = []):
    """Variants whose folders hold a manifest and nothing else: a program for each `src/bin/NAME.rs`.

    Args:
        family: the family's name, which is its folder's.
        crates: of [dependencies], not ours.
        deps: libraries of ours.
        shared_srcs: sources of variants that these include, by label.
    """
    for root in native.glob(["src/bin/*.rs"]):
        name = root.removeprefix("src/bin/").removesuffix(".rs")
        rust_binary(
            name = name,
            srcs = [root] + shared_srcs,
            compile_data = ["//%s:%s/variant.toml" % (family, name.removeprefix(family + "-"))],
            crate_root = root,
            edition = _EDITION,
            version = _VERSION,
            visibility = ["//visibility:public"],
            deps = deps + _of_lock(crates),
        )
    _collected(files = [], manifest = [])

def family(programs = None):
    """What the folders of a family have: `variants`, programs with their manifests and what they
    start, and `manifests` alone.

    Args:
        programs: the package of `variants`, which makes the programs of those folders that hold a
            manifest and nothing else.
    """
    folders = native.subpackages(include = ["*"])
    alone = native.glob(["*/variant.toml"], allow_empty = True)
    native.exports_files(alone)
    made = []
    for manifest in alone:
        folder = manifest.split("/")[0]
        program = native.package_name() + "-" + folder
        native.genrule(
            name = folder,
            srcs = [programs + ":" + program],
            outs = [folder + "/" + program],
            # Where each variant has its own.
            cmd = "cp $< $@",
        )
        made.append(folder)
    for name, collected, more in [("variants", "files", made), ("manifests", "manifest", [])]:
        native.filegroup(
            name = name,
            srcs = ["//%s/%s:%s" % (native.package_name(), folder, collected) for folder in folders] +
                   alone + more,
            visibility = ["//visibility:public"],
        )

def _collected(files, manifest):
    for name, srcs in [("files", files), ("manifest", manifest)]:
        native.filegroup(
            name = name,
            srcs = srcs,
            visibility = ["//visibility:public"],
        )

def _tests(name, deps, crates, files, binaries, alone, unit_tests, tags = [], library = None):
    """The unit tests of a crate, its tests/*.rs and its tests/*/main.rs.

    Cargo starts a test in its package, Bazel at the workspace's root, so what Cargo gives as
    absolute paths is given relative to that root here: CARGO_MANIFEST_DIR, and CARGO_BIN_EXE_<name>
    for each entry name → label of `binaries`. A test that starts a program in another folder has to
    make that path absolute first.
    """
    data = files + native.glob(["src/**", "tests/**"], exclude = ["**/*.rs"], allow_empty = True)
    programs = {"CARGO_BIN_EXE_" + key: "$(rootpath %s)" % binaries[key] for key in binaries}
    common = dict(
        compile_data = data,
        data = data + binaries.values(),
        edition = _EDITION,
        env = dict({
            "INSTA_UPDATE": "no",
            "INSTA_WORKSPACE_ROOT": ".",
            "PROPTEST_FAILURE_PERSISTENCE": "off",
        }, **programs),
        rustc_flags = _flags() or _TESTS,
        version = _VERSION,
    )
    paths = {
        "CARGO_MANIFEST_DIR": native.package_name(),
        "CARGO_TARGET_TMPDIR": "/tmp",
        "INSTA_WORKSPACE_ROOT": ".",
    }
    if unit_tests:
        rust_test(
            name = name + "_unit_test",
            crate = ":" + name,
            rustc_env = paths,
            deps = _of_lock(crates) + deps,
            **common
        )
    for root in native.glob(["tests/*.rs", "tests/*/main.rs"], allow_empty = True):
        stem = root.removeprefix("tests/").removesuffix(".rs").removesuffix("/main")
        rust_test(
            name = stem + "_test",
            srcs = [root] + native.glob(
                ["tests/*/**/*.rs"],
                allow_empty = True,
                exclude = ["tests/*/main.rs"],
            ),
            # As Cargo names it: snapshots carry this name.
            crate_name = stem,
            crate_root = root,
            rustc_env = dict(paths, **programs),
            # They start programs and may share few processors with a build; none waits this long.
            size = "medium",
            tags = tags + (["exclusive"] if stem in alone else []),
            timeout = "long",
            deps = _of_lock(crates) + deps + ([":" + library] if library else []),
            **common
        )

def _flags():
    folders = native.package_name().split("/")
    return _UNOPTIMISED if folders[0] == "lab" and folders[1] in _UNTIMED else []

def _sources(below = ""):
    return native.glob([below + "src/**/*.rs"])

def _included_files(below = ""):
    # A library may have its README as its page; a variant knows who it is from its manifest.
    return native.glob(
        ["README.md", below + "src/**", "variant.toml"],
        exclude = ["**/*.rs", "**/*.snap"],
        allow_empty = True,
    )

def _of_lock(crates):
    return ["@crates//:" + crate for crate in crates]

def _of_own_lock(crates):
    return ["@own_locks//%s:%s" % (native.package_name(), crate) for crate in crates]
