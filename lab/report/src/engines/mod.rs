//! The report of the `engines` family: a query over a folder of JSON Lines.

mod ablation;
mod answers;
mod bars;
mod crossover;
mod measure;
mod peers;
mod phases;
mod published;
mod ranks;
mod roofline;
mod statements;
mod sweep;
mod working;

use crate::Report;
use crate::compare::{Line, takes_part};
use crate::contrast::{self, contrasts};
use crate::frame::Frame;
use crate::page::Page;
use crate::study::Judged;
use crate::tables::{Cell, show_percent};
use crate::verdicts;

use crate::effect::Effect;
pub use measure::METRICS;
use sweep::Sweep;

pub(crate) fn report(frame: &Frame) -> Report {
    let mut sweep = Sweep::of(frame);
    sweep.study.judged = judge(&sweep);
    let contrasted = contrasts(&sweep.study);
    let statements = statements::judge(&sweep, Sweep::clean(frame).as_ref());
    let bars = bars::bars(&sweep);
    let wins = crossover::wins(&sweep);
    let settings = ablation::settings(&sweep);
    let mut page = Page::titled(&frame.run_file.experiment);
    let found =
        answers::Found { statements: &statements, bars: &bars, wins: &wins, settings: &settings };
    answers::write(&sweep, &found, &mut page);
    working::header(&sweep, &mut page);
    verdicts::write(&sweep.study, &mut page);
    contrast::write(&sweep.study, &contrasted, &mut page);
    published::write(&sweep, &mut page);
    statements::write(&sweep, &statements, &mut page);
    bars::write(&bars, &mut page);
    peers::write(&sweep, &mut page);
    roofline::write(&sweep, &mut page);
    crossover::write(&sweep, &wins, &mut page);
    ranks::write(&sweep, &mut page);
    ablation::write(&sweep, &settings, &mut page);
    phases::write(&sweep, &mut page);
    working::write(&sweep, &mut page);
    crate::working::again(&sweep.study, &mut page);
    page.report()
}

/// Every engine against the reference. A peer answers another question, so it is no candidate.
fn judge<'a>(sweep: &Sweep<'a>) -> Vec<Judged<'a>> {
    let study = &sweep.study;
    let candidates: Vec<&str> =
        study.candidates().into_iter().filter(|name| !sweep.is_peer(name)).collect();
    let comparisons = study.frame.run_file.analysis.comparisons.iter();
    let no_doubt = |_: &Line| None;
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

/// The true difference that a statement's blocks would have found, as a table's cell.
fn detectable(sweep: &Sweep, effect: Option<&Effect>) -> Cell {
    let effect = effect.filter(|effect| effect.interval.is_some());
    let found = effect.and_then(|effect| effect.detectable(sweep.seed()));
    found.map_or(Cell::Missing, |least| Cell::text(show_percent(least.exp_m1())))
}
