//! The scripts that the program carries are those of `plots/`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use lab_families::PLOTS;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn every_script_is_carried_as_it_is() {
    let entries = fs::read_dir(root().join("plots")).unwrap().map(Result::unwrap);
    let is_script = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "gp");
    let written: BTreeMap<String, String> = entries
        .map(|entry| entry.path())
        .filter(is_script)
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect();
    let own = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
    let carried: BTreeMap<String, String> = PLOTS.iter().map(own).collect();
    assert_eq!(carried.keys().collect::<Vec<_>>(), written.keys().collect::<Vec<_>>());
    assert!(carried == written, "a text differs from its file: build again");
}
