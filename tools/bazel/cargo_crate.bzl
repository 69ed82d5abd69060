"""A crate's source as a Bazel repository, taken out of Cargo's own download cache.

Every crate comes through Cargo, and so with the user's Cargo configuration: mirrors, credentials,
offline mode. Bazel itself downloads nothing. What is built is still what the lock names, for the
archive's sha256 is compared with the one in Cargo.lock.
"""

def _cargo_home(ctx):
    home = ctx.os.environ.get("CARGO_HOME")
    return ctx.path(home if home else ctx.os.environ["HOME"] + "/.cargo")

def _find_archive(ctx, file_name):
    """The path of a downloaded crate, or None. Each registry has a folder of its own."""
    cache = _cargo_home(ctx).get_child("registry").get_child("cache")
    for registry in (cache.readdir() if cache.exists else []):
        archive = registry.get_child(file_name)
        if archive.exists:
            return archive
    return None

def cargo(ctx, manifest, arguments):
    """What a command of Cargo prints that asks for no change of the lock.

    Args:
        ctx: of a repository rule.
        manifest: the path of the package or workspace.
        arguments: the command, with its arguments.
    """
    program = ctx.which("cargo")
    if not program:
        fail("cargo is not on PATH; crates are fetched by it")
    ctx.report_progress("cargo " + arguments[0])
    done = ctx.execute(
        [program] + arguments + ["--locked", "--manifest-path", manifest],
        timeout = 1800,
        # rustup reads rust-toolchain.toml from the folder that it is started in.
        working_directory = str(manifest.dirname),
    )
    if done.return_code:
        fail("cargo %s failed for %s:\n%s" % (arguments[0], manifest, done.stderr))
    return done.stdout

def _check_sha256(ctx, archive, sha256):
    done = ctx.execute(["sha256sum", archive])
    if done.return_code:
        fail("sha256sum failed:\n" + done.stderr)
    found = done.stdout.split(" ")[0]
    if found != sha256:
        fail("%s has sha256 %s, but the lock says %s" % (archive, found, sha256))

def extract_crate(ctx, name, sha256, manifest, to):
    """Lays a crate's source into a folder of the repository.

    Args:
        ctx: of a repository rule.
        name: `NAME-VERSION`.
        sha256: of the archive, as the lock has it.
        manifest: the path of the package or workspace whose lock names the crate.
        to: the folder.
    """
    archive = _find_archive(ctx, name + ".crate")
    if not archive:
        cargo(ctx, manifest, ["fetch"])
        archive = _find_archive(ctx, name + ".crate")
    if not archive:
        fail("cargo fetch left no %s.crate in %s/registry/cache" % (name, _cargo_home(ctx)))
    _check_sha256(ctx, archive, sha256)

    # `extract` goes by the name's ending, and knows `.crate` by none.
    ctx.symlink(archive, "crate.tar.gz")
    ctx.extract("crate.tar.gz", output = to, stripPrefix = name)
    ctx.delete("crate.tar.gz")

def _cargo_crate_impl(ctx):
    attr = ctx.attr
    extract_crate(ctx, attr.strip_prefix, attr.sha256, ctx.path(attr.manifest), "")
    ctx.file("BUILD.bazel", attr.build_text or ctx.read(attr.build_file))

cargo_crate = repository_rule(
    implementation = _cargo_crate_impl,
    doc = "One crate of a Cargo.lock.",
    attrs = {
        "build_file": attr.label(doc = "The crate's BUILD file, where there is one."),
        "build_text": attr.string(doc = "Or what would stand in it."),
        "manifest": attr.label(
            default = Label("//:Cargo.toml"),
            doc = "The package or workspace whose lock names the crate.",
        ),
        "sha256": attr.string(mandatory = True, doc = "Of the archive, as Cargo.lock has it."),
        "strip_prefix": attr.string(mandatory = True, doc = "`NAME-VERSION`."),
    },
    environ = ["CARGO_HOME"],
)
