//! The rules of every package, applied to a repository.

use crate::arrows;
use crate::build_files;
use crate::flags;
use crate::repository::Repository;
use crate::variants;

/// What serves, starts and times programs, and the arithmetic of simulations.
const DRIVING: &[&str] =
    &["lab/compare", "lab/driver", "lab/process", "lab/record", "lab/sim", "lab/stats"];

/// Complaints about arrows between packages.
///
/// # Panics
/// When a manifest cannot be read.
pub fn arrows(repository: &Repository) -> Vec<String> {
    let check = |package: &String| {
        let manifest = repository.table(&format!("{package}/Cargo.toml"));
        arrows::complaints(package, &manifest, |folder| repository.is_variant(folder))
    };
    repository.packages().iter().flat_map(check).collect()
}

/// Complaints about BUILD.bazel files that name other dependencies than Cargo.toml.
///
/// # Panics
/// When either cannot be read.
pub fn build_files(repository: &Repository) -> Vec<String> {
    let workspace = repository.table("Cargo.toml");
    let path_of = |name: &str| {
        let known = &workspace["workspace"]["dependencies"];
        known.get(name)?.get("path")?.as_str().map(str::to_owned)
    };
    let check = |package: &String| {
        let build_file = repository.read(&format!("{package}/BUILD.bazel"));
        let manifest = repository.table(&format!("{package}/Cargo.toml"));
        build_files::complaints(package, &build_file, &manifest, path_of)
    };
    repository.packages().iter().flat_map(check).collect()
}

/// Complaints about BUILD.bazel files by which Bazel leaves unit tests out.
///
/// # Panics
/// When a file cannot be read.
pub fn unit_tests(repository: &Repository) -> Vec<String> {
    let files = repository.files();
    let check = |package: &String| {
        let (start, build_file) = (format!("{package}/src/"), format!("{package}/BUILD.bazel"));
        let sources = files.iter().filter(|path| path.starts_with(&start) && path.ends_with(".rs"));
        let has_tests = sources.map(|path| repository.read(path)).any(|text| {
            ["#[test]", "#[cfg(test)]"].iter().any(|attribute| text.contains(attribute))
        });
        build_files::unit_tests(package, &repository.read(&build_file), has_tests)
    };
    repository.packages().iter().filter_map(check).collect()
}

/// Complaints about folders of the lab that Bazel does not optimise although their code runs while
/// something is timed: in the driver's loop, or in a program of a family.
///
/// # Panics
/// When a manifest cannot be read.
pub fn unoptimised(repository: &Repository) -> Vec<String> {
    let is_timed = |package: &String| !["lab/", "proof/"].iter().any(|at| package.starts_with(at));
    let programs = repository.packages().into_iter().filter(is_timed);
    let linked: Vec<String> = programs
        .flat_map(|package| {
            let manifest = repository.table(&format!("{package}/Cargo.toml"));
            arrows::dependencies(&manifest, "dependencies").cloned().collect::<Vec<_>>()
        })
        .filter_map(|name| name.strip_prefix("lab-").map(|rest| format!("lab/{rest}")))
        .collect();
    let listed = flags::unoptimised(&repository.read("tools/bazel/lab.bzl"));
    let timed = |folder: &&String| linked.contains(folder) || DRIVING.contains(&folder.as_str());
    let complaint =
        |folder| format!("tools/bazel/lab.bzl does not optimise {folder}, which is timed");
    listed.iter().filter(timed).map(complaint).collect()
}

/// Complaints about variants that lack a file, or whose manifest is not what folder, lock and
/// docs/ADDING.md, or the page of their family, say.
///
/// # Panics
/// When a manifest or the lock cannot be read.
pub fn variants(repository: &Repository) -> Vec<String> {
    let (lock, page) = (repository.table("Cargo.lock"), repository.read("docs/ADDING.md"));
    let packages = repository.packages();
    let check = |package: &String| {
        let (family, name) = package.split_once('/').expect("FAMILY/NAME");
        let manifest = repository.table(&format!("{package}/variant.toml"));
        // A variant of another version has a workspace, and a lock, of its own.
        let own = format!("{package}/crate/Cargo.lock");
        let own = repository.has(&own).then(|| repository.table(&own));
        let lock = own.as_ref().unwrap_or(&lock);
        // One package may hold the programs of several variants.
        let source = format!("src/bin/{family}-{name}.rs");
        let has_it = |holder: &String| repository.has(&format!("{holder}/{source}"));
        let missing = if packages.iter().any(has_it) {
            Vec::new()
        } else {
            variants::files(package, |file| repository.has(&format!("{package}/{file}")))
        };
        let own_page = format!("docs/families/{family}.md");
        let of_family = repository.has(&own_page).then(|| repository.read(&own_page));
        let pages = page.clone() + &of_family.unwrap_or_default();
        let tags = variants::tags(package, &manifest, &pages);
        let program = format!("{package}/{family}-{name}");
        // A program that `build` makes is none of the repository's files.
        let is_text = repository.has(&program) && !repository.has(&format!("{package}/build"));
        let read_by = match is_text {
            true => variants::interpreter(package, &manifest, &repository.read(&program)),
            false => Vec::new(),
        };
        [missing, variants::manifest(family, name, &manifest, lock), tags, read_by].concat()
    };
    repository.variants().iter().flat_map(check).collect()
}
