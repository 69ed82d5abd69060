//! Which crate may know which: arrows point one way, and variants are known by nobody.

use toml::Table;

/// What each crate of the lab may depend on. A crate that is not here is a variant, or its
/// family's own test crate.
const ALLOWED: &[(&str, &[&str])] = &[
    (
        "lab-cli",
        &[
            "lab-audit",
            "lab-compare",
            "lab-corpus",
            "lab-driver",
            "lab-plan",
            "lab-probe",
            "lab-process",
            "lab-protocol",
            "lab-record",
            "lab-report",
            "lab-sim",
            "lab-stats",
        ],
    ),
    ("lab-driver", &["lab-plan", "lab-probe", "lab-protocol", "lab-record"]),
    // A plan ends in what a record begins with: the cell and its levels.
    ("lab-plan", &["lab-protocol", "lab-record"]),
    ("lab-probe", &["lab-record"]),
    ("lab-report", &["lab-record", "lab-stats"]),
    ("lab-audit", &["lab-record", "lab-stats"]),
    ("lab-compare", &["lab-stats"]),
    ("lab-corpus", &[]),
    ("lab-process", &[]),
    ("lab-programs", &[]),
    ("lab-protocol", &[]),
    ("lab-record", &[]),
    ("lab-sim", &[]),
    ("lab-stats", &[]),
    ("lab-tidy", &[]),
    // The kits alone know it: a variant knows its kit.
    ("lab-variant", &["lab-protocol"]),
    // A library for anybody, and the variant that measures it.
    ("schedulers-adaptive", &[]),
    ("schedulers-thompson", &["schedulers-adaptive", "schedulers-kit"]),
    // What back ends that keep their state in PostgreSQL share.
    ("workflows-database", &["workflows-kit"]),
    // A worker knows what an operation is; the kit starts workers and speaks their format.
    ("workflows-kit", &["lab-protocol", "lab-variant", "workflows-worker"]),
    ("workflows-worker", &["lab-protocol"]),
    ("workflows-dbos", &["workflows-database", "workflows-kit", "workflows-peer"]),
    ("workflows-dbos_sqlite", &["workflows-kit", "workflows-peer"]),
    // What back ends that are somebody else's system share.
    ("workflows-peer", &["workflows-kit"]),
    ("workflows-restate", &["workflows-kit", "workflows-peer"]),
    ("workflows-tasker", &["workflows-database", "workflows-kit", "workflows-peer"]),
    ("workflows-postgres", &["workflows-database", "workflows-kit"]),
    ("workflows-postgres_rabbitmq", &["workflows-database", "workflows-kit"]),
];

/// What the pure crates may not name: clocks, environment, processes, network.
const IMPURE: &[&str] =
    &["std::env::", "std::net", "std::process", "Instant::now", "SystemTime", "UNIX_EPOCH"];

/// The crates whose answer depends on their arguments alone.
pub const PURE: &[&str] = &["lab/audit", "lab/compare", "lab/report", "lab/stats"];

/// Complaints about the dependencies of one manifest, `family` being the folder above its own.
pub fn complaints(family: &str, manifest: &Table) -> Vec<String> {
    let name = manifest["package"]["name"].as_str().unwrap_or_default();
    let kit = format!("{family}-kit");
    let allowed: Vec<&str> = match ALLOWED.iter().find(|(crate_name, _)| *crate_name == name) {
        Some((_, allowed)) => allowed.to_vec(),
        None if name == kit => vec!["lab-protocol", "lab-variant"],
        None if name == format!("{family}-conformance") => vec!["lab-programs", "lab-protocol"],
        None => vec![kit.as_str(), "lab-protocol"],
    };
    let ours = |dependency: &&String| {
        dependency.starts_with("lab-") || dependency.starts_with(&format!("{family}-"))
    };
    dependencies(manifest, "dependencies")
        .filter(ours)
        .filter(|dependency| !allowed.contains(&dependency.as_str()))
        .map(|dependency| format!("{name} may not depend on {dependency}"))
        .collect()
}

/// Complaints about a source file of a pure crate.
pub fn impurities(path: &str, text: &str) -> Vec<String> {
    let named = IMPURE.iter().filter(|word| text.contains(**word));
    named.map(|word| format!("{path} names {word}, and its crate is pure")).collect()
}

/// The names in a table of dependencies.
pub fn dependencies<'a>(manifest: &'a Table, key: &str) -> impl Iterator<Item = &'a String> {
    manifest.get(key).and_then(|table| table.as_table()).into_iter().flat_map(Table::keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(family: &str, name: &str, dependency: &str) -> Vec<String> {
        let text =
            format!("[package]\nname = \"{name}\"\n[dependencies]\n{dependency}.workspace = true");
        complaints(family, &text.parse().unwrap())
    }

    #[test]
    fn an_arrow_against_the_stream_is_found() {
        assert!(check("lab", "lab-driver", "lab-plan").is_empty());
        assert_eq!(check("lab", "lab-plan", "lab-driver").len(), 1);
        assert_eq!(check("lab", "lab-sim", "lab-protocol").len(), 1);
    }

    #[test]
    fn a_variant_knows_its_kit_and_the_protocol_alone() {
        assert!(check("runtimes", "runtimes-smol", "runtimes-kit").is_empty());
        assert_eq!(check("runtimes", "runtimes-smol", "lab-record").len(), 1);
        assert_eq!(check("runtimes", "runtimes-smol", "runtimes-floor").len(), 1);
        assert_eq!(check("runtimes", "runtimes-kit", "runtimes-smol").len(), 1);
        assert!(check("runtimes", "runtimes-kit", "lab-variant").is_empty());
        assert_eq!(check("runtimes", "runtimes-smol", "lab-variant").len(), 1);
        assert_eq!(check("lab", "lab-driver", "lab-report").len(), 1);
    }

    #[test]
    fn a_clock_in_a_pure_crate_is_found() {
        assert!(impurities("a.rs", "let x = 1;").is_empty());
        assert_eq!(impurities("a.rs", "let t = Instant::now();").len(), 1);
    }
}
