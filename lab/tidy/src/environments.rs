//! The environments' recipes: their versions as docs/ENVIRONMENTS.md has them.

use std::collections::BTreeSet;

use crate::supply::rows;

/// One row of the page's table.
struct Row<'a> {
    name: &'a str,
    rustc: &'a str,
    bazel: &'a str,
    gnuplot: &'a str,
    hyperfine: &'a str,
}

/// Complaints about versions: rustc exactly, Bazel and gnuplot by major version in every
/// environment, and those of Debian as they are recorded.
pub fn versions(page: &str, rustc: &str, bazel_version: &str, packages: &str) -> Vec<String> {
    let table: Vec<Row> = page.lines().filter_map(row).collect();
    let mut complaints = Vec::new();
    if !["nix", "debian"].iter().all(|name| table.iter().any(|row| row.name == *name)) {
        complaints.push("docs/ENVIRONMENTS.md lacks the row of nix or of debian".to_owned());
    }
    for row in &table {
        let name = row.name;
        if row.rustc != rustc {
            complaints.push(format!("{name} has rustc {}, not {rustc}", row.rustc));
        }
        if major(row.bazel) != major(bazel_version.trim()) {
            complaints.push(format!("{name} has Bazel {}, not {bazel_version}", row.bazel));
        }
        if major(row.gnuplot) != major(table[0].gnuplot) {
            complaints.push(format!("{name} has another gnuplot: {}", row.gnuplot));
        }
    }
    for row in table.iter().filter(|row| row.name == "debian") {
        for (package, told) in [
            ("bazel-bootstrap", row.bazel),
            ("gnuplot-nox", row.gnuplot),
            ("hyperfine", row.hyperfine),
        ] {
            let found = rows(packages).find(|row| row.first() == Some(&package));
            let found = found.and_then(|row| row.get(1).copied()).unwrap_or("missing");
            // A Debian version may begin with an epoch.
            let upstream = found.split_once(':').map_or(found, |(_, rest)| rest);
            if major(upstream) != major(told) {
                complaints.push(format!("packages.tsv has {package} {found}, the page {told}"));
            }
        }
    }
    complaints
}

/// Complaints about packages that ./enter asks for and the recorded list lacks.
pub fn recorded(enter: &str, packages: &str) -> Vec<String> {
    let list = match asked(enter) {
        Ok(list) => list,
        Err(complaint) => return vec![complaint],
    };
    let has = |name: &&str| rows(packages).any(|row| row.first() == Some(name));
    let missing = list.into_iter().filter(|name| !has(name));
    missing.map(|name| format!("packages.tsv lacks {name}; tools/sbom/record adds it")).collect()
}

/// Complaints about packages that ./enter asks for and the flake's shells lack.
pub fn in_the_flake(enter: &str, flake: &str) -> Vec<String> {
    let list = match asked(enter) {
        Ok(list) => list,
        Err(complaint) => return vec![complaint],
    };
    let is_part = |c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_';
    let words: BTreeSet<&str> = flake.split(is_part).collect();
    // nixpkgs writes the version behind some names: postgresql_18.
    let is_named = |word: &str, name: &str| match word.strip_prefix(name) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('_').is_some_and(|end| end.parse::<u32>().is_ok()),
        None => false,
    };
    let lacks = |name: &&str| {
        nix_name(name).is_some_and(|nix| !words.iter().any(|word| is_named(word, nix)))
    };
    list.into_iter().filter(lacks).map(|name| format!("flake.nix lacks ./enter's {name}")).collect()
}

/// What nixpkgs calls a package of Debian; `None` where a shell of Nix needs nothing for it.
fn nix_name(debian: &str) -> Option<&str> {
    match debian {
        // The shell's own compiler, and what only Debian's Bazel has in packages.
        "g++"
        | "gcc"
        | "libc6-dev"
        | "bazel-rules-rust"
        | "bazel-rules-shell"
        | "default-jre-headless" => None,
        "bazel-bootstrap" => Some("bazel"),
        "ca-certificates" => Some("cacert"),
        "gnuplot-nox" => Some("gnuplot"),
        "nix-bin" => Some("nix"),
        "npm" => Some("nodejs"),
        "python3-jsonschema" => Some("jsonschema"),
        "python3-venv" => Some("python3"),
        same => Some(same),
    }
}

/// The packages that ./enter asks for.
fn asked(enter: &str) -> Result<Vec<&str>, String> {
    let of = |name: &str| {
        let begins = format!("\n{name}=(");
        let found = enter.split_once(&begins).and_then(|(_, rest)| rest.split_once(')'));
        let (list, _) = found.ok_or_else(|| format!("enter has no list {name}"))?;
        Ok::<_, String>(list.split_whitespace())
    };
    Ok(of("PACKAGES")?.chain(of("PEERS")?).collect())
}

/// The versions that the page promises of Nix: rustc, Bazel, gnuplot and hyperfine.
pub fn promised_by_nix(page: &str) -> Option<[&str; 4]> {
    let nix = page.lines().filter_map(row).find(|row| row.name == "nix")?;
    Some([nix.rustc, nix.bazel, nix.gnuplot, nix.hyperfine])
}

/// Complaints about a flake that writes a compiler's version instead of reading rustup's, or lacks
/// an output that the page promises.
pub fn flake(flake: &str) -> Vec<String> {
    let wanted = [
        "lib.importTOML ./rust-toolchain.toml",
        "builtins.readFile ./.bazelversion",
        "devShells = ",
        "default = pkgs.mkShell",
        "gpu = cuda.mkShell",
        "image = pkgs.dockerTools",
        "checks = ",
        "apps = ",
    ];
    let missing = wanted.iter().filter(|text| !flake.contains(**text));
    missing.map(|text| format!("flake.nix has no `{text}`")).collect()
}

fn row(line: &str) -> Option<Row<'_>> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let [_, name, _, rustc, bazel, gnuplot, hyperfine, _] = cells[..] else { return None };
    let is_version = rustc.starts_with(|first: char| first.is_ascii_digit());
    is_version.then_some(Row { name, rustc, bazel, gnuplot, hyperfine })
}

fn major(version: &str) -> &str {
    version.split(['.', '+', '-']).next().unwrap_or(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "| environment | recipe | rustc | bazel | gnuplot | hyperfine |\n\
                        | nix | a | 1.95.0 | 7.6.0 | 6.0.4 | 1.20.0 |\n\
                        | debian | b | 1.95.0 | 7.7.1 | 6.0.3 | 2.0.0 |\n";
    const PACKAGES: &str = "bazel-bootstrap\t7.7.1+ds-1\tall\ngnuplot-nox\t6.0.3+dfsg1-2\tamd64\n\
                            hyperfine\t2.0.0-1\tamd64\n";

    #[test]
    fn versions_that_differ_are_found() {
        let check = |page: &str, packages: &str| versions(page, "1.95.0", "7.6.0\n", packages);
        assert_eq!(check(PAGE, PACKAGES), [""; 0]);
        assert_eq!(check(&PAGE.replacen("1.95.0", "1.96.0", 1), PACKAGES).len(), 1);
        assert_eq!(check(&PAGE.replace("7.6.0", "8.6.0"), PACKAGES).len(), 1);
        assert_eq!(check(PAGE, &PACKAGES.replace("\t2.0.0", "\t1:3.0.0")).len(), 1);
        assert!(!check("", PACKAGES).is_empty());
    }

    #[test]
    fn a_package_that_the_flake_lacks_is_found() {
        let enter = "\nPACKAGES=(gcc gnuplot-nox)\nPEERS=(jq nix-bin postgresql)\n";
        let flake = "[ gnuplot jq nix postgresql_18 ]";
        assert_eq!(in_the_flake(enter, flake), [""; 0]);
        // nixpkgs and postgresql_jdbc are words of their own.
        let other = "inherit (nixpkgs) lib; [ gnuplot postgresql_jdbc ]";
        assert_eq!(in_the_flake(enter, other).len(), 3);
        assert_eq!(in_the_flake("", flake).len(), 1);
    }

    #[test]
    fn a_package_that_is_not_recorded_is_found() {
        let enter = |core: &str, peers: &str| format!("\nPACKAGES=({core})\nPEERS=({peers})\n");
        assert_eq!(recorded(&enter("hyperfine\n  gnuplot-nox", ""), PACKAGES), [""; 0]);
        assert_eq!(recorded(&enter("hyperfine jq", ""), PACKAGES).len(), 1);
        assert_eq!(recorded(&enter("hyperfine", "jq ruby"), PACKAGES).len(), 2);
        assert_eq!(recorded("\nPACKAGES=(hyperfine)\n", PACKAGES).len(), 1);
        assert_eq!(recorded("", PACKAGES).len(), 1);
    }
}
