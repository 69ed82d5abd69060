//! The program that tests of whole checkouts start.

use std::{env, fs, path::PathBuf};

/// `lab`: Bazel names it in a variable, Cargo builds it beside the folder of this test.
pub fn lab() -> PathBuf {
    let given = env::var_os("CARGO_BIN_EXE_lab").map(|path| fs::canonicalize(path).unwrap());
    let beside = || env::current_exe().unwrap().parent().unwrap().with_file_name("lab");
    let path = given.unwrap_or_else(beside);
    assert!(path.is_file(), "build lab first: cargo build --workspace");
    path
}
