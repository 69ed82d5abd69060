//! How often the audit is wrong: consistent reports that it must pass, and planted errors that
//! it must find.
//!
//! No program of the lab has this crate; its test holds the rates, and its example prints them:
//! `cargo run --release -p lab-audit-trial --example rates > claims/self-test.md`.
//!
//! Reports are simulated runs, tables computed from them, and the printing of people: other
//! digits, orders of columns, units and layouts. Everything follows from the seed.

mod kind;
mod rates;
mod render;
mod stated;
mod study;
mod style;

pub use kind::{KINDS, Kind};
pub use rates::{Detection, Rates, Share, rates};

use lab_audit::{Document, Finding, Mapping, Raw, audit_document};
use rand::SeedableRng;
use rand_pcg::Pcg64;

use render::Writer;
use stated::Stated;
use study::Study;
use style::Style;

/// A report with its raw files.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The document.
    pub markdown: String,
    /// Raw files by name; some reports have none.
    pub raws: Vec<(String, String)>,
}

/// A report that agrees with itself and its runs.
pub fn clean(seed: u64) -> Report {
    report(seed, None, false)
}

/// A report with one planted error, and its sound twin: the same runs, the same style.
pub fn planted(seed: u64, kind: Kind) -> (Report, Report) {
    (report(seed, Some(kind), true), report(seed, Some(kind), false))
}

impl Report {
    /// What the audit finds in it.
    pub fn audit(&self) -> Vec<Finding> {
        let document = Document::parse("report.md", &self.markdown);
        let raws = self.raws.iter().filter_map(|(name, text)| Raw::tables(name, text).ok());
        let raws: Vec<Raw> = raws.flatten().collect();
        audit_document(&document, &raws, &Mapping::default())
    }
}

fn report(seed: u64, kind: Option<Kind>, plant: bool) -> Report {
    // One stream each, so that an error that draws more numbers changes nothing else.
    let stream = |number: u64| Pcg64::seed_from_u64(seed.wrapping_mul(8).wrapping_add(number));
    let study = Study::draw(&mut stream(1), kind, plant);
    let mut style = Style::draw(&mut stream(2), &study, kind);
    if kind == Some(Kind::PercentileOfFew) && !plant {
        style.columns.retain(|column| *column != style::Column::P99);
    }
    let mut stated = Stated::of(&study, style.population);
    if let Some(kind) = kind.filter(|_| plant) {
        stated.plant(&mut stream(3), kind, style.step());
    }
    let writer = Writer { study: &study, stated: &stated, style: &style };
    Report { markdown: writer.markdown(), raws: writer.raws(kind, plant) }
}
