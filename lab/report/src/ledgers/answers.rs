//! The first lines: what was asked, answered by numbers, each with its blocks and interval.

use super::bars;
use super::causes::{Cause, Finding};
use super::heatmap::Choice;
use super::penalty::penalty;
use super::sweep::{Cell as Levels, Sweep, number, with, without};
use crate::effect::Effect;
use crate::measure::Unit;
use crate::page::Page;
use crate::tables::{Cell, Table, show, show_percent};

/// One statement and what it rests on.
struct Statement {
    question: String,
    answer: String,
    /// On logarithms of time ratios.
    effect: Option<Effect>,
}

pub(super) fn write(sweep: &Sweep, causes: &[Cause], choices: &[Choice], page: &mut Page) {
    let mut statements = vec![best(sweep, choices), many(sweep), against_floor(sweep)];
    statements.extend(owned(sweep));
    statements.extend(crossover(sweep));
    statements.push(why(causes));
    let mut table = Table::new(&[
        ("question", "question"),
        ("answer", "answer"),
        ("n (blocks)", "n"),
        ("interval", "interval"),
        ("detectable", "detectable"),
    ]);
    for statement in statements {
        let effect = statement.effect.as_ref();
        let interval = effect.and_then(|effect| effect.interval).map(|i| {
            let (low, high) = (show(i.low.exp(), Unit::Times), show(i.high.exp(), Unit::Times));
            format!("{low} … {high}")
        });
        let detectable = effect.and_then(|effect| effect.detectable(sweep.seed()));
        table.row(vec![
            Cell::text(&statement.question),
            Cell::text(&statement.answer),
            Cell::value(effect.map(|effect| effect.n() as f64), Unit::Count),
            Cell::text(interval.unwrap_or_else(|| "none".to_owned())),
            Cell::text(detectable.map_or("–".to_owned(), |d| show_percent(d.exp_m1()))),
        ]);
    }
    if let Some(alarm) = sweep.alarm() {
        page.paragraph(&format!(
            "**{alarm}**: this lab told two equal programs apart, so no time below is ground for a \
             choice."
        ));
    }
    page.table("answers", &table);
    page.paragraph(
        "Ratios of times, or speed-ups where it says \"times as fast\", paired by block; \
         \"detectable\" is the true difference that these blocks would have found with a power of \
         80 %. What was declared before anything ran, with Holm's correction, stands under \
         *Verdicts* and *Declared contrasts*; this table answers in the cells that the question \
         names.",
    );
}

/// The published cell, or else the reference's first curve.
pub(super) fn published(sweep: &Sweep) -> Option<Levels> {
    let curves = sweep.curves(sweep.reference());
    let several = || curves.iter().filter(|(_, levels)| levels.len() > 1);
    let exact = several().find(|(rest, _)| sweep.is_base_but(rest, &[]));
    exact.or_else(|| several().next()).map(|(rest, _)| rest.clone())
}

fn unanswered(question: String, what: &str) -> Statement {
    Statement { question, answer: format!("Cannot be said: {what}."), effect: None }
}

fn best(sweep: &Sweep, choices: &[Choice]) -> Statement {
    let Some(rest) = published(sweep) else {
        return unanswered("Which number of workers is fastest?".into(), "no curve was run");
    };
    let question = format!(
        "Which number of workers is fastest for `{}`, {}?",
        sweep.reference(),
        sweep.label(&rest)
    );
    let own = choices.iter().find(|one| one.variant == sweep.reference() && one.rest == rest);
    let Some(choice) = own else {
        return unanswered(question, "fewer than two counts were measured");
    };
    let (answer, effect) = match &choice.runner_up {
        Some((second, effect)) => (
            format!(
                "{}; the runner-up, {second}, against {}: {}",
                choice.label(),
                choice.best,
                effect.percent()
            ),
            Some(effect.clone()),
        ),
        None => (choice.label(), None),
    };
    Statement { question, answer, effect }
}

fn many(sweep: &Sweep) -> Statement {
    let question = "Do more workers than CPUs cost time there?".to_owned();
    let found = published(sweep).and_then(|rest| penalty(sweep, sweep.reference(), &rest));
    let Some(penalty) = found else {
        return unanswered(question, "no count beyond the CPUs was run beside one within them");
    };
    let Some(effect) = Effect::of(penalty.log.into_values().collect()) else {
        return unanswered(question, "no block has both runs");
    };
    let answer = match (effect.surely_above(0.0), effect.surely_below(0.0)) {
        (true, _) => "Yes",
        (_, true) => "No, they gain",
        _ => "Not shown",
    };
    let answer =
        format!("{answer}: {} against {} workers: {}", penalty.many, penalty.few, effect.percent());
    Statement { question, answer, effect: Some(effect) }
}

fn against_floor(sweep: &Sweep) -> Statement {
    let question = "Is a runtime worth it against one plain thread (`sync`) there?".to_owned();
    let Some(rest) = published(sweep) else {
        return unanswered(question, "no curve was run");
    };
    let cpus = sweep.cpus().to_string();
    let time = sweep.elapsed(sweep.reference(), &rest, &cpus);
    let Some(effect) = Effect::log_ratio(&sweep.floor_elapsed(&rest), &time) else {
        return unanswered(
            question,
            "no block has the floor and the reference at one worker per CPU",
        );
    };
    let answer = match (effect.surely_above(0.0), effect.surely_below(0.0)) {
        (true, _) => "Yes",
        (_, true) => "No",
        _ => "Not shown",
    };
    let answer = format!("{answer}: {cpus} workers are {} as fast", effect.times());
    Statement { question, answer, effect: Some(effect) }
}

fn owned(sweep: &Sweep) -> Vec<Statement> {
    let one = |bar: bars::Bar| {
        let answer = match &bar.measured {
            Some(effect) => format!("{}; {} ({})", effect.times(), bar.met.word(), bar.target),
            None => "Not measured".to_owned(),
        };
        let asked = bar.what.replacen("` as", "` is as", 1);
        let question = format!("How many times {asked} ({})?", bar.cell);
        Statement { question, answer, effect: bar.measured }
    };
    bars::speed(sweep).into_iter().map(one).collect()
}

/// The least busy work at which one worker per CPU beats one worker, per number of streams.
fn crossover(sweep: &Sweep) -> Vec<Statement> {
    let reference = sweep.reference();
    let cpus = sweep.cpus().to_string();
    let mut groups: Vec<(Levels, Vec<(u64, Levels)>)> = Vec::new();
    for (rest, levels) in sweep.curves(reference) {
        let Some(work) = number(&rest, "work_ns") else { continue };
        if !levels.contains(&cpus) {
            continue;
        }
        let group = without(&rest, "work_ns");
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, works)) => works.push((work, rest)),
            None => groups.push((group, vec![(work, rest)])),
        }
    }
    groups.retain(|(_, works)| works.len() > 1);
    let statements = groups.into_iter().map(|(group, mut works)| {
        works.sort_by_key(|(work, _)| *work);
        let question = format!(
            "From which work on is `{reference}` at {cpus} workers faster than at one ({})?",
            sweep.label(&with(&group, "work_ns", "0"))
        );
        let gains: Vec<(u64, Effect)> = works
            .iter()
            .filter_map(|(work, rest)| {
                let one = sweep.elapsed(reference, rest, "1");
                Some((*work, Effect::log_ratio(&one, &sweep.elapsed(reference, rest, &cpus))?))
            })
            .collect();
        let first = gains.iter().position(|(_, gain)| gain.surely_above(0.0));
        match (first, gains.last()) {
            (_, None) => unanswered(question, "no block has both runs"),
            (Some(at), _) => {
                let (work, gain) = &gains[at];
                let before = match at.checked_sub(1).map(|before| &gains[before]) {
                    Some((less, gain)) => format!("; at {less} ns {}", gain.times()),
                    None => ", the least that was measured".to_owned(),
                };
                let answer = format!("{work} ns: {}{before}", gain.times());
                Statement { question, answer, effect: Some(gain.clone()) }
            }
            (None, Some((most, gain))) => {
                let answer = format!("Not shown up to {most} ns: {}", gain.times());
                Statement { question, answer, effect: Some(gain.clone()) }
            }
        }
    });
    statements.collect()
}

fn why(causes: &[Cause]) -> Statement {
    let with = |finding: Finding| -> Vec<String> {
        let found = causes.iter().filter(|cause| cause.verdict == finding);
        found.map(|cause| cause.name.to_lowercase()).collect()
    };
    let words =
        [Finding::Supported, Finding::NotSupported, Finding::CannotTell, Finding::NotMeasured];
    let shown = words.into_iter().filter_map(|finding| {
        let names = with(finding);
        (!names.is_empty()).then(|| format!("{}: {}", finding.word(), names.join(", ")))
    });
    let answer = shown.collect::<Vec<_>>().join("; ");
    Statement { question: "Why do many workers cost time?".to_owned(), answer, effect: None }
}
