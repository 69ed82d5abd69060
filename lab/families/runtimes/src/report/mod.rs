//! The chapters of this family's reports.

mod cards;
mod checks;
mod costs;
mod groups;
mod lesson;
mod loss;
mod lowest;
mod pictures;
mod published;
mod spread;
mod variance;

use lab_report::page::Page;
use lab_report::study::Study;

pub(crate) use checks::{lab_checks, pacing_note, run_facts, too_coarse};

pub(crate) fn write(study: &Study, page: &mut Page) {
    published::write(study, page);
    lesson::write(study, page);
    lowest::write(study, page);
    spread::write(study, page);
    loss::write(study, page);
    variance::write(study, page);
    costs::write(study, page);
    cards::write(study, page);
    pictures::lag(study, page);
    pictures::tokens(study, page);
}
