//! The program; all of it is in the library, which the engines of the lab measure.

#![forbid(unsafe_code)]

use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    jsonl_search::answer(&arguments)
}
