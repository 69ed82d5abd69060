//! The families that the lab has. The only list of them: a new family is one line here, one in the
//! manifest, and its own crate.

#![forbid(unsafe_code)]

mod plots;

use lab_report::FamilyReport;

pub use plots::PLOTS;

/// Every family.
pub const ALL: &[&dyn FamilyReport] = &[
    &lab_runtimes::Runtimes,
    &lab_engines::Engines,
    &lab_ledgers::Ledgers,
    &lab_schedulers::Schedulers,
    &lab_workflows::Workflows,
];
