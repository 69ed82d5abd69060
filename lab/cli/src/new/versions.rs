//! A variant of another version of what it measures. Cargo resolves one version in a workspace, so
//! the folder holds a workspace of its own, `crate`, with its own lock. For Cargo it builds itself;
//! Bazel takes the crates of that lock from the repository `@own_locks`.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
};

use super::copy;

/// Who is copied, and into what.
pub(super) struct Copy<'a> {
    pub(super) family: &'a str,
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    pub(super) version: &'a str,
}

const BUILD: &str = "#!/bin/sh
# Makes the program with the lock of this folder, whose versions are not the workspace's.
set -e
cd \"$(dirname \"$0\")\"
target=../../target/own-lock
cargo build --quiet --release --manifest-path crate/Cargo.toml --target-dir \"$target\"
# In one step, for somebody may be starting it.
cp \"$target/release/@PROGRAM@\" \"$target/release/$$\"
mv \"$target/release/$$\" @PROGRAM@
";

/// Writes the folder `draft` after the variant in `from`, which is a package of Cargo.
pub(super) fn write(root: &Path, from: &Path, draft: &Path, made: &Copy<'_>) -> io::Result<()> {
    let identity = fs::read_to_string(from.join("variant.toml"))?;
    let measured = text_of(&identity, "measures")?;
    let program = format!("{}-{}", made.family, made.new);
    let manifest = manifest(
        &fs::read_to_string(from.join("Cargo.toml"))?,
        &fs::read_to_string(root.join("Cargo.toml"))?,
        &program,
        (&measured, made.version),
    )?;
    let own = draft.join("crate");
    fs::create_dir(draft)?;
    fs::create_dir(&own)?;
    copy(&from.join("src"), &own.join("src"))?;
    further_from_identity(&own.join("src"))?;
    fs::write(own.join("Cargo.toml"), manifest)?;
    fs::copy(root.join("Cargo.lock"), own.join("Cargo.lock"))?;
    lock(&own)?;
    let was = text_of(&identity, "version")?;
    let identity = replaced(&identity, "name", made.old, made.new)?;
    let identity = replaced(&identity, "version", &was, made.version)?;
    fs::write(draft.join("variant.toml"), identity)?;
    fs::write(draft.join("build"), BUILD.replace("@PROGRAM@", &program))?;
    fs::set_permissions(draft.join("build"), fs::Permissions::from_mode(0o755))?;
    fs::write(draft.join(".gitignore"), format!("/{program}\n"))?;
    let rules = rules(&fs::read_to_string(from.join("BUILD.bazel"))?, made.family)?;
    fs::write(draft.join("BUILD.bazel"), rules)
}

/// Makes a copy of our lock that of this workspace: what is not asked for in another version stays
/// as it is everywhere. The error is Cargo's, as of a version that was never published.
fn lock(own: &Path) -> io::Result<()> {
    let mut cargo = Command::new("cargo");
    cargo.args(["update", "--quiet", "--workspace"]).current_dir(own).stdin(Stdio::null());
    let ended = cargo.output().map_err(|error| io::Error::other(format!("cargo: {error}")))?;
    let said = String::from_utf8_lossy(&ended.stderr);
    match ended.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("cargo update: {}", said.trim()))),
    }
}

/// The BUILD file of a variant, as that of one whose workspace is `crate`.
fn rules(text: &str, family: &str) -> io::Result<String> {
    let line = format!("    family = \"{family}\",\n");
    let own = format!("{line}    own_lock = True,\n");
    match text.contains(&line) {
        true => Ok(text.replacen(&line, &own, 1)),
        false => Err(io::Error::other(format!("BUILD.bazel has no line `{}`", line.trim()))),
    }
}

/// The manifest lies one folder higher now.
fn further_from_identity(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            further_from_identity(&path)?;
        } else {
            let text = fs::read_to_string(&path)?;
            fs::write(&path, text.replace("\"../variant.toml\"", "\"../../variant.toml\""))?;
        }
    }
    Ok(())
}

/// The manifest of the folder's own workspace: what the package takes from ours is written out, and
/// the profile is ours, so that both build alike.
fn manifest(
    package: &str,
    workspace: &str,
    program: &str,
    measured: (&str, &str),
) -> io::Result<String> {
    let of_workspace = section(workspace, "[workspace.dependencies]");
    let mut dependencies = String::new();
    for (name, asked) in section(package, "[dependencies]") {
        let name = name.trim_end_matches(".workspace");
        let found = of_workspace.iter().find(|(known, _)| *known == name);
        let (_, ours) = found.ok_or_else(|| {
            io::Error::other(format!("Cargo.toml: [workspace.dependencies] has no {name}"))
        })?;
        let fields = fields(ours, asked, (measured.0 == name).then_some(measured.1));
        dependencies += &format!("{name} = {{ {} }}\n", fields.join(", "));
    }
    if !dependencies.lines().any(|line| line.starts_with(&format!("{} = ", measured.0))) {
        let message = "is no dependency of the variant itself, so its version is its library's";
        return Err(io::Error::other(format!("{} {message}", measured.0)));
    }
    let profile: String = section(workspace, "[profile.release]")
        .iter()
        .map(|(name, value)| format!("{name} = {value}\n"))
        .collect();
    let of_package = section(workspace, "[workspace.package]");
    let value =
        |name| of_package.iter().find(|(own, _)| *own == name).map_or("", |(_, text)| *text);
    Ok(format!(
        "# A workspace of its own, for another version of {0} than the repository has.\n\
         [workspace]\n\n[package]\nname = \"{program}\"\nversion = {1}\nedition = {2}\n\
         publish = false\n\n[dependencies]\n{dependencies}\n[profile.release]\n{profile}",
        measured.0,
        value("version"),
        value("edition"),
    ))
}

/// The names and values of a section, without remarks.
fn section<'a>(text: &'a str, head: &str) -> Vec<(&'a str, &'a str)> {
    let lines = text.lines().skip_while(|line| *line != head).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let lines = lines.filter(|line| !line.starts_with('#'));
    let pair = |line: &'a str| line.split(" # ").next().unwrap_or(line).trim().split_once(" = ");
    lines.filter_map(pair).collect()
}

/// What the workspace says of a crate, with what the package asks for besides: paths seen from the
/// folder, features of both, and the version that is wanted.
fn fields(ours: &str, asked: &str, version: Option<&str>) -> Vec<String> {
    let mut fields = Vec::new();
    let mut features: Vec<&str> = Vec::new();
    for (name, value) in parts(ours).into_iter().chain(parts(asked)) {
        match (name, version) {
            ("workspace", _) => {}
            ("features", _) => features.extend(value.trim_matches(['[', ']']).split(", ")),
            ("version", Some(wanted)) => fields.push(format!("version = \"={wanted}\"")),
            ("path", _) => fields.push(format!("path = \"../../../{}\"", value.trim_matches('"'))),
            _ => fields.push(format!("{name} = {value}")),
        }
    }
    if !features.is_empty() {
        fields.push(format!("features = [{}]", features.join(", ")));
    }
    fields
}

/// The fields of an inline table; a version alone and `true` of `name.workspace = true` are, too.
fn parts(value: &str) -> Vec<(&str, &str)> {
    let Some(table) = value.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
        let name = if value.starts_with('"') { "version" } else { "workspace" };
        return vec![(name, value)];
    };
    let mut depth = 0;
    let outside = |c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && depth == 0
    };
    table.split(outside).filter_map(|part| part.trim().split_once(" = ")).collect()
}

fn text_of(manifest: &str, key: &str) -> io::Result<String> {
    let begins = format!("{key} = ");
    let line = manifest.lines().find_map(|line| line.strip_prefix(begins.as_str()));
    let text = line.map(|value| value.trim_matches('"').to_owned());
    text.ok_or_else(|| io::Error::other(format!("variant.toml: key `{key}`: is missing")))
}

fn replaced(manifest: &str, key: &str, old: &str, new: &str) -> io::Result<String> {
    let [old, new] = [old, new].map(|value| format!("{key} = \"{value}\""));
    match manifest.contains(&old) {
        true => Ok(manifest.replacen(&old, &new, 1)),
        false => Err(io::Error::other(format!("variant.toml has no line `{old}`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKSPACE: &str = "[workspace.package]\nversion = \"0.1.0\"\nedition = \"2024\"\n\
        [workspace.dependencies]\nkit = { path = \"f/kit\" }\n# Measured.\n\
        pool = { version = \"=2.0.1\", default-features = false, features = [\"a\", \"b\"] } # y\n\
        plain = \"1\" # why\n[profile.release]\n# As it is.\nopt-level = 3\n";
    const PACKAGE: &str = "[package]\nname = \"f-x\"\n[dependencies]\nkit.workspace = true\n\
        pool = { workspace = true, features = [\"c\"] }\nplain.workspace = true\n";

    #[test]
    fn a_package_becomes_a_workspace_with_one_version_changed() {
        let text = manifest(PACKAGE, WORKSPACE, "f-y", ("pool", "1.9.0")).unwrap();
        let expected = "[workspace]\n\n[package]\nname = \"f-y\"\nversion = \"0.1.0\"\n\
            edition = \"2024\"\npublish = false\n\n[dependencies]\n\
            kit = { path = \"../../../f/kit\" }\n\
            pool = { version = \"=1.9.0\", default-features = false, \
            features = [\"a\", \"b\", \"c\"] }\n\
            plain = { version = \"1\" }\n\n[profile.release]\nopt-level = 3\n";
        assert_eq!(text.split_once('\n').unwrap().1, expected);
    }

    #[test]
    fn bazel_is_told_of_the_lock() {
        let text = "variant(\n    crates = [\"pool\"],\n    family = \"f\",\n)\n";
        let own =
            "variant(\n    crates = [\"pool\"],\n    family = \"f\",\n    own_lock = True,\n)\n";
        assert_eq!(rules(text, "f").unwrap(), own);
        let refused = rules(text, "g").unwrap_err().to_string();
        assert_eq!(refused, "BUILD.bazel has no line `family = \"g\",`");
    }

    #[test]
    fn a_crate_of_a_library_cannot_have_another_version() {
        let refused = manifest(PACKAGE, WORKSPACE, "f-y", ("other", "1.9.0")).unwrap_err();
        assert!(refused.to_string().starts_with("other is no dependency of the variant itself"));
    }
}
