//! Reports in, pages for a browser out: one file a report, which needs no network, and an index
//! that shows each question with its answer. Further pages are for `lab serve` alone: the list of
//! records, a sweep that goes on, two sweeps beside each other, and a metric over many.
//!
//! Pure: a page is a function of a report's files and of nothing else.

mod address;
mod chapter;
mod chart;
mod data;
mod history;
mod live;
mod page;

use std::collections::BTreeMap;

pub use address::encoded;
pub use history::{History, Line, Point, history};
pub use live::{Going, Link, Listed, choices, compared, going, links, listed, sorry};
pub use page::{SCRIPT, index, page, page_under};

/// The files of one report.
#[derive(Debug, Clone, Default)]
pub struct Source {
    /// The folder's name.
    pub name: String,
    /// `report.md`: the first screen.
    pub first: String,
    /// The chapters behind it, by file name without `.md`.
    pub chapters: BTreeMap<String, String>,
    /// Pictures, by file name.
    pub pictures: BTreeMap<String, String>,
    /// Tables, tab-separated with a header line, by file name.
    pub tables: BTreeMap<String, String>,
}
