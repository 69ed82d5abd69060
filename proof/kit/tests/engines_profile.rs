//! `tools/search/profile` tells where an engine's time goes, by function and by kind.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use proof_kit::engines::{family_dir, skipped, variant};

/// So many lines that reading them outweighs starting the program.
const LINES: usize = 20_000;

/// Lines that hold the word in another field than the one that is searched, so that each is parsed.
fn corpus(folder: &Path) {
    let line = |number: usize| {
        let text = format!("line {number} of many, and of no great length");
        format!(
            "{{\"type\":\"user\",\"note\":\"needle\",\"message\":{{\"content\":\"{text}\"}}}}\n"
        )
    };
    let lines: String = (0..LINES).map(line).collect();
    fs::write(folder.join("lines.jsonl"), lines).unwrap();
}

fn profile(engine: &str, bin_dir: &Path, corpus: &Path, tool: &str) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/search/profile");
    let mut command = Command::new(script);
    command.arg(engine).arg(corpus).args(["needle", "--with", tool, "--repeat", "3", "--bin-dir"]);
    command.arg(bin_dir).output().unwrap()
}

/// Of each row the share of its own: by kind, and by function.
fn shares(table: &str) -> [BTreeMap<&str, f64>; 2] {
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0], ["kind", "name", "own", "with_callees"]);
    ["group", "function"].map(|kind| {
        let ours = rows.iter().filter(|row| row[0] == kind);
        ours.map(|row| (row[1], row[2].parse().unwrap())).collect()
    })
}

#[test]
fn cpu_time_is_told_by_function_and_by_the_published_kinds() {
    let dir = tempfile::tempdir().unwrap();
    corpus(dir.path());
    let engine = variant(&family_dir("engines").join("threads"));
    let bin_dir = engine.program.parent().unwrap();
    let mut profiled = 0;
    for tool in ["perf", "callgrind"] {
        let output = profile(&engine.name, bin_dir, dir.path(), tool);
        let said = String::from_utf8_lossy(&output.stderr);
        let lacks = ["the kernel lets perf sample nothing", "can be used here: install valgrind"];
        if !output.status.success() && lacks.iter().any(|lack| said.contains(lack)) {
            continue;
        }
        assert!(output.status.success(), "{tool}: {said}");
        let table = String::from_utf8_lossy(&output.stdout);
        let [kinds, functions] = shares(&table);
        let whole: f64 = kinds.values().sum();
        assert!((0.98..=1.0001).contains(&whole), "{tool}: {whole}: {table}");
        assert!(kinds["JSON"] > 0.1, "{tool}: {table}");
        assert!(functions.keys().any(|name| name.contains("::")), "{tool}: {table}");
        profiled += 1;
    }
    if profiled == 0 {
        skipped("neither perf nor valgrind can be used here");
    }
}
