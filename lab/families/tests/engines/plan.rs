//! Plans of the search comparison.

use std::path::{Path, PathBuf};

use lab_families::engines::Engines;
use lab_family::{InputError, Places};
use lab_plan::{Plan, PlannedRun};
use lab_protocol::engines::{Granularity, Parser, Workload};

const PUBLISHED: &str = include_str!("../../../../experiments/search-published.toml");
const SEARCH: &str = include_str!("../../../../experiments/search.toml");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn planned(text: &str, profile: Option<&str>) -> Result<Plan, InputError> {
    proof_kit::world::planned((&Engines, &root()), text, profile, None)
}

fn workload(run: &PlannedRun) -> Workload {
    serde_json::from_value(run.work.workload(&Places::default())).unwrap()
}

#[test]
fn the_floor_is_asked_the_same_in_the_plainest_way() {
    for run in &planned(SEARCH, None).unwrap().runs {
        let floor = run.work.floor_workload(&Places::default(), &[]).unwrap();
        let floor: Workload = serde_json::from_value(floor).unwrap();
        assert_eq!(floor.query, workload(run).query);
        assert_eq!((floor.threads, floor.prefilter), (Some(1), false));
        assert_eq!(floor.parser, Parser::SerdeWhole);
    }
}

#[test]
fn a_level_that_is_a_word_or_a_number_becomes_what_it_names() {
    let plan = planned(SEARCH, None).unwrap();
    let at = |factor: &str, level: &str| {
        workload(plan.runs.iter().find(|run| run.cell[factor] == level).unwrap())
    };
    assert_eq!(at("chunk", "default").chunk, Granularity::Own);
    assert_eq!(at("chunk", "file").chunk, Granularity::File);
    assert_eq!(at("chunk", "4194304").chunk, Granularity::Bytes(4 << 20));
    let buffer =
        |level| (at("buffer_bytes", level).buffer_bytes, at("buffer_bytes", level).buffer_adapts);
    assert_eq!(buffer("default"), (None, false));
    assert_eq!(buffer("16384"), (Some(16384), false));
    assert_eq!(buffer("adaptive"), (None, true));
}

#[test]
fn a_smoke_test_makes_no_large_corpus() {
    let plan = planned(SEARCH, Some("quick")).unwrap();
    let bytes = |run: &PlannedRun| run.work.corpus().unwrap().bytes;
    assert!(plan.runs.iter().all(|run| bytes(run) < 10_000_000));
}

#[test]
fn the_published_program_is_a_cell_with_its_parser_and_its_allocator() {
    let plan = planned(PUBLISHED, None).unwrap();
    for engine in ["smol", "smol_multi", "tokio_async", "rayon"] {
        let variant = format!("{engine}_jemalloc");
        let is_it = |run: &&PlannedRun| run.variant == variant && !run.warmup;
        let asked = workload(plan.runs.iter().find(is_it).expect("the sweep has the engine"));
        assert_eq!((asked.parser, asked.threads), (Parser::Sonic, None));
        assert_eq!((asked.buffer_bytes, asked.result_capacity), (Some(131_072), 32));
    }
    let with_channel = |run: &&PlannedRun| workload(run).channel_bound == Some(1_024);
    assert!(plan.runs.iter().any(|run| with_channel(&run)));
}

#[track_caller]
fn refused(change: (&str, &str), expected: &str) {
    proof_kit::world::refused(SEARCH, change, |text| planned(text, None), expected);
}

#[test]
fn mistakes_are_named_with_file_and_key() {
    refused(("[\"xlarge\"]", "[\"huge\"]"), "key `cells.corpus`: is `huge`; it must be one of");
    refused(("\"zyzzyva\"]", "\"aardvark\"]"), "key `cells.query`: is `aardvark`");
    refused(("\"16384\"", "\"0\""), "key `cells.buffer_bytes`: is `0`");
    refused(("\"1048576\", \"4194304\"", "\"half\""), "key `cells.chunk`: is `half`");
    refused(("\"sonic\"", "\"tonic\""), "key `cells.parser`: is `tonic`");
    refused(("files = 5", "files = 0"), "key `engines.corpus.small`");
    refused(("bytes = 350_000", "bytes = 350_000_000_000"), "key `engines.corpus.small`");
    refused(("[engines.defaults]", "[engines.default]"), "key `engines`: unknown field `default`");
}

#[test]
fn what_a_bar_chooses_from_must_be_written() {
    let levels = "cells = { read = [\"buffered\", \"mmap\"] }, best_of";
    let message = "key `expect.best_over_ripgrep.best_of`: needs the levels of `read`";
    refused((levels, "best_of"), message);
}
