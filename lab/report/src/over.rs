//! The same questions over several sessions: records of one experiment, each of which copied its
//! programs anew, started its servers anew and drew its orders anew.
//!
//! A session gives one difference a block or round: the mean over the cells that all sessions have.
//! What holds over sessions is [`lab_stats::by_session`]'s.

mod machines;
mod next;
mod spend;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use lab_family::{Better, Unit};
use lab_record::{Comparison, Contrast, Scale};
use lab_stats::{
    by_session::{ENOUGH_SESSIONS, OverSessions, over_sessions, verdict},
    describe::median,
    outcome::Outcome,
    sessions::Sessions,
};

use crate::aa::AA_LEVEL;
use crate::chapter::Column::{Any, Count, Words};
use crate::compare::{PairKey, scaled_margin};
use crate::contrast::sides;
use crate::study::{Study, show_on};
use crate::tables::{Entry, Table, show_percent, show_with_ends};

use machines::{Machines, OnMachines};
pub use next::next;
use spend::Cost;

/// Values by cell and block.
type Values = BTreeMap<PairKey, f64>;

/// One difference that was declared, over the sessions.
struct Line {
    /// The candidate, the twin, or the contrast's id.
    name: String,
    is_control: bool,
    over: OverSessions,
    /// `None` where all sessions were on one machine.
    machines: Option<OnMachines>,
    /// `None` where the blocks answer.
    cost: Option<Cost>,
    outcome: Outcome,
    why: Option<String>,
}

/// A declared comparison or contrast.
struct Question<'s> {
    machines: Machines<'s>,
    title: String,
    asked: Cow<'s, Comparison>,
    unit: Unit,
    better: Better,
    lines: Vec<Line>,
}

/// A table for each declared comparison and for the contrasts, as Markdown. The first session's
/// declaration counts; all are records of one experiment.
///
/// `None` where nothing that was declared was measured in two sessions.
pub fn over(studies: &[Study]) -> Option<String> {
    let questions = questions(studies);
    let told = questions.iter().filter(|question| !question.lines.is_empty());
    let tables: Vec<String> = told.map(Question::table).collect();
    let summary = summary(&questions)?;
    (!tables.is_empty()).then(|| format!("{summary}\n\n{}", tables.concat()))
}

/// How many differences have a verdict, how many differ by session, and how far sessions differ.
fn summary(questions: &[Question]) -> Option<String> {
    let lines = || {
        let all = questions.iter().flat_map(|it| it.lines.iter().map(move |line| (it, line)));
        all.filter(|(_, line)| !line.is_control)
    };
    let count = |outcome| lines().filter(|(_, line)| line.outcome == outcome).count();
    let words: Vec<String> = Outcome::ALL
        .into_iter()
        .map(|outcome| (count(outcome), outcome))
        .filter(|(count, _)| *count > 0)
        .map(|(count, outcome)| format!("{count} {outcome}"))
        .collect();
    let is_apart = |line: &Line| line.over.over.as_ref().is_some_and(Sessions::differ);
    let differ = lines().filter(|(_, line)| is_apart(line)).count();
    let ratios = lines().filter(|(question, _)| question.asked.scale == Scale::Ratio);
    let taus: Vec<f64> =
        ratios.filter_map(|(_, line)| Some(line.over.over.as_ref()?.tau)).collect();
    let shown = |tau: f64| show_percent(tau.exp_m1()).trim_start_matches('+').to_owned();
    let spread = match (median(&taus), taus.iter().copied().max_by(f64::total_cmp)) {
        (Some(middle), Some(most)) => {
            format!(" τ of ratios is {} in the middle, {} at most.", shown(middle), shown(most))
        }
        _ => String::new(),
    };
    let all = lines().count();
    (all > 0).then(|| {
        format!("{all} differences: {}; {differ} differ by session.{spread}", words.join(", "))
    })
}

/// How well each question is known over the sessions, and where more time is spent best, a line
/// each; empty where nothing that was declared was measured in two sessions.
pub fn spend(studies: &[Study]) -> String {
    let line = |question: &Question| {
        Some(format!("* {}: {}\n", question.title, question.where_to_spend()?))
    };
    questions(studies).iter().filter_map(line).collect()
}

/// Every declared comparison and contrast, in their order.
fn questions<'s>(studies: &'s [Study]) -> Vec<Question<'s>> {
    let Some(first) = studies.first() else { return Vec::new() };
    let comparisons = first.compared.iter().map(|one| of_comparison(studies, one.comparison));
    let contrasts = first.frame.run_file.analysis.contrasts.iter();
    comparisons.chain(contrasts.map(|contrast| of_contrast(studies, contrast))).collect()
}

fn question<'s>(studies: &'s [Study], title: String, asked: Cow<'s, Comparison>) -> Question<'s> {
    let study = &studies[0];
    let metric = study.metric(&asked.metric);
    Question {
        machines: Machines::of(studies),
        title,
        unit: study.unit(&asked.metric),
        asked,
        better: metric.map_or(Better::Lower, |metric| metric.better),
        lines: Vec::new(),
    }
}

fn of_comparison<'s>(studies: &'s [Study], asked: &'s Comparison) -> Question<'s> {
    let first = &studies[0];
    let analysis = &first.frame.run_file.analysis;
    let levels =
        |(factor, levels): (&String, &Vec<String>)| format!("{factor} {}", levels.join("/"));
    let cells: Vec<String> = asked.cells.iter().map(levels).collect();
    let place = if cells.is_empty() { String::new() } else { format!(" ({})", cells.join("; ")) };
    let title = format!("{}{place} against `{}`", first.heading(&asked.metric), analysis.reference);
    let mut question = question(studies, title, Cow::Borrowed(asked));
    let candidates = first.candidates();
    let twins = first.frame.twins().into_iter();
    let twins = twins.filter(|(_, original)| *original == analysis.reference);
    let alpha = analysis.alpha / candidates.len().max(1) as f64;
    let all = candidates.iter().map(|name| (*name, alpha, false));
    for (name, alpha, is_control) in all.chain(twins.map(|(twin, _)| (twin, AA_LEVEL, true))) {
        let sides = [name, analysis.reference.as_str()];
        let values = studies.iter().map(|study| sides.map(|side| study.values(asked, side)));
        let values: Vec<[Values; 2]> = values.collect();
        let cost = Cost::of(studies, sides, &values);
        question.add(name, is_control, (&values, cost), alpha);
    }
    question.judge();
    question
}

fn of_contrast<'s>(studies: &'s [Study], one: &Contrast) -> Question<'s> {
    let first = &studies[0];
    let analysis = &first.frame.run_file.analysis;
    let sides = sides(one);
    let title = format!(
        "{} of `{}` with {} {} against {}",
        first.heading(&one.metric),
        one.variant,
        one.factor,
        one.level,
        one.reference,
    );
    let mut question = question(studies, title, Cow::Owned(sides[0].clone()));
    let alpha = analysis.alpha / analysis.contrasts.len() as f64;
    let values = studies
        .iter()
        .map(|study| sides.each_ref().map(|side| study.values_of_level(one, side, &one.variant)));
    let values: Vec<[Values; 2]> = values.collect();
    let cost = Cost::of(studies, [&one.variant; 2], &values);
    question.add(&one.id, false, (&values, cost), alpha);
    question.judge();
    question
}

/// Session and difference, one for each block that has all cells that every session has on both
/// sides.
fn pairs(sessions: &[[Values; 2]]) -> Vec<(usize, f64)> {
    let cells = |values: &Values| -> BTreeSet<String> {
        values.keys().map(|(cell, _)| cell.clone()).collect()
    };
    let all = sessions.iter().flatten().map(cells);
    let Some(shared) = all.reduce(|a, b| &a & &b) else { return Vec::new() };
    let mut pairs = Vec::new();
    for (session, [a, b]) in sessions.iter().enumerate() {
        let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for ((cell, block), value) in a.iter().filter(|((cell, _), _)| shared.contains(cell)) {
            if let Some(reference) = b.get(&(cell.clone(), *block)) {
                blocks.entry(*block).or_default().push(value - reference);
            }
        }
        let whole = blocks.into_values().filter(|cells| cells.len() == shared.len());
        pairs.extend(whole.map(|cells| (session, cells.iter().sum::<f64>() / cells.len() as f64)));
    }
    pairs
}

impl Question<'_> {
    fn add(
        &mut self,
        name: &str,
        is_control: bool,
        (sessions, cost): (&[[Values; 2]], Option<Cost>),
        alpha: f64,
    ) {
        let pairs = pairs(sessions);
        let over = over_sessions(&pairs, sessions.len(), alpha);
        if over.over.is_some() {
            let machines = self.machines.judged(&pairs, alpha);
            let (name, outcome) = (name.to_owned(), Outcome::CannotTell);
            self.lines.push(Line { name, is_control, over, machines, cost, outcome, why: None });
        }
    }

    fn judge(&mut self) {
        let holds_0 = |over: &Sessions| over.interval[0] <= 0.0 && 0.0 <= over.interval[1];
        let mut controls = self.lines.iter().filter(|line| line.is_control);
        let is_off = controls.any(|line| line.over.over.as_ref().is_some_and(|it| !holds_0(it)));
        let margin = scaled_margin(&self.asked);
        for line in &mut self.lines {
            let asked = line.over.pairs.len();
            let Some(over) = &line.over.over else { continue };
            let differs = over.differ().then(|| "differs by session".to_owned());
            (line.outcome, line.why) = match line.over.verdict_over() {
                _ if line.is_control => (Outcome::CannotTell, differs),
                None if asked < ENOUGH_SESSIONS => {
                    let said = format!("{asked} sessions, and {ENOUGH_SESSIONS} are needed");
                    (Outcome::CannotTell, Some(said))
                }
                None => {
                    let told = line.over.each.len();
                    let said = format!("{told} of {asked} sessions have two pairs");
                    (Outcome::CannotTell, Some(said))
                }
                Some(_) if is_off => (Outcome::Withheld, Some("A/A over sessions".to_owned())),
                Some(over) => {
                    (turned(verdict(over.interval, margin).outcome, self.better), differs)
                }
            };
        }
    }

    fn show(&self, difference: f64) -> String {
        show_on(self.asked.scale, self.unit, difference)
    }

    fn size(&self, difference: f64) -> String {
        if difference == 0.0 && self.asked.scale == Scale::Ratio {
            return "0 %".to_owned();
        }
        self.show(difference).trim_start_matches(['+', '±']).to_owned()
    }

    fn ends(&self, middle: f64, ends: [f64; 2]) -> String {
        show_with_ends(&self.show(middle), [&self.show(ends[0]), &self.show(ends[1])])
    }

    fn table(&self) -> String {
        let shown = |line: &Line, show: &dyn Fn(&Sessions) -> String| {
            Entry::optional(line.over.over.as_ref().map(show))
        };
        let estimate = |found: &Sessions| self.ends(found.estimate, found.interval);
        let between = |found: &Sessions| {
            show_with_ends(
                &self.size(found.tau),
                [&self.size(found.tau_interval[0]), &self.size(found.tau_interval[1])],
            )
        };
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let part = |found: &Sessions| {
            let [low, high] = found.i_squared_interval.map(percent);
            show_with_ends(&percent(found.i_squared), [&low, &high])
        };
        let next = |found: &Sessions| {
            format!("{} … {}", self.show(found.prediction[0]), self.show(found.prediction[1]))
        };
        let outcome = |line: &Line| match (line.is_control, &line.why) {
            (true, why) => why.clone().unwrap_or_default(),
            (false, Some(why)) => format!("{}: {why}", line.outcome),
            (false, None) => line.outcome.to_string(),
        };
        let role = |line: &Line| if line.is_control { " (A/A)" } else { "" };
        let name = |line: &Line| format!("`{}`{}", line.name, role(line));
        let table = Table::over(
            &self.lines,
            &[
                Words("of", "", &|line| name(line)),
                Count("sessions", "", &|line| line.over.each.len()),
                Any("over sessions", "", &|line| shown(line, &estimate)),
                Any("τ", "", &|line| shown(line, &between)),
                Any("I²", "", &|line| shown(line, &part)),
                Any("the next session", "", &|line| shown(line, &next)),
                Words("outcome", "", &|line| outcome(line)),
            ],
        );
        let margin = match self.asked.scale {
            Scale::Ratio => format!("{} %", 100.0 * self.asked.margin),
            Scale::Difference => self.size(self.asked.margin),
        };
        let spend = self.where_to_spend().map(|said| format!("\n{said}\n")).unwrap_or_default();
        let machines = self.machines.table(self);
        format!("{}, margin {margin}\n\n{}{spend}{machines}\n", self.title, table.markdown())
    }

    fn is_off_over_machines(&self) -> bool {
        let mut controls = self.lines.iter().filter(|line| line.is_control);
        controls.any(|line| line.machines.as_ref().is_some_and(OnMachines::leaves_out_0))
    }
}

fn turned(outcome: Outcome, better: Better) -> Outcome {
    match (better, outcome) {
        (Better::Higher, Outcome::Faster) => Outcome::Slower,
        (Better::Higher, Outcome::Slower) => Outcome::Faster,
        (_, outcome) => outcome,
    }
}
