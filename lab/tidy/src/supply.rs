//! Where code and images come from: licences and sources of crates, digests of images.

use std::collections::BTreeMap;

use toml::{Table, Value};

/// The one source that a crate of Cargo.lock may have, as the lock begins it.
const SOURCE: &str = "registry+";

/// Complaints about crates of the lock whose licence deny.toml does not allow, whose source is not
/// the registry, or that come without a checksum. `licences` are rows of name, version, expression.
pub fn crates(lock: &Table, deny: &Table, licences: &str) -> Vec<String> {
    let known: BTreeMap<(&str, &str), &str> = rows(licences)
        .filter_map(|row| Some(((*row.first()?, *row.get(1)?), *row.get(2)?)))
        .collect();
    let allowed: Vec<&str> = deny["licenses"]["allow"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let sources = lock["package"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_table)
        .filter(|package| package.contains_key("source"));
    let mut complaints = Vec::new();
    for package in sources {
        let text = |key: &str| package.get(key).and_then(Value::as_str).unwrap_or_default();
        let (name, version) = (text("name"), text("version"));
        if !text("source").starts_with(SOURCE) || text("checksum").len() != 64 {
            complaints.push(format!("{name} {version} comes from elsewhere or has no checksum"));
        }
        match known.get(&(name, version)) {
            None => complaints.push(format!(
                "third_party/licences.tsv lacks {name} {version}; tools/supply-chain/record adds it"
            )),
            Some(expression) if !allows(expression, &allowed) => {
                complaints.push(format!("{name} {version} is {expression}, see deny.toml"));
            }
            Some(_) => {}
        }
    }
    complaints
}

/// Complaints about actions of others in a workflow, an action or a page that are named by a tag,
/// which their owner may move, or whose version no comment tells. `OWNER/REPOSITORY` is ours.
pub fn actions(path: &str, text: &str) -> Vec<String> {
    let complaint = |(number, line): (usize, &str)| {
        let (_, used) = line.split_once("uses:")?;
        let before = line.split("uses:").next()?.trim_matches(['-', ' ']);
        let used = used.trim().trim_start_matches(['"', '\'']);
        if !before.is_empty() || used.starts_with("./") || used.starts_with("OWNER/REPOSITORY/") {
            return None;
        }
        let (action, comment) = used.split_once('#').unwrap_or((used, ""));
        let action = action.trim().trim_end_matches(['"', '\'']);
        let (_, revision) = action.split_once('@').unwrap_or((action, ""));
        let is_digest = revision.len() == 71 && revision.starts_with("sha256:");
        let is_hash = is_digest
            || revision.len() == 40 && revision.bytes().all(|byte| byte.is_ascii_hexdigit());
        let version = comment.trim().strip_prefix('v').unwrap_or_default();
        let has_version = version.starts_with(|one: char| one.is_ascii_digit());
        (!is_hash || !has_version).then(|| {
            let number = number + 1;
            format!("{path}:{number}: {action} is not `ACTION@HASH # vVERSION`, 40 digits of hash")
        })
    };
    text.lines().enumerate().filter_map(complaint).collect()
}

/// Complaints about dependencies without a version in a manifest.
pub fn wildcards(path: &str, manifest: &Table) -> Vec<String> {
    let tables = ["dependencies", "dev-dependencies", "build-dependencies"];
    let workspace = manifest.get("workspace").and_then(Value::as_table);
    let of = |table: &Table, key: &str| table.get(key).and_then(Value::as_table).cloned();
    let mut found: Vec<Table> = tables.iter().filter_map(|key| of(manifest, key)).collect();
    found.extend(workspace.and_then(|table| of(table, "dependencies")));
    let is_wild = |value: &Value| {
        let version = value.as_str().or_else(|| value.get("version")?.as_str());
        version.is_some_and(|version| version.contains('*'))
    };
    let wild = found.iter().flatten().filter(|(_, value)| is_wild(value));
    wild.map(|(name, _)| format!("{path}: {name} takes any version")).collect()
}

/// Complaints about images that are named without a digest in a file of ours. An image of
/// `localhost` is built here, `scratch` is nothing, and a variable is the user's choice.
pub fn images(path: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let named = line.strip_prefix("image: ").or_else(|| {
            let rest = line.strip_prefix("FROM ")?;
            rest.split_whitespace().next()
        });
        let Some(image) = named else { continue };
        let ours = image.starts_with("localhost/") || image.starts_with("${LAB_IMAGE:-localhost/");
        let free = ours || image == "scratch" || image == "${BASE}";
        if !free && !image.contains("@sha256:") && !image.contains("@${") {
            complaints.push(format!("{path}:{}: {image} has no digest", index + 1));
        }
    }
    complaints
}

/// Rows of a table of ours, without its comments.
pub fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split('\t').collect())
}

/// Whether a licence expression of SPDX can be met by licences of the list. AND binds tighter than
/// OR, WITH belongs to the licence before it.
fn allows(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace(" WITH ", "\u{1}");
    let words: Vec<String> =
        spaced.split_whitespace().map(|word| word.replace('\u{1}', " WITH ")).collect();
    let mut rest = words.as_slice();
    either(&mut rest, allowed) && rest.is_empty()
}

fn either(words: &mut &[String], allowed: &[&str]) -> bool {
    let mut met = both(words, allowed);
    while words.first().is_some_and(|word| word == "OR") {
        *words = &words[1..];
        met |= both(words, allowed);
    }
    met
}

fn both(words: &mut &[String], allowed: &[&str]) -> bool {
    let mut met = one(words, allowed);
    while words.first().is_some_and(|word| word == "AND") {
        *words = &words[1..];
        met &= one(words, allowed);
    }
    met
}

fn one(words: &mut &[String], allowed: &[&str]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    *words = rest;
    if first != "(" {
        return allowed.contains(&first.as_str());
    }
    let met = either(words, allowed);
    match words.split_first() {
        Some((last, rest)) if last == ")" => *words = rest,
        _ => return false,
    }
    met
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_read_as_spdx_means_them() {
        let allowed = ["MIT", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"];
        for yes in [
            "MIT",
            "GPL-3.0 OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
            "GPL-3.0 AND GPL-2.0 OR MIT",
        ] {
            assert!(allows(yes, &allowed), "{yes}");
        }
        for no in ["GPL-3.0", "MIT AND GPL-3.0", "Apache-2.0", "(MIT", "MIT)", ""] {
            assert!(!allows(no, &allowed), "{no}");
        }
    }

    fn check(package: &str, licences: &str) -> Vec<String> {
        let deny = "[licenses]\nallow = [\"MIT\"]\n".parse().unwrap();
        crates(&format!("[[package]]\n{package}").parse().unwrap(), &deny, licences)
    }

    #[test]
    fn a_crate_of_another_source_or_licence_is_found() {
        let sum = "0".repeat(64);
        let good = format!(
            "name = \"a\"\nversion = \"1.0.0\"\nsource = \"registry+x\"\nchecksum = \"{sum}\""
        );
        assert_eq!(check(&good, "# head\na\t1.0.0\tMIT\n"), [""; 0]);
        assert_eq!(check(&good, "a\t1.0.0\tGPL-3.0\n").len(), 1);
        assert_eq!(check(&good, "a\t1.0.1\tMIT\n").len(), 1);
        assert_eq!(check(&good.replace("registry+", "git+"), "a\t1.0.0\tMIT\n").len(), 1);
        let own = "name = \"a\"\nversion = \"1.0.0\"";
        assert_eq!(check(own, ""), [""; 0]);
    }

    #[test]
    fn an_image_without_a_digest_is_found() {
        let text = "FROM scratch\nFROM ${BASE} AS build\nimage: localhost/a:1\n\
                    image: a/b:1@${DIGEST:?set it}\nimage: a@sha256:0\n";
        assert_eq!(images("f", text), [""; 0]);
        assert_eq!(images("f", "FROM debian:sid\nimage: a/b:1\n").len(), 2);
    }

    #[test]
    fn a_dependency_of_any_version_is_found() {
        let check = |text: &str| wildcards("f", &text.parse().unwrap()).len();
        assert_eq!(check("[dependencies]\na = \"1\"\nb.workspace = true\n"), 0);
        assert_eq!(check("[dev-dependencies]\na = \"*\"\n"), 1);
        assert_eq!(check("[workspace.dependencies]\na = { version = \"1.*\" }\n"), 1);
    }
}
