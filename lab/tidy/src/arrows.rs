//! Which crate may know which: arrows point one way, and variants are known by nobody.

use toml::Table;

/// What families may depend on: their crate, and the smallest one.
const OF_FAMILY: &[&str] = &["lab-family", "lab-protocol", "lab-record", "lab-report", "lab-stats"];

/// What each crate of the lab may depend on. A family's crates follow [`in_family`].
const ALLOWED: &[(&str, &[&str])] = &[
    (
        "lab-cli",
        &[
            "lab-audit",
            "lab-compare",
            "lab-console",
            "lab-corpus",
            "lab-driver",
            "lab-families",
            "lab-family",
            "lab-import",
            "lab-plan",
            "lab-process",
            "lab-protocol",
            "lab-record",
            "lab-report",
            "lab-sim",
            "lab-site",
            "lab-stats",
            "lab-watch",
        ],
    ),
    ("lab-driver", &["lab-family", "lab-plan", "lab-process", "lab-protocol", "lab-record"]),
    // A family ends in what a record begins with: the cell and its levels.
    ("lab-family", &["lab-protocol", "lab-record"]),
    ("lab-plan", &["lab-family", "lab-record"]),
    ("lab-report", &["lab-family", "lab-record", "lab-stats"]),
    // What benchmark tools write is read in one place.
    ("lab-audit", &["lab-import", "lab-record", "lab-stats"]),
    ("lab-claims", &["lab-audit", "lab-stats"]),
    // Its engine, lab/compare/src/run, starts programs.
    ("lab-compare", &["lab-console", "lab-driver", "lab-process", "lab-record", "lab-stats"]),
    // What all commands have in common: it says how the errors of these end a command.
    ("lab-console", &["lab-driver", "lab-plan", "lab-record"]),
    ("lab-corpus", &[]),
    ("lab-families", OF_FAMILY),
    ("lab-import", &["lab-stats"]),
    ("lab-process", &[]),
    ("lab-protocol", &[]),
    ("lab-record", &[]),
    ("lab-sim", &[]),
    // Its pages know none of these: lab/site/src/records reads and serves records.
    (
        "lab-site",
        &[
            "lab-console",
            "lab-families",
            "lab-family",
            "lab-import",
            "lab-plan",
            "lab-record",
            "lab-report",
            "lab-stats",
        ],
    ),
    ("lab-stats", &[]),
    ("lab-tidy", &[]),
    ("lab-watch", &["lab-family", "lab-process", "lab-protocol", "lab-record", "lab-stats"]),
    // The kits alone know it: a variant knows its kit.
    ("lab-variant", &["lab-protocol"]),
    // A library for anybody, which a variant measures.
    ("schedulers-adaptive", &[]),
];

/// What the pure crates may not name: clocks, environment, processes, network, their own engine.
const IMPURE: &[&str] = &[
    "std::env::",
    "std::net",
    "std::process",
    "Instant::now",
    "SystemTime",
    "UNIX_EPOCH",
    "lab_console",
    "lab_process",
    "crate::run::",
    "crate::records::",
];

/// Impure rooms of these crates: they start programs, read files or answer a network.
const ENGINES: &[&str] = &["lab/compare/src/run/", "lab/site/src/records/"];

/// The crates whose answer depends on their arguments alone.
pub const PURE: &[&str] =
    &["lab/audit", "lab/compare", "lab/import", "lab/report", "lab/site", "lab/stats"];

/// Complaints about the dependencies of the package in `folder`, by its manifest. `is_variant` says
/// whether there is a variant in a folder.
pub fn complaints(
    folder: &str,
    manifest: &Table,
    is_variant: impl Fn(&str) -> bool,
) -> Vec<String> {
    let family = folder.split('/').next().unwrap_or_default();
    let name = manifest["package"]["name"].as_str().unwrap_or_default();
    let own =
        |dependency: &str| dependency.strip_prefix(family)?.strip_prefix('-').map(str::to_owned);
    let is_allowed = |dependency: &str| match ALLOWED.iter().find(|(known, _)| *known == name) {
        Some((_, allowed)) => allowed.contains(&dependency),
        None if folder.starts_with("proof/") => true,
        None => in_family(own(name).as_deref(), dependency, own(dependency).as_deref(), |other| {
            is_variant(&format!("{family}/{other}"))
        }),
    };
    dependencies(manifest, "dependencies")
        .filter(|dependency| {
            let ours = ["lab-", "proof-"].iter().any(|start| dependency.starts_with(start));
            ours || own(dependency).is_some()
        })
        .filter(|dependency| !is_allowed(dependency))
        .map(|dependency| format!("{name} may not depend on {dependency}"))
        .collect()
}

/// Whether a crate of a family may depend on another, which `own` names within the family. Nobody
/// knows a variant or the tests; a kit knows the protocol, and the libraries of its family, which
/// know it as variants do.
fn in_family(
    name: Option<&str>,
    dependency: &str,
    own: Option<&str>,
    is_variant: impl Fn(&str) -> bool,
) -> bool {
    match (name, dependency, own) {
        (_, "lab-protocol", _) | (Some("kit"), "lab-variant", _) => true,
        (.., None) => false,
        (.., Some(own)) => !is_variant(own),
    }
}

/// Complaints about a source file of a pure crate, but for [`ENGINES`].
pub fn impurities(path: &str, text: &str) -> Vec<String> {
    if ENGINES.iter().any(|room| path.starts_with(room)) {
        return Vec::new();
    }
    let named = IMPURE.iter().filter(|word| text.contains(**word));
    named.map(|word| format!("{path} names {word}, and its crate is pure")).collect()
}

/// A complaint about a source file of a family, in `lab/families/src/FAMILY/`, that names another
/// module of their crate: a family knows no other.
pub fn of_another(path: &str, text: &str) -> Option<String> {
    let (family, file) = path.strip_prefix("lab/families/src/")?.split_once('/')?;
    let own = format!("{family}::");
    let names = text.split("crate::").skip(1).any(|rest| !rest.starts_with(&own));
    // Unit tests are a module of the file that they test.
    let above = if file == "mod.rs" { "super::" } else { "super::super::" };
    let climbs = text.replace("use super::*;", "").contains(above);
    (names || climbs).then(|| format!("{path} names what is no part of the family {family}"))
}

/// The names in a table of dependencies.
pub fn dependencies<'a>(manifest: &'a Table, key: &str) -> impl Iterator<Item = &'a String> {
    manifest.get(key).and_then(|table| table.as_table()).into_iter().flat_map(Table::keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In these families everything but kits, tests and `database` is a variant.
    fn check(name: &str, dependency: &str) -> Vec<String> {
        let text =
            format!("[package]\nname = \"{name}\"\n[dependencies]\n{dependency}.workspace = true");
        let is_variant =
            |folder: &str| !["/kit", "/database"].iter().any(|end| folder.ends_with(end));
        complaints(&name.replacen('-', "/", 1), &text.parse().unwrap(), is_variant)
    }

    #[test]
    fn an_arrow_against_the_stream_is_found() {
        assert!(check("lab-driver", "lab-plan").is_empty());
        assert_eq!(check("lab-plan", "lab-driver").len(), 1);
        assert_eq!(check("lab-sim", "lab-protocol").len(), 1);
        assert_eq!(check("lab-driver", "lab-report").len(), 1);
        assert_eq!(check("schedulers-adaptive", "lab-protocol").len(), 1);
        assert_eq!(check("lab-report", "proof-kit").len(), 1);
        assert!(check("proof-kit", "lab-driver").is_empty());
    }

    #[test]
    fn a_variant_knows_the_protocol_and_the_libraries_of_its_family_alone() {
        for (name, dependency, expected) in [
            ("runtimes-smol", "runtimes-kit", 0),
            ("runtimes-smol", "lab-protocol", 0),
            ("runtimes-smol", "lab-record", 1),
            ("runtimes-smol", "lab-variant", 1),
            ("runtimes-smol", "runtimes-floor", 1),
            ("runtimes-kit", "runtimes-smol", 1),
            ("runtimes-kit", "lab-variant", 0),
            ("workflows-new", "workflows-database", 0),
            ("workflows-database", "workflows-kit", 0),
            ("workflows-database", "workflows-new", 1),
        ] {
            assert_eq!(check(name, dependency).len(), expected, "{name} {dependency}");
        }
    }

    #[test]
    fn a_family_that_names_another_is_found() {
        let found = |file, text| of_another(&format!("lab/families/src/{file}"), text).is_some();
        assert!(!found("smol/report/a.rs", "use crate::smol::b;\nuse super::c;"));
        assert!(!found("lib.rs", "use crate::smol::Smol;"));
        assert!(!found("smol/mod.rs", "use super::*;"));
        assert!(found("smol/mod.rs", "use super::floor::Floor;"));
        assert!(found("smol/a.rs", "use super::super::floor::Floor;"));
        assert!(found("smol/a.rs", "use crate::{floor::Floor, smol::b};"));
        assert!(found("smol/a.rs", "use crate::floor::Floor;"));
    }

    #[test]
    fn a_clock_in_a_pure_crate_is_found() {
        assert!(impurities("a.rs", "let x = 1;").is_empty());
        assert_eq!(impurities("a.rs", "let t = Instant::now();").len(), 1);
        assert_eq!(impurities("lab/compare/src/a.rs", "use crate::run::Options;").len(), 1);
        assert!(impurities("lab/compare/src/run/a.rs", "Instant::now()").is_empty());
    }
}
