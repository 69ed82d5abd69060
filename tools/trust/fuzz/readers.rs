//! Feeds one reader of the lab, whose name is in LAB_FUZZ_READER, with what libFuzzer makes.

#![no_main]
#![forbid(unsafe_code)]

// Their good input is written by `proof fuzz --seeds`.
#[allow(dead_code)]
#[path = "../../../proof/program/src/fuzz/targets.rs"]
mod targets;

use std::{env, sync::LazyLock};

use libfuzzer_sys::fuzz_target;

static FEED: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = env::var("LAB_FUZZ_READER").expect("LAB_FUZZ_READER names a reader");
    let reader = targets::TARGETS.iter().find(|target| target.name == name);
    reader.unwrap_or_else(|| panic!("there is no reader {name}")).feed
});

fuzz_target!(|bytes: &[u8]| FEED(bytes));
