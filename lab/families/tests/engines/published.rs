//! What the published report recommends, judged in searches with its own program whose times are
//! known.

use std::path::Path;

use lab_families::engines::Engines;
use lab_plan::PlannedRun;
use proof_kit::world::{Made, World, expected, noise};

const PUBLISHED: &str = include_str!("../../../../experiments/search-published.toml");
const ENGINES: [&str; 9] = [
    "sequential",
    "rayon",
    "rayon_jemalloc",
    "smol",
    "smol_jemalloc",
    "smol_multi",
    "smol_multi_jemalloc",
    "tokio_async",
    "tokio_async_jemalloc",
];

/// jemalloc takes a tenth off, and a bounded channel does; the library's buffers are better than
/// those of 128 KiB, and room for results does nothing.
fn make(run: &PlannedRun) -> Made {
    let is = |factor: &str, level: &str| run.cell[factor] == level;
    let engine = if run.variant.starts_with("smol_multi") { 1.2 } else { 1.0 };
    let allocator = if run.variant.contains("jemalloc") { 0.9 } else { 1.0 };
    let channel = if is("channel_bound", "1024") { 0.9 } else { 1.0 };
    let buffer = if is("buffer_bytes", "default") { 0.8 } else { 1.0 };
    // With the noise of the first blocks the twin differs from its original, as one in a hundred
    // does.
    let later = PlannedRun { block: run.block + 100, ..run.clone() };
    let wall = 2e8 * engine * allocator * channel * buffer * noise(0.002, &later);
    Made { counters: vec![("hyperfine_wall_ns", wall as u64)], ..Made::default() }
}

#[test]
fn recommendations_are_judged_each_by_what_it_changes() {
    let text = PUBLISHED.replacen("blocks = 6", "blocks = 12", 1);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let world = World::of(&text, &["search-published"], &ENGINES).with_tags_of(&root, "engines");
    let report = world.report(&Engines, make);
    for (id, outcome) in [
        ("jemalloc_helps_smol", "holds"),
        ("bounded_channel", "holds"),
        ("large_buffer", "fails"),
        ("smol_before_smol_multi", "holds"),
        // Equal: no run can tell on which side of 1 the ratio lies.
        ("reserved_results", "cannot tell"),
    ] {
        assert_eq!(expected(&report, id), outcome, "{id}");
    }
}
