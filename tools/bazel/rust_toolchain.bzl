"""The Rust toolchain on PATH, for Bazel.

rustc is pinned outside Bazel: by rust-toolchain.toml where rustup serves it, by flake.lock where Nix
does. So Cargo and Bazel compile with one and the same compiler, and Bazel downloads none.
"""

load("@rules_rust//rust/platform:triple.bzl", "triple")
load(
    "@rules_rust//rust/private:repository_utils.bzl",
    "BUILD_for_cargo",
    "BUILD_for_clippy",
    "BUILD_for_compiler",
    "BUILD_for_rust_toolchain",
    "BUILD_for_rustfmt",
    "BUILD_for_rustfmt_toolchain",
    "BUILD_for_stdlib",
)

_TRIPLES = {
    "aarch64": "aarch64-unknown-linux-gnu",
    "amd64": "x86_64-unknown-linux-gnu",
    "x86_64": "x86_64-unknown-linux-gnu",
}

_TOOLS = ["rustc", "rustdoc", "cargo", "cargo-clippy", "clippy-driver", "rustfmt"]

_TOOLCHAIN = """
toolchain(
    name = "toolchain",
    toolchain = ":rust_toolchain",
    toolchain_type = "@rules_rust//rust:toolchain_type",
)

toolchain(
    name = "rustfmt_of_config",
    toolchain = ":rustfmt_toolchain",
    toolchain_type = "@rules_rust//rust/rustfmt:toolchain_type",
)
"""

# For gen_rust_project, which tells rust-analyzer of Bazel's crates. The sources are rustup's
# component rust-src; without it editors know all but the standard library.
_RUST_ANALYZER = """
load("@rules_rust//rust:toolchain.bzl", "rust_analyzer_toolchain")

filegroup(
    name = "rustc_srcs",
    srcs = glob(["library/Cargo.toml"], allow_empty = True),
)

rust_analyzer_toolchain(
    name = "rust_analyzer_toolchain",
    rustc = ":rustc",
    rustc_srcs = ":rustc_srcs",
)

toolchain(
    name = "rust_analyzer",
    toolchain = ":rust_analyzer_toolchain",
    toolchain_type = "@rules_rust//rust/rust_analyzer:toolchain_type",
)
"""

def _stdlib_with_metadata(host):
    """The BUILD text of the standard library, with its `.rmeta` files.

    rules_rust 0.54.1 lists only `.rlib` files. Those of current compilers hold a stub where the
    metadata was, and rustc reads the `.rmeta` file beside them.
    """
    rlibs = "\"lib/rustlib/%s/lib/*.rlib\"," % host.str
    text = BUILD_for_stdlib(host)
    if rlibs not in text:
        fail("rules_rust's template of the standard library has changed")
    return text.replace(rlibs, rlibs + " " + rlibs.replace("*.rlib", "*.rmeta"))

def _sysroot(ctx):
    rustc = ctx.os.environ.get("RUSTC") or ctx.which("rustc")
    if not rustc:
        fail("rustc is not on PATH; enter the environment with ./enter or nix develop")
    pin = ctx.path(ctx.attr.pin)
    ctx.watch(pin)
    done = ctx.execute(
        [rustc, "--print", "sysroot"],
        timeout = 900,
        # rustup reads rust-toolchain.toml from the folder that it is started in.
        working_directory = str(pin.dirname),
    )
    if done.return_code:
        fail("rustc --print sysroot failed:\n" + done.stderr)
    return ctx.path(done.stdout.strip())

def _link_tool(ctx, sysroot, tool):
    """Links a tool of the compiler's own folder, or of PATH: Nix packages each apart."""
    own = sysroot.get_child("bin").get_child(tool)
    found = own if own.exists else ctx.which(tool)
    if not found:
        fail("%s is neither in %s/bin nor on PATH" % (tool, sysroot))
    ctx.symlink(found, "bin/" + tool)

def host_triple(ctx):
    """This machine's, as rules_rust describes a triple."""
    name = _TRIPLES.get(ctx.os.arch)
    if not name:
        fail("no Rust toolchain is described for the processor " + ctx.os.arch)
    return triple(name)

def _local_rust_toolchain_impl(ctx):
    host = host_triple(ctx)
    sysroot = _sysroot(ctx)
    ctx.symlink(sysroot.get_child("lib"), "lib")
    sources = sysroot.get_child("lib", "rustlib", "src", "rust", "library")
    if sources.exists:
        ctx.symlink(sources, "library")
    for tool in _TOOLS:
        _link_tool(ctx, sysroot, tool)
    ctx.file("BUILD.bazel", "\n".join([
        BUILD_for_compiler(host),
        _stdlib_with_metadata(host),
        BUILD_for_cargo(host),
        BUILD_for_clippy(host),
        BUILD_for_rustfmt(host),
        BUILD_for_rustfmt_toolchain("rustfmt_toolchain", ":rustfmt_bin", ":rustc", ":rustc_lib"),
        BUILD_for_rust_toolchain(
            name = "rust_toolchain",
            allocator_library = None,
            default_edition = "2024",
            exec_triple = host,
            global_allocator_library = None,
            include_llvm_tools = False,
            include_rustfmt = True,
            target_triple = host,
        ),
        _TOOLCHAIN,
        _RUST_ANALYZER,
    ]))

local_rust_toolchain = repository_rule(
    implementation = _local_rust_toolchain_impl,
    doc = "A repository that wraps the rustc found on PATH, or named by RUSTC.",
    attrs = {
        "pin": attr.label(
            default = Label("//:rust-toolchain.toml"),
            doc = "The file by which rustup chooses the compiler.",
        ),
    },
    configure = True,
    environ = ["PATH", "RUSTC", "RUSTUP_TOOLCHAIN"],
    local = True,
)
