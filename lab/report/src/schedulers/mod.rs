//! The report of the `schedulers` family: run a piece of work inline, or offload it.

mod bars;
mod checklist;
mod conclusions;
mod counters;
mod grid;
mod learning;
mod measure;
mod overhead;
mod pressure;
mod regret;
mod shift;
pub(crate) mod slim;
mod steps;
mod streams;
mod target;
mod trajectory;
mod trials;
mod wakes;
mod which;
mod working;

use crate::Report;
use crate::compare::{Line, takes_part};
use crate::contrast::{self, contrasts};
use crate::frame::Frame;
use crate::page::Page;
use crate::study::Judged;
use crate::verdicts;

pub use measure::METRICS;
use trials::{ORACLE, Trials};

pub(crate) fn report(frame: &Frame) -> Report {
    let mut trials = Trials::of(frame);
    trials.study.judged = judge(&trials);
    let contrasted = contrasts(&trials.study);
    let mut page = Page::titled(&frame.run_file.experiment);
    let clean = Trials::clean(frame);
    checklist::write(&trials, clean.as_ref(), &mut page);
    bars::write(&trials, clean.as_ref(), &mut page);
    which::write(&trials, &mut page);
    working::header(&trials, &mut page);
    verdicts::write(&trials.study, &mut page);
    contrast::write(&trials.study, &contrasted, &mut page);
    overhead::write(&trials, &mut page);
    wakes::write(&trials, &mut page);
    streams::throughput(&trials, &mut page);
    learning::write(&trials, &mut page);
    streams::ratios(&trials, &mut page);
    shift::write(&trials, &mut page);
    pressure::write(&trials, &mut page);
    counters::write(&trials, &mut page);
    conclusions::write(&trials, clean.as_ref(), &mut page);
    regret::write(&trials, &mut page);
    wakes::stalls(&trials, &mut page);
    working::write(&trials, &mut page);
    crate::working::again(&trials.study, &mut page);
    page.report()
}

/// Every policy against the reference. The oracle is told the true cost, so it is no candidate.
fn judge<'a>(trials: &Trials<'a>) -> Vec<Judged<'a>> {
    let study = &trials.study;
    let candidates: Vec<&str> =
        study.candidates().into_iter().filter(|name| *name != ORACLE).collect();
    let comparisons = study.frame.run_file.analysis.comparisons.iter();
    let no_doubt = |_: &Line| None;
    comparisons
        .map(|comparison| {
            let ran = |name: &&str| trials.cells_of(name).any(|cell| takes_part(comparison, cell));
            let present: Vec<&str> = candidates.iter().copied().filter(ran).collect();
            study.judge(comparison, &present, &no_doubt, None)
        })
        .collect()
}

/// How a picture's cells were run, for its caption.
fn note(trials: &Trials) -> String {
    let file = &trials.study.frame.run_file;
    let smoke = match &file.profile {
        Some(name) => format!("; profile {name}"),
        None => String::new(),
    };
    format!("{} blocks on {} CPUs{smoke}", file.blocks, file.machine.cpus)
}
