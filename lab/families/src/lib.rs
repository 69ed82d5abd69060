//! The families that the lab has, each a module that knows no other. The only list of them: a new
//! family is its folder and two lines here.

#![forbid(unsafe_code)]

pub mod engines;
pub mod ledgers;
mod plots;
pub mod runtimes;
pub mod schedulers;
pub mod workflows;

use lab_report::FamilyReport;

pub use plots::PLOTS;

/// Every family.
pub const ALL: &[&dyn FamilyReport] = &[
    &runtimes::Runtimes,
    &engines::Engines,
    &ledgers::Ledgers,
    &schedulers::Schedulers,
    &workflows::Workflows,
];
