//! The report of the `ledgers` family: many small transactions on a pool of workers.

mod answers;
mod bars;
mod causes;
mod conclusions;
mod curve;
mod evidence;
mod factors;
mod heatmap;
mod measure;
mod penalty;
mod recommend;
mod scalability;
pub(crate) mod slim;
mod sweep;
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
    let causes = causes::test(&sweep, Sweep::clean(frame).as_ref());
    let cells = heatmap::choose(&sweep);
    let mut page = Page::titled(&frame.run_file.experiment);
    answers::write(&sweep, &causes, &cells, &mut page);
    working::header(&sweep, &mut page);
    verdicts::write(&sweep.study, &mut page);
    contrast::write(&sweep.study, &contrasted, &mut page);
    curve::write(&sweep, &mut page);
    heatmap::write(&sweep, &cells, &mut page);
    recommend::write(&sweep, &cells, &mut page);
    scalability::write(&sweep, &mut page);
    causes::write(&sweep, &causes, &mut page);
    factors::write(&sweep, &mut page);
    bars::write(&sweep, &mut page);
    conclusions::write(&sweep, &causes, &contrasted, &mut page);
    working::write(&sweep, &mut page);
    crate::working::again(&sweep.study, &mut page);
    page.report()
}

/// Every ledger against the reference. The harness keeps no ledger, so it is no candidate.
fn judge<'a>(sweep: &Sweep<'a>) -> Vec<Judged<'a>> {
    let study = &sweep.study;
    let candidates: Vec<&str> =
        study.candidates().into_iter().filter(|name| !sweep.is_harness(name)).collect();
    let comparisons = study.frame.run_file.analysis.comparisons.iter();
    let no_doubt = |_: &Line| None;
    comparisons
        .map(|comparison| {
            let ran = |name: &&str| {
                let mut cells = sweep.cells(name).into_iter();
                cells.any(|cell| takes_part(comparison, cell))
            };
            let present: Vec<&str> = candidates.iter().copied().filter(ran).collect();
            study.judge(comparison, &present, &no_doubt, None)
        })
        .collect()
}
