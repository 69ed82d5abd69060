//! Plans of the search comparison.

mod manifests;

use std::collections::{BTreeMap, BTreeSet};

use lab_plan::{Experiment, Plan, PlanError, PlannedRun, Work, plan, search::Corpus};
use lab_protocol::search::{Granularity, Parser, Workload};

use manifests::manifests;

const SEARCH: &str = include_str!("../../../experiments/search.toml");

fn planned(text: &str, profile: Option<&str>) -> Result<Plan, PlanError> {
    let mut experiment = Experiment::parse("e.toml", text)?;
    if let Some(profile) = profile {
        experiment = experiment.with_profile("e.toml", profile)?;
    }
    plan("e.toml", &experiment, &manifests("engines"), &BTreeMap::new())
}

fn work(run: &PlannedRun) -> (&Workload, &Corpus) {
    match &run.work {
        Work::Search { workload, corpus } => (workload, corpus),
        _ => panic!("an experiment of engines"),
    }
}

#[test]
fn every_cell_has_a_level_for_every_factor_and_is_planned_once_a_block() {
    let plan = planned(SEARCH, None).unwrap();
    let factors = &plan.runs[0].cell;
    let mut seen = BTreeSet::new();
    for run in &plan.runs {
        assert!(run.cell.keys().eq(factors.keys()));
        assert!(seen.insert((run.block, &run.variant, &run.cell)) || run.warmup);
    }
}

#[test]
fn the_oracle_asks_the_same_in_the_plainest_way() {
    for run in &planned(SEARCH, None).unwrap().runs {
        let oracle = lab_plan::search::oracle(work(run).0);
        assert_eq!(oracle.query, work(run).0.query);
        assert_eq!((oracle.threads, oracle.prefilter), (Some(1), false));
        assert_eq!(oracle.parser, Parser::SerdeWhole);
    }
}

#[test]
fn a_level_that_is_a_word_or_a_number_becomes_what_it_names() {
    let plan = planned(SEARCH, None).unwrap();
    let at = |factor: &str, level: &str| {
        let run = plan.runs.iter().find(|run| run.cell[factor] == level).unwrap();
        work(run).0
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
    assert!(plan.runs.iter().all(|run| work(run).1.bytes < 10_000_000));
}

fn refused(change: (&str, &str), expected: &str) {
    let text = SEARCH.replacen(change.0, change.1, 1);
    assert_ne!(text, SEARCH, "the test changes nothing");
    let error = planned(&text, None).unwrap_err().to_string();
    assert!(error.starts_with("e.toml") && error.contains(expected), "{error}");
}

#[test]
fn mistakes_are_named_with_file_and_key() {
    refused(("[\"xlarge\"]", "[\"huge\"]"), "key `cells.corpus`: is `huge`; it must be one of");
    refused(("\"zyzzyva\"]", "\"aardvark\"]"), "key `cells.query`: is `aardvark`");
    refused(("\"16384\"", "\"0\""), "key `cells.buffer_bytes`: is `0`");
    refused(("\"1048576\", \"4194304\"", "\"half\""), "key `cells.chunk`: is `half`");
    refused(("\"sonic\"", "\"tonic\""), "key `cells.parser`: is `tonic`");
    refused(("files = 5", "files = 0"), "key `search.corpus.small`");
    refused(("bytes = 350_000", "bytes = 350_000_000_000"), "key `search.corpus.small`");
    refused(("[search.defaults]", "[ledgers.defaults]"), "ledgers");
}
