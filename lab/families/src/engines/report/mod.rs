//! The chapters that this family alone has.

mod map;
mod order;
mod published;
mod settings;
mod speed;
mod stability;

use lab_family::{Cell, Factor, Unit};
use lab_record::VariantEntry;
use lab_report::Column::{Code, Count, Each, Words};
use lab_report::{
    FamilyReport, Frame, Measured, Page, Row, Rows, Study, Table, over_variant, show, takes_part,
};

use crate::engines::metrics::{self, BY_HYPERFINE, Clocks, SEARCH, sizes};
use crate::engines::section::PEER_TAG;
use crate::engines::{Engines, FACTORS, PLACE_AND_READ, READ};
use order::Order;

impl FamilyReport for Engines {
    fn measure<'a>(
        &self,
        frame: &'a Frame,
        _section: &toml::Table,
        rows: &[&'a Row],
    ) -> Vec<Measured<'a>> {
        metrics::measure(frame, rows)
    }

    fn chapters(&self, study: &Study, page: &mut Page) {
        let order = Order::of(study);
        published::write(study, page);
        resources(study, &order, page);
        peers_beside_engines(study, &order, page);
        speed::write(study, page);
        map::write(study, &order, page);
        stability::write(study, &order, page);
        settings::write(study, page);
    }

    /// The corpora, and runs that no table of times holds.
    fn run_facts(&self, study: &Study) -> Vec<String> {
        let mut sizes: Vec<_> = sizes(&study.frame.rows).into_iter().collect();
        sizes.sort_by(|a, b| a.1.bytes.total_cmp(&b.1.bytes));
        let corpora = sizes.iter().map(|(corpus, size)| {
            format!("{corpus} {} in {} files", show(size.bytes, Unit::Bytes), size.files)
        });
        let corpora: Vec<String> = corpora.collect();
        let mut facts = vec![format!("Corpora: {}.", corpora.join("; "))];
        let wall = wall(study);
        let untimed = study.all.iter().filter(|one| one.value(wall).is_none()).count();
        if untimed > 0 {
            let by = if wall == BY_HYPERFINE.wall { "hyperfine" } else { "the lab" };
            facts.push(format!(
                "**{untimed} analysed runs have no time by {by}**; no table of times holds them."
            ));
        }
        facts
    }

    /// What is searched first, then every level that is not the default.
    fn label(&self, cell: &Cell, defaults: &Cell) -> String {
        let part = |factor: &Factor| match (factor.name, cell.get(factor.name)?.as_str()) {
            ("corpus" | "query", level) => Some(level.to_owned()),
            ("threads", "1") => Some("1 thread".to_owned()),
            ("threads", level) => Some(format!("{level} threads")),
            (name, level) => {
                let is_default = defaults.get(name).is_some_and(|default| default == level);
                (!is_default).then(|| format!("{name} {level}"))
            }
        };
        FACTORS.iter().filter_map(part).collect::<Vec<_>>().join(", ")
    }

    /// A peer answers another question.
    fn is_candidate(&self, entry: &VariantEntry) -> bool {
        !entry.tags.iter().any(|tag| tag == PEER_TAG)
    }
}

/// The allocator of a program that is an engine with another one, named ENGINE_ALLOCATOR: a setting
/// of its engine, and no engine of its own.
const ALLOCATORS: [&str; 2] = ["jemalloc", "mimalloc"];

fn allocator(variant: &str) -> Option<&'static str> {
    ALLOCATORS.into_iter().find(|name| variant.ends_with(&format!("_{name}")))
}

/// The programs on the shared kernel: their answers are compared, so they did equal work.
fn engines<'a>(study: &Study<'a>) -> Vec<&'a str> {
    let is_engine = |name: &&str| !study.is_tagged(name, PEER_TAG) && allocator(name).is_none();
    study.variants().into_iter().filter(is_engine).collect()
}

/// Programs from elsewhere.
fn peers<'a>(study: &Study<'a>) -> Vec<&'a str> {
    study.variants().into_iter().filter(|name| study.is_tagged(name, PEER_TAG)).collect()
}

/// The time of a whole process, by whoever started it.
fn wall(study: &Study) -> &'static str {
    Clocks::of_record(study.frame).wall
}

/// What a search takes, in the cells of the declared comparisons, whichever way files are read.
fn resources(study: &Study, order: &Order, page: &mut Page) {
    let clocks = Clocks::of_record(study.frame);
    // That most of the time goes to.
    let shown = [clocks.wall, "read_share", "scan_share", "parse_share", "phases_over_search"];
    let phases = [
        clocks.wall,
        SEARCH,
        "outside_search_ns",
        "walk_share",
        "read_share",
        "scan_share",
        "parse_share",
        "merge_share",
        "phases_over_search",
    ];
    let takes = [
        "gigabytes_per_s",
        "files_per_s",
        "memory_share",
        clocks.user,
        clocks.system,
        "cpu_ns",
        "cores_used",
        "page_faults",
        "page_faults_major",
        "rss_high_water_bytes",
        "voluntary_switches",
        "involuntary_switches",
        "threads",
        "parsed_share",
        "touched_per_byte",
        "read_per_byte",
        "parsed_per_byte",
    ];
    let engines = engines(study);
    let declared = order.places(study, &engines, &|cell| is_declared(study, cell));
    if !declared.is_empty() {
        page.heading("Where the time goes");
        page.paragraph(
            "Medians over blocks, in the cells of the declared comparisons. Shares are of the \
             engine's five phases, summed over workers; with mmap, reading is in *scan*. CPU, \
             memory, switches: `resources.tsv`; every cell: `phases-all.tsv`, \
             `resources-all.tsv`.",
        );
        page.table("phases", &medians(study, &declared, &phases, &shown));
        page.data("resources", &medians(study, &declared, &takes, &[]));
    }
    let all = order.places(study, &engines, &|_| true);
    page.data("phases-all", &medians(study, &all, &phases, &[]));
    page.data("resources-all", &medians(study, &all, &takes, &[]));
}

/// Whether a declared comparison reads a cell, or the same one with files read another way.
fn is_declared(study: &Study, cell: &Cell) -> bool {
    study.frame.run_file.analysis.comparisons.iter().any(|comparison| {
        let mut comparison = comparison.clone();
        comparison.cells.remove(READ);
        takes_part(&comparison, cell) && study.is_default_but(cell, &PLACE_AND_READ)
    })
}

/// Programs with the nearest question that they can answer, and their counts beside the floor's.
fn peers_beside_engines(study: &Study, order: &Order, page: &mut Page) {
    let peers = peers(study);
    if peers.is_empty() {
        return;
    }
    page.heading("Peers");
    page.paragraph(
        "Foreign programs with the nearest question that they can answer, in the same blocks: text \
         search finds the word anywhere in the line and does not parse. Starting a peer is part of \
         its time. Speeds and counts: `peers.tsv`.",
    );
    let wall = wall(study);
    let metrics = [wall, "gigabytes_per_s", "cores_used", "matches", "matches_beyond_floor"];
    let places = order.places(study, &peers, &|_| true);
    page.data("peers", &medians(study, &places, &metrics, &[]));
    let rows = Rows { variants: &peers, keep: &|_| true, factors: &PLACE_AND_READ };
    page.paragraph(&format!("Time over that of `{}`, same cell and block:", study.reference()));
    page.table("peers-over-reference", &over_variant(study, &rows, study.reference(), &[wall]));
}

/// The median of each metric over blocks, without intervals: for wide tables. People see those
/// that are `shown`.
fn medians(study: &Study, places: &[(&str, Cell)], metrics: &[&str], shown: &[&str]) -> Table {
    let title = |metric: &&str| match shown.contains(metric) {
        true => study.noun(metric),
        false => String::new(),
    };
    let titles: Vec<String> = metrics.iter().map(title).collect();
    let metrics = titles.iter().zip(metrics).map(|(title, metric)| (title.as_str(), *metric));
    let wall = wall(study);
    Table::over(
        places,
        &[
            Words("cell", "cell", &|(_, cell)| study.label(cell)),
            Code("program", "program", &|(program, _)| program),
            Count("n", "n", &|(program, cell)| study.series(program, cell, wall).len()),
            Each(&metrics.collect::<Vec<_>>(), &|(program, cell), metric| {
                study.middle(program, cell, metric)
            }),
        ],
    )
}
