//! What planned questions should come to be known to, and in what time, by the records of an
//! earlier sweep: if its machine is as noisy as it was then.

use std::collections::BTreeMap;

use lab_family::{Unit, text};
use lab_record::{Analysis, Comparison, Expectation, Question, Rounds, Run, RunFile, Scale};

use super::{Questions, trial::Promise};
use crate::compare::{Line, scaled_margin, takes_part};
use crate::frame::{Frame, Row, is_analysed};
use crate::measure::Measured;
use crate::study::{Study, show_on};
use crate::{FamilyReport, ReportError, contrast, family_of};

const NS_PER_S: f64 = 1e9;

/// What is to be run.
pub struct Planned<'p> {
    /// Its questions.
    pub analysis: &'p Analysis,
    /// Some of which are asked in rounds too.
    pub expectations: &'p [Expectation],
    /// Its blocks.
    pub blocks: u32,
}

/// What may be expected of one question.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// What it is about, for people.
    pub question: String,
    /// The margin on the question's scale; an expectation has bounds instead.
    pub margin: Option<f64>,
    /// The differences that should be detectable with a power of 80 %, of the best and of the worst
    /// known variant, on the question's scale; `None` where the record has too few pairs to tell.
    pub detectable: Option<(f64, f64)>,
    /// How long it should take.
    pub seconds: f64,
    /// How long it would take until all of it is known to its margin, and an expectation decided;
    /// `None` where nobody knows, and where blocks end when they end.
    pub needed_s: Option<f64>,
    /// Whether its pairs come from blocks, whose runs do not lie side by side: rounds know more.
    pub apart: bool,
    /// Whether the blocks answer it although others are asked in rounds.
    pub left_to_blocks: bool,
    scale: Scale,
    unit: Unit,
}

impl Forecast {
    /// A difference on its scale, for people: "±2.10 %".
    pub fn size(&self, difference: f64) -> String {
        let shown = show_on(self.scale, self.unit, difference);
        format!("±{}", shown.trim_start_matches('+'))
    }
}

/// A forecast for each declared question: for those in rounds, and for the comparisons and
/// contrasts that blocks answer.
///
/// # Errors
/// Where the record holds no run, or is of no family of this lab.
pub fn forecast(
    mut record: Frame,
    planned: &Planned<'_>,
    families: &[&dyn FamilyReport],
) -> Result<Vec<Forecast>, ReportError> {
    let family = family_of(&record, families)?;
    let rounds = planned.analysis.rounds;
    let mut forecasts =
        rounds.map_or_else(Vec::new, |rounds| in_rounds(&record, planned, family, rounds));
    if rounds.is_some() && planned.analysis.beside_rounds() == 0 {
        return Ok(forecasts);
    }
    let before = record.run_file.blocks;
    let file = record.run_file.clone();
    record.rows.retain(|row| file.question_of(row.run.block).is_none());
    record.run_file.analysis = planned.analysis.clone();
    record.run_file.expectations.clear();
    let more = f64::from(planned.blocks) / f64::from(before.max(1));
    forecasts.extend(in_blocks(&Study::of(&record, family), more));
    Ok(forecasts)
}

/// Of the questions that blocks answer, where there are `more` times as many as in the record.
fn in_blocks(study: &Study, more: f64) -> Vec<Forecast> {
    let seconds = |takes: &dyn Fn(&Run) -> bool| {
        let runs = study.all.iter().map(|one| &one.row.run).filter(|run| takes(run));
        more * runs.map(|run| run.process_ns as f64).sum::<f64>() / NS_PER_S
    };
    let analysis = &study.frame.run_file.analysis;
    let left_to_blocks = analysis.rounds.is_some();
    let compared = study.compared.iter();
    let compared = compared.filter(|judged| analysis.is_left_to_blocks(judged.comparison.rounds));
    let compared = compared.map(|judged| Forecast {
        question: judged.comparison.label(),
        margin: Some(scaled_margin(judged.comparison)),
        detectable: ends(&judged.lines, more),
        seconds: seconds(&|run| takes_part(judged.comparison, &run.cell)),
        needed_s: None,
        apart: false,
        left_to_blocks,
        scale: judged.comparison.scale,
        unit: judged.unit(),
    });
    let contrasted = study.contrasted.iter();
    let contrasted = contrasted.filter(|one| analysis.is_left_to_blocks(one.contrast.rounds));
    let contrasted = contrasted.map(|one| Forecast {
        question: one.contrast.id.clone(),
        margin: Some(one.margin),
        detectable: ends(std::slice::from_ref(&one.line), more),
        seconds: seconds(&|run| {
            let sides = contrast::sides(one.contrast);
            run.variant == one.contrast.variant
                && sides.iter().any(|side| takes_part(side, &run.cell))
        }),
        needed_s: None,
        apart: false,
        left_to_blocks,
        scale: one.contrast.scale,
        unit: study.unit(&one.contrast.metric),
    });
    compared.chain(contrasted).collect()
}

/// What was detectable of the best and the worst known line, with so many times the pairs.
fn ends(lines: &[Line], more: f64) -> Option<(f64, f64)> {
    let sizes = lines.iter().filter_map(|line| line.detectable);
    let sizes: Vec<f64> = sizes.map(|size| size / more.sqrt()).collect();
    let least = sizes.iter().copied().reduce(f64::min)?;
    Some((least, sizes.into_iter().fold(least, f64::max)))
}

fn in_rounds(
    record: &Frame,
    planned: &Planned<'_>,
    family: &dyn FamilyReport,
    rounds: Rounds,
) -> Vec<Forecast> {
    let asked = RunFile {
        analysis: planned.analysis.clone(),
        expectations: planned.expectations.to_vec(),
        ..record.run_file.clone()
    };
    let now = asked.analysis.questions(&asked.expectations);
    let Filled { questions, apart } = filled(record, &asked, family, &now);
    let promises: Vec<Vec<Promise>> =
        (0..now.len()).map(|place| questions.promises(place)).collect();
    let needed: Vec<Option<f64>> = promises.iter().map(|of| needed_s(of)).collect();
    let spent = shares(&needed, f64::from(rounds.budget_s));
    let mut forecasts = Vec::new();
    for (place, question) in now.iter().enumerate() {
        let round_s = promises[place].first().map_or(0.0, |one| one.round_ns) / NS_PER_S;
        let most = f64::from(rounds.most);
        let count = if round_s > 0.0 { (spent[place] / round_s).min(most) } else { 0.0 };
        let about = About { family, analysis: &asked.analysis, question };
        let known = questions.detectable_in(place, count).into_iter().enumerate();
        forecasts.extend(known.map(|(part, detectable)| Forecast {
            question: about.label(part),
            margin: about.comparison(part).map(|one| scaled_margin(&one)),
            detectable,
            seconds: spent[place],
            needed_s: needed[place],
            apart: apart[place],
            left_to_blocks: false,
            scale: about.comparison(part).map_or(Scale::Ratio, |one| one.scale),
            unit: about.unit(part),
        }));
    }
    forecasts
}

/// Today's questions with the pairs of a record.
struct Filled {
    questions: Questions,
    /// Whether the pairs of a question come from blocks, by question.
    apart: Vec<bool>,
}

fn filled(
    record: &Frame,
    asked: &RunFile,
    family: &dyn FamilyReport,
    now: &[Question<'_>],
) -> Filled {
    let file = &record.run_file;
    let profile = file.profile.as_deref();
    let section = text::stored_section(&file.experiment_toml, family.definition(), profile);
    let defaults = family.stored_defaults(record, &section);
    let rows = record.in_plan_order();
    let rows: Vec<&Row> = rows.into_iter().filter(|row| is_analysed(&row.run)).collect();
    let measured = family.measure(record, &section, &rows);
    let mut questions = Questions::of(asked, family, &defaults);
    let is_map = |one: &&Measured| file.question_of(one.row.run.block).is_none();
    let map: Vec<&Measured> = measured.iter().filter(is_map).collect();
    map.iter().for_each(|one| questions.expect_control(&one.row.run));
    questions.choose(&map);
    let then = file.analysis.questions(&file.expectations);
    let mut apart = Vec::new();
    for (place, question) in now.iter().enumerate() {
        let same = |one: &Question<'_>| is_same(one, &file.analysis, question, &asked.analysis);
        let before = then.iter().position(same);
        let is_asked =
            |one: &&Measured| before.is_some() && file.question_of(one.row.run.block) == before;
        let mut pairs: Vec<&Measured> = measured.iter().filter(is_asked).collect();
        apart.push(pairs.is_empty());
        if pairs.is_empty() {
            let is_part = |one: &&Measured| {
                is_map(one) && questions.is_part(place, question, &asked.analysis, &one.row.run)
            };
            pairs = measured.iter().filter(is_part).collect();
        }
        questions.take_all(place, &pairs);
    }
    Filled { questions, apart }
}

/// How long a question takes until all its parts are known: they share their rounds.
fn needed_s(parts: &[Promise]) -> Option<f64> {
    let one = |part: &Promise| Some(part.rounds_needed? * part.round_ns / NS_PER_S);
    let needed = parts.iter().map(one).collect::<Option<Vec<_>>>()?;
    needed.into_iter().reduce(f64::max)
}

/// Everybody's part of some time: what is needed, and no more than an equal share of what those who
/// need less leave. Who does not know needs all there is.
fn shares(needed: &[Option<f64>], mut left: f64) -> Vec<f64> {
    let need = |place: &usize| needed[*place].unwrap_or(f64::INFINITY);
    let mut order: Vec<usize> = (0..needed.len()).collect();
    order.sort_by(|a, b| need(a).total_cmp(&need(b)));
    let mut shares = vec![0.0; needed.len()];
    for (done, place) in order.into_iter().enumerate() {
        shares[place] = need(&place).min(left / (needed.len() - done) as f64);
        left -= shares[place];
    }
    shares
}

/// Whether two questions, of a sweep each, are about the same.
fn is_same(one: &Question<'_>, of: &Analysis, other: &Question<'_>, of_other: &Analysis) -> bool {
    match (one, other) {
        (Question::Comparisons(those), Question::Comparisons(these)) => {
            let cells = |analysis: &Analysis, places: &[usize]| {
                analysis.comparisons[places[0]].cells.clone()
            };
            of.reference == of_other.reference && cells(of, those) == cells(of_other, these)
        }
        (Question::Contrast(one), Question::Contrast(other)) => one == other,
        (Question::Expectation(one), Question::Expectation(other)) => one.id == other.id,
        _ => false,
    }
}

/// What one of the questions is about, part by part.
struct About<'a> {
    family: &'a dyn FamilyReport,
    analysis: &'a Analysis,
    question: &'a Question<'a>,
}

impl About<'_> {
    /// What one of its parts compares; nothing where it has bounds.
    fn comparison(&self, part: usize) -> Option<Comparison> {
        match self.question {
            Question::Comparisons(places) => {
                places.get(part).map(|place| self.analysis.comparisons[*place].clone())
            }
            Question::Contrast(one) => contrast::sides(one).into_iter().next(),
            Question::Expectation(_) => None,
        }
    }

    fn label(&self, part: usize) -> String {
        match self.question {
            Question::Comparisons(_) => {
                self.comparison(part).map_or(String::new(), |one| one.label())
            }
            Question::Contrast(one) => one.id.clone(),
            Question::Expectation(one) => one.id.clone(),
        }
    }

    fn unit(&self, part: usize) -> Unit {
        let metric = self.comparison(part).and_then(|one| self.family.metric(&one.metric));
        metric.map_or(Unit::Count, |metric| metric.unit)
    }
}

impl Questions {
    /// Whether a run of a block belongs to a question as a run of its rounds would.
    fn is_part(
        &self,
        place: usize,
        question: &Question<'_>,
        analysis: &Analysis,
        run: &Run,
    ) -> bool {
        self.wants(place, &run.variant, &run.cell)
            && match question {
                Question::Comparisons(places) => {
                    takes_part(&analysis.comparisons[places[0]], &run.cell)
                }
                Question::Contrast(one) => {
                    let sides = contrast::sides(one);
                    one.variant == run.variant
                        && sides.iter().any(|side| takes_part(side, &run.cell))
                }
                Question::Expectation(_) => true,
            }
    }

    /// Takes runs by block, each as a round.
    fn take_all(&mut self, place: usize, pairs: &[&Measured]) {
        let mut rounds: BTreeMap<u32, Vec<&Measured>> = BTreeMap::new();
        for one in pairs {
            rounds.entry(one.row.run.block).or_default().push(one);
        }
        for measured in rounds.values() {
            let runs: Vec<&Run> = measured.iter().map(|one| &one.row.run).collect();
            self.take(place, &runs, measured);
        }
    }

    /// One for each part of a question.
    fn promises(&self, place: usize) -> Vec<Promise> {
        match place.checked_sub(self.trials.len()) {
            Some(place) => self.expected.get(place).map(|one| one.promise()).into_iter().collect(),
            None => self.trials[place].iter().map(|trials| trials.promise()).collect(),
        }
    }

    fn detectable_in(&self, place: usize, rounds: f64) -> Vec<Option<(f64, f64)>> {
        match place.checked_sub(self.trials.len()) {
            Some(place) => {
                let one = self.expected.get(place);
                one.map(|one| one.detectable_in(rounds)).into_iter().collect()
            }
            None => self.trials[place].iter().map(|one| one.detectable_in(rounds)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_little_questions_leave_is_for_the_others() {
        assert_eq!(shares(&[Some(1.0), None, Some(20.0)], 31.0), [1.0, 15.0, 15.0]);
        assert_eq!(shares(&[Some(1.0), Some(2.0)], 100.0), [1.0, 2.0]);
        assert_eq!(shares(&[], 5.0), [0.0; 0]);
    }
}
