//! `tools/trust/fuzz/run` with a compiler and a libFuzzer that only say what was found.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};

use lab_tidy::repository::Repository;

/// `cargo run … --seeds FOLDER` names two readers, and `cargo fuzz build` makes libFuzzer, which
/// takes as long as it may. `query` breaks once the file `bug` is there.
const CARGO: &str = r#"#!/bin/sh
case "$*" in
*--seeds*) for last; do :; done; mkdir -p "$last/query" "$last/http" ;;
*"fuzz build"*)
    cd ../../.. && mkdir -p target/fuzz/x86_64-unknown-linux-gnu/release
    cp libfuzzer target/fuzz/x86_64-unknown-linux-gnu/release/readers ;;
esac
"#;

const LIBFUZZER: &str = r##"#!/bin/sh
for word; do
    case "$word" in
    -max_total_time=*) seconds=${word#*=} ;;
    -artifact_prefix=*) prefix=${word#*=} ;;
    esac
done
echo "$LAB_FUZZ_READER $seconds" >> "$(dirname "$0")/calls"
echo "#2 INITED cov: 7 ft: 9 corp: 3/30b" >&2
if [ -e "${prefix%/*}/../bug" ] && [ "$LAB_FUZZ_READER" = query ]; then
    echo x > "${prefix}crash-1"; exit 77
fi
echo "#9 DONE   cov: 8 ft: 10 corp: 4/31b" >&2
echo "Done 50 runs in $seconds second(s)" >&2
echo "stat::number_of_executed_units: 50" >&2
"##;

fn fuzz(folder: &Path, words: &[&str]) -> Output {
    let path = env::var_os("PATH").unwrap();
    let places = [folder.to_owned()].into_iter().chain(env::split_paths(&path));
    Command::new("python3")
        .arg(folder.join("tools/trust/fuzz/run"))
        .arg(folder.join("kept"))
        .args(words)
        .current_dir(folder)
        .env("PATH", env::join_paths(places).unwrap())
        .output()
        .expect("python3 is one of the tools of every environment")
}

fn said(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.stdout.is_empty(), "{errors}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn each_reader_gets_its_seconds_over_all_calls_and_what_breaks_it_is_named() {
    let ours = Repository::of_package(env!("CARGO_MANIFEST_DIR"));
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    fs::create_dir_all(folder.join("tools/trust/fuzz")).unwrap();
    let tool = "tools/trust/fuzz/run";
    fs::copy(ours.root().join(tool), folder.join(tool)).unwrap();
    for (name, text) in [("cargo", CARGO), ("libfuzzer", LIBFUZZER)] {
        fs::write(folder.join(name), text).unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    let head = "target\tinputs\tseconds\tbranches\tcorpus\tbroken\n";
    let first = fuzz(folder, &["--seconds", "400"]);
    assert_eq!(first.status.code(), Some(0));
    assert_eq!(said(&first), format!("{head}http\t100\t400\t8\t4\t-\nquery\t100\t400\t8\t4\t-\n"));
    let program = folder.join("target/fuzz/x86_64-unknown-linux-gnu/release");
    let calls = || fs::read_to_string(program.join("calls")).unwrap();
    assert_eq!(calls(), "http 300\nhttp 100\nquery 300\nquery 100\n");

    fs::write(folder.join("kept/bug"), "").unwrap();
    let more = fuzz(folder, &["query", "--seconds", "450"]);
    assert_eq!(more.status.code(), Some(1));
    assert_eq!(said(&more), format!("{head}query\t100\t400\t7\t3\tbroken-crash-1\n"));
    assert!(calls().ends_with("query 50\n"), "{}", calls());
    assert_eq!(fuzz(folder, &["other"]).status.code(), Some(2), "there is no such reader");
}
