//! The report of the `workflows` family: tasks of several steps through a back end.

mod answers;
mod bars;
mod boundary;
mod breakdown;
mod cluster;
mod conclusions;
mod looks;
mod measure;
mod path;
mod published;
mod shape;
pub(crate) mod slim;
mod sweep;
mod task;
mod tiers;
mod waterfall;
mod working;

use crate::Report;
use crate::compare::{Line, takes_part};
use crate::contrast::{self, contrasts};
use crate::frame::Frame;
use crate::page::Page;
use crate::study::Judged;
use crate::verdicts;

pub use measure::METRICS;
use sweep::Sweep;

pub(crate) fn report(frame: &Frame) -> Report {
    let mut sweep = Sweep::of(frame);
    sweep.study.judged = judge(&sweep);
    let contrasted = contrasts(&sweep.study);
    let clean = Sweep::clean(frame);
    let bars = bars::judged(&sweep, clean.as_ref());
    let conclusions = conclusions::judge(&sweep, clean.as_ref());
    let mut page = Page::titled(&frame.run_file.experiment);
    let findings = answers::Findings { bars: &bars, conclusions: &conclusions };
    answers::write(&sweep, &findings, &mut page);
    working::header(&sweep, &mut page);
    bars::write(&bars, &mut page);
    verdicts::write(&sweep.study, &mut page);
    contrast::write(&sweep.study, &contrasted, &mut page);
    tiers::write(&sweep, &mut page);
    looks::write(&sweep, &mut page);
    breakdown::write(&sweep, &mut page);
    waterfall::write(&sweep, &mut page);
    boundary::write(&sweep, &mut page);
    cluster::write(&sweep, &mut page);
    conclusions::write(&conclusions, &mut page);
    working::write(&sweep, &mut page);
    crate::working::again(&sweep.study, &mut page);
    page.report()
}

/// Every back end against the reference.
fn judge<'a>(sweep: &Sweep<'a>) -> Vec<Judged<'a>> {
    let study = &sweep.study;
    let candidates = study.candidates();
    let no_doubt = |_: &Line| None;
    let comparisons = study.frame.run_file.analysis.comparisons.iter();
    comparisons
        .map(|comparison| {
            let ran = |name: &&str| {
                sweep.cells(name).into_iter().any(|cell| takes_part(comparison, cell))
            };
            let present: Vec<&str> = candidates.iter().copied().filter(ran).collect();
            study.judge(comparison, &present, &no_doubt, None)
        })
        .collect()
}

/// How a picture's cells were run, for its caption.
fn note(sweep: &Sweep) -> String {
    let file = &sweep.study.frame.run_file;
    let smoke = file.profile.as_ref().map_or(String::new(), |name| format!("; profile {name}"));
    let plural = if file.blocks == 1 { "" } else { "s" };
    format!("{} restart{plural} on {} CPUs{smoke}", file.blocks, file.machine.cpus)
}
