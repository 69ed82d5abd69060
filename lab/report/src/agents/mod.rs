//! The report of the `runtimes` family: LLM agents that stream replies from Ollama servers.

mod answers;
mod cards;
mod costs;
mod figures;
mod lesson;
mod lost;
mod measure;
mod spread;
mod study;
mod working;

use crate::Report;
use crate::contrast::{self, contrasts};
use crate::frame::Frame;
use crate::page::Page;
use crate::verdicts;

pub use measure::METRICS;

pub(crate) fn report(frame: &Frame) -> Report {
    let study = study::of(frame);
    let contrasted = contrasts(&study);
    let mut page = Page::titled(&frame.run_file.experiment);
    answers::write(&study, &contrasted, &mut page);
    working::header(&study, &mut page);
    verdicts::write(&study, &mut page);
    if !contrasted.is_empty() {
        contrast::write(&study, &contrasted, &mut page);
    }
    lesson::write(&study, &mut page);
    working::write(&study, &mut page);
    figures::efficiency(&study, &mut page);
    spread::write(&study, &mut page);
    lost::write(&study, &mut page);
    costs::write(&study, &mut page);
    cards::write(&study, &mut page);
    figures::rest(&study, &mut page);
    crate::working::again(&study, &mut page);
    page.report()
}
