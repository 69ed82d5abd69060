//! Variants that Cargo does not build, and machines that lack what these need.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use lab_record::{Status, Verification};
use lab_report::Frame;

use crate::{
    checkout::{Checkout, alone},
    sixth_family::EXPERIMENT,
};

/// An adder in another language, which every machine has.
pub(crate) const SCRIPT: &str = r#"#!/usr/bin/env bash
if [[ $1 == --describe ]]; then
  echo '{"protocol":1,"family":"toys","variant":"other","measures":"addition",
    "version":"1.0.0","features":[]}' | tr -d '\n'
  exit
fi
read -r line
[[ $line =~ '"run":"'([^\"]*) ]] && run=${BASH_REMATCH[1]}
[[ $line =~ '"numbers":'([0-9]*) ]] && numbers=${BASH_REMATCH[1]}
sum=$((numbers * (numbers + 1) / 2))
echo "{\"protocol\":1,\"run\":\"$run\",\"status\":\"ok\",
  \"samples\":{\"elapsed_ns\":[$((40 * numbers))],\"sum\":[$sum]}}" | tr -d '\n'
"#;

/// A sweep with `fast` and a variant `other`, whose folder is changed first.
fn swept_with(change: impl FnOnce(&Path)) -> Frame {
    let _alone = alone();
    let checkout = Checkout::of(EXPERIMENT, &["fast", "slow", "other"]);
    change(&checkout.folder("other"));
    assert!(checkout.sweep(false, usize::MAX).finished);
    checkout.report().0
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn read_by(folder: &Path, interpreter: &str) {
    let file = folder.join("variant.toml");
    let manifest = fs::read_to_string(&file).unwrap();
    fs::write(file, format!("{manifest}interpreter = \"{interpreter}\"\n")).unwrap();
}

/// Why `other` was left out; it has no timed row then, and no program.
fn left_out(frame: &Frame) -> String {
    let rows: Vec<_> = frame.rows.iter().filter(|row| row.run.variant == "other").collect();
    assert_eq!((rows.len(), rows[0].run.status), (1, Status::Unsupported));
    let entry = frame.run_file.variants.iter().find(|entry| entry.variant == "other").unwrap();
    assert_eq!((entry.binary_sha256.as_str(), &entry.interpreter), ("", &None));
    rows[0].run.reason.clone().unwrap()
}

fn all_verified(frame: &Frame) -> bool {
    let mut rows = frame.rows.iter().filter(|row| row.run.variant == "other");
    rows.clone().count() == 1 + 8 * 2
        && rows.all(|row| row.run.verification == Verification::Verified)
}

#[test]
fn a_script_is_run_and_what_reads_it_is_recorded() {
    let frame = swept_with(|folder| {
        write(&folder.join("toys-other"), SCRIPT);
        read_by(folder, "bash");
    });
    assert!(all_verified(&frame), "{:?}", frame.rows.iter().find_map(|row| row.run.reason.clone()));
    let entry = frame.run_file.variants.iter().find(|entry| entry.variant == "other").unwrap();
    assert!(entry.interpreter.as_deref().unwrap().starts_with("bash, GNU bash, version"));
    assert_eq!(entry.binary_sha256, lab_record::sha256_hex(SCRIPT.as_bytes()));
}

#[test]
fn a_script_that_nothing_reads_is_left_out_and_the_others_are_timed() {
    let frame = swept_with(|folder| read_by(folder, "no-such-interpreter"));
    assert_eq!(left_out(&frame), "no-such-interpreter is not installed");
    let fast = frame.rows.iter().filter(|row| row.run.variant == "fast").count();
    assert_eq!(fast, 1 + 8 * 2);
}

#[test]
fn a_variant_that_builds_itself_is_built_in_its_folder() {
    let frame = swept_with(|folder| {
        fs::rename(folder.join("toys-other"), folder.join("source")).unwrap();
        write(&folder.join("build"), "#!/bin/sh\nexec cp source toys-other\n");
    });
    assert!(all_verified(&frame), "{:?}", frame.rows.iter().find_map(|row| row.run.reason.clone()));
}

#[test]
fn a_variant_that_cannot_be_built_is_left_out_with_the_last_word_of_its_build() {
    let frame = swept_with(|folder| {
        write(&folder.join("build"), "#!/bin/sh\necho go is not installed >&2\nexit 1\n");
    });
    assert_eq!(left_out(&frame), "it is not built: go is not installed");
}
