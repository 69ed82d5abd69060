//! Reports in, pages for a browser out: one file a report, which needs no network, and an index
//! that shows each question with its answer. Further pages are for `lab serve` alone: the list of
//! records, a sweep that goes on, two sweeps beside each other, and a metric over many.
//!
//! A page is a pure function of a report's files. [`records`] alone reads files and answers the
//! network, and nothing else here knows it: lab/tidy holds that.

#![forbid(unsafe_code)]

mod address;
mod asked;
mod chapter;
mod chart;
mod data;
mod history;
mod index;
mod live;
mod opening;
mod page;
mod picture;
mod policy;
pub mod records;
mod runs;
mod thin;

use std::collections::BTreeMap;

pub use address::encoded;
pub use history::{History, Line, Point, history};
pub use index::{INDEX_TITLE, index};
pub use live::{Going, Link, Listed, choices, compared, going, links, listed, sorry};
pub use page::{SCRIPTS, page, page_alone, page_under};
pub use policy::{policy_element, policy_served};
pub use runs::{Asked, OneRun, Quantity, Runs};
pub use thin::thin;

/// The files of one report.
#[derive(Debug, Clone, Default)]
pub struct Source {
    /// The folder's name.
    pub name: String,
    /// What the index puts together: one word for what was measured; empty where the report has no
    /// record of runs.
    pub kind: String,
    /// `report.md`: the first screen.
    pub first: String,
    /// The chapters behind it, by file name without `.md`.
    pub chapters: BTreeMap<String, String>,
    /// Pictures, by file name.
    pub pictures: BTreeMap<String, String>,
    /// Tables, tab-separated with a header line, by file name.
    pub tables: BTreeMap<String, String>,
    /// The runs that the report follows from, where they are to be drawn.
    pub runs: Option<Runs>,
}
