//! Which crates may hold `unsafe`: the few of a list. In all others rustc refuses it, under Cargo
//! and Bazel alike, because each crate's root says so. Cargo's table of lints would not do: Bazel
//! does not read it.

use std::collections::BTreeSet;

use toml::{Table, Value};

use crate::repository::Repository;

/// What a crate's root says that holds no `unsafe`.
const FORBIDDEN: &str = "#![forbid(unsafe_code)]";

/// The roots that do not say it, and why.
const HOLD_UNSAFE: &[(&str, &str)] = &[
    ("engines/io_uring/src/main.rs", "the kernel writes to a buffer after the call"),
    ("jsonl-search/src/lib.rs", "vector registers, mapped files, a handler of SIGBUS"),
    ("lab/process/src/lib.rs", "code between fork and exec, system calls without a wrapper"),
    ("workflows/worker/src/lib.rs", "an interface in C"),
];

/// The beginnings of code that is `unsafe`, so that a comment that speaks of it is none.
const UNSAFE: &[&str] = &["unsafe {", "unsafe fn ", "unsafe extern ", "unsafe impl ", "#[unsafe("];

/// The roots of a package's library and programs, of all files of the repository; a test's root may
/// hold what it likes.
fn roots<'a>(package: &'a str, files: &'a [String]) -> impl Iterator<Item = &'a String> {
    let is_root = |path: &str| match path.split('/').collect::<Vec<_>>()[..] {
        ["build.rs"] | ["src", "lib.rs" | "main.rs"] => true,
        ["examples" | "benches", file] | ["src", "bin", file] => file.ends_with(".rs"),
        ["examples" | "benches", _, "main.rs"] | ["src", "bin", _, "main.rs"] => true,
        _ => false,
    };
    files.iter().filter(move |path| {
        let inside = path.strip_prefix(package).and_then(|path| path.strip_prefix('/'));
        inside.is_some_and(is_root)
    })
}

/// The roots that a manifest names itself.
fn named(package: &str, manifest: &Table) -> Vec<String> {
    let of = |kind: &str| match manifest.get(kind) {
        Some(Value::Array(targets)) => targets.clone(),
        Some(target) => vec![target.clone()],
        None => vec![],
    };
    let targets = ["lib", "bin", "example", "bench"].into_iter().flat_map(of);
    let path = |target: Value| Some(format!("{package}/{}", target.get("path")?.as_str()?));
    targets.filter_map(path).collect()
}

/// The roots of all crates of the repository, those that `lab new` writes among them.
///
/// # Panics
/// When a folder cannot be read.
pub fn all_roots(repository: &Repository) -> BTreeSet<String> {
    let files = repository.files();
    let mut found: BTreeSet<String> =
        files.iter().filter(|path| path.ends_with(".rs.in")).cloned().collect();
    // What Bazel itself is made of is no crate of the lab; a change there builds everything anew.
    let ours = files.iter().filter(|path| !path.starts_with("tools/bazel/offline/"));
    for package in ours.filter_map(|path| path.strip_suffix("/Cargo.toml")) {
        found.extend(roots(package, &files).cloned());
        found.extend(named(package, &repository.table(&format!("{package}/Cargo.toml"))));
    }
    found
}

/// Complaints about roots that neither forbid `unsafe` nor stand in the list, and about rows of the
/// list that are not true.
///
/// # Panics
/// When a file cannot be read.
pub fn complaints(repository: &Repository) -> Vec<String> {
    let (files, roots) = (repository.files(), all_roots(repository));
    let holds_unsafe = |root: &str| {
        let folder = &root[..root.rfind('/').map_or(0, |slash| slash + 1)];
        let mut inside = files.iter().filter(|path| path.starts_with(folder));
        inside.any(|path| path.ends_with(".rs") && has_unsafe(&repository.read(path)))
    };
    let of_root = |root: &String| {
        let is_listed = HOLD_UNSAFE.iter().any(|(listed, _)| listed == root);
        let holds = is_listed && holds_unsafe(root);
        complaint(root, &repository.read(root), is_listed, holds)
    };
    let gone = HOLD_UNSAFE.iter().filter(|(listed, _)| !roots.contains(*listed));
    let gone =
        gone.map(|(listed, _)| format!("{listed} is listed in lab/tidy and no crate's root"));
    roots.iter().filter_map(of_root).chain(gone).collect()
}

fn complaint(root: &str, text: &str, is_listed: bool, holds_unsafe: bool) -> Option<String> {
    match (is_listed, text.lines().any(|line| line == FORBIDDEN)) {
        (false, true) => None,
        // What is never built has nothing but a comment.
        (false, false) if code(text).next().is_none() => None,
        (false, false) => Some(format!("{root} lacks {FORBIDDEN}")),
        (true, false) if holds_unsafe => None,
        (true, _) => Some(format!("{root} holds no unsafe: take it off the list in lab/tidy")),
    }
}

fn has_unsafe(text: &str) -> bool {
    code(text).any(|line| UNSAFE.iter().any(|beginning| line.contains(beginning)))
}

fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_forbids_or_is_listed_with_reason() {
        let silent = "//! Text.\n\nfn main() {}\n";
        let forbids = "//! Text.\n\n#![forbid(unsafe_code)]\n\nfn main() {}\n";
        let outcome = |text, is_listed, holds| complaint("a", text, is_listed, holds).is_none();
        assert!(outcome(forbids, false, false) && outcome(silent, true, true));
        assert!(!outcome(silent, false, false));
        assert!(!outcome(silent, true, false) && !outcome(forbids, true, true));
        assert!(!outcome("// #![forbid(unsafe_code)]\nfn main() {}\n", false, false));
        assert!(outcome("// Never built.\n\n", false, false));
    }

    #[test]
    fn only_code_is_unsafe() {
        assert!(has_unsafe("    let x = unsafe { call() };\n"));
        assert!(has_unsafe("#[unsafe(no_mangle)]\n"));
        assert!(!has_unsafe("// It would need unsafe { call() }.\n"));
        assert!(!has_unsafe("\"its successor is unsafe for types\"\n"));
    }

    #[test]
    fn a_root_may_have_a_path_of_its_own() {
        let manifest = "[lib]\npath = \"a.rs\"\n[[bin]]\nname = \"b\"\npath = \"src/b.rs\"\n";
        assert_eq!(named("x/y", &manifest.parse().unwrap()), ["x/y/a.rs", "x/y/src/b.rs"]);
        assert!(named("x/y", &"[lib]\nname = \"z\"\n".parse().unwrap()).is_empty());
    }

    #[test]
    fn roots_are_where_cargo_finds_them() {
        let files = [
            "a/b/Cargo.toml",
            "a/b/build.rs",
            "a/b/examples/one.rs",
            "a/b/src/bin/two.rs",
            "a/b/src/lib.rs",
            "a/b/src/other.rs",
            "a/b/tests/three.rs",
            "a/bc/src/lib.rs",
        ]
        .map(str::to_owned);
        let found: Vec<_> = roots("a/b", &files).collect();
        assert_eq!(found, [&files[1], &files[2], &files[3], &files[4]]);
    }
}
