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

def _fetch(ctx):
    cargo = ctx.which("cargo")
    if not cargo:
        fail("cargo is not on PATH; crates are fetched by it")
    manifest = ctx.path(ctx.attr.manifest)
    ctx.report_progress("cargo fetch")
    done = ctx.execute(
        [cargo, "fetch", "--locked", "--manifest-path", manifest],
        timeout = 1800,
        # rustup reads rust-toolchain.toml from the folder that it is started in.
        working_directory = str(manifest.dirname),
    )
    if done.return_code:
        fail("cargo fetch failed:\n" + done.stderr)

def _check_sha256(ctx, archive):
    done = ctx.execute(["sha256sum", archive])
    if done.return_code:
        fail("sha256sum failed:\n" + done.stderr)
    found = done.stdout.split(" ")[0]
    if found != ctx.attr.sha256:
        fail("%s has sha256 %s, but the lock says %s" % (archive, found, ctx.attr.sha256))

def _cargo_crate_impl(ctx):
    file_name = ctx.attr.strip_prefix + ".crate"
    archive = _find_archive(ctx, file_name)
    if not archive:
        _fetch(ctx)
        archive = _find_archive(ctx, file_name)
    if not archive:
        fail("cargo fetch left no %s in %s/registry/cache" % (file_name, _cargo_home(ctx)))
    _check_sha256(ctx, archive)

    # `extract` goes by the name's ending, and knows `.crate` by none.
    ctx.symlink(archive, "crate.tar.gz")
    ctx.extract("crate.tar.gz", stripPrefix = ctx.attr.strip_prefix)
    ctx.delete("crate.tar.gz")
    ctx.file("BUILD.bazel", ctx.read(ctx.attr.build_file))

cargo_crate = repository_rule(
    implementation = _cargo_crate_impl,
    doc = "One crate of a Cargo.lock.",
    attrs = {
        "build_file": attr.label(mandatory = True, doc = "The crate's generated BUILD file."),
        "manifest": attr.label(
            default = Label("//:Cargo.toml"),
            doc = "The package or workspace whose lock names the crate.",
        ),
        "sha256": attr.string(mandatory = True, doc = "Of the archive, as Cargo.lock has it."),
        "strip_prefix": attr.string(mandatory = True, doc = "`NAME-VERSION`."),
    },
    environ = ["CARGO_HOME"],
)
