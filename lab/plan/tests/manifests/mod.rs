//! The manifests of a family, as its folders have them.

use std::fs;
use std::path::Path;

use lab_plan::Manifest;

pub fn manifests(family: &str) -> Vec<Manifest> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(family);
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |variant: std::path::PathBuf| {
        let text = fs::read_to_string(variant.join("variant.toml")).ok()?;
        let name = variant.file_name()?.to_str()?;
        Some(Manifest::parse("variant.toml", &text, family, name).unwrap())
    };
    let mut manifests: Vec<_> = names.filter_map(read).collect();
    manifests.sort_by(|a, b| a.name.cmp(&b.name));
    manifests
}
