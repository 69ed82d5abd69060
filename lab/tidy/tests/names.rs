//! The rooms that every family shares name no family and no variant.

use lab_tidy::repository::Repository;

/// The shared rooms.
const SHARED: [&str; 5] =
    ["lab/plan/src/", "lab/driver/src/", "lab/cli/src/", "lab/report/src/", "lab/family/src/"];

/// Families as words anywhere, variants as quoted names: many a variant's name is a plain word.
fn named(text: &str, variants: &[(String, String)]) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words: Vec<&str> = text.split(|c| !is_part(c)).collect();
    let mut found = Vec::new();
    for (family, variant) in variants {
        let quoted = [format!("\"{variant}\""), format!("`{variant}`")];
        if quoted.iter().any(|name| text.contains(name.as_str())) {
            found.push(format!("the variant {family}/{variant}"));
        }
        let family = format!("the family {family}");
        let word = family.rsplit(' ').next().unwrap_or_default();
        if words.contains(&word) && !found.contains(&family) {
            found.push(family);
        }
    }
    found
}

#[test]
fn shared_rooms_name_no_family_and_no_variant() {
    let ours = Repository::of_package(env!("CARGO_MANIFEST_DIR"));
    let variants = ours.variants();
    let split = |package: &String| {
        let (family, variant) = package.split_once('/')?;
        Some((family.to_owned(), variant.to_owned()))
    };
    let variants: Vec<_> = variants.iter().filter_map(split).collect();
    assert!(variants.len() > 30, "only {} variants were found", variants.len());
    let files = ours.files();
    let shared = files.iter().filter(|file| SHARED.iter().any(|room| file.starts_with(room)));
    let complaints: Vec<String> = shared
        .filter(|file| file.ends_with(".rs"))
        .flat_map(|file| {
            let names = named(&ours.read(file), &variants).into_iter();
            names.map(|name| format!("{file} names {name}")).collect::<Vec<_>>()
        })
        .collect();
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn a_name_is_found() {
    let variants = [("runtimes".to_owned(), "smol".to_owned())];
    assert_eq!(named("if family == \"runtimes\" {", &variants), ["the family runtimes"]);
    assert_eq!(named("like `smol`, faster", &variants), ["the variant runtimes/smol"]);
    assert!(named("a smol thing in async_runtimes", &variants).is_empty());
}
