//! What a run leaves to the next, as far as the rounds of a sweep tell of it. Until controls had
//! rounds of their own, each round held the reference, its twin and the candidates: the reference's
//! program was right after itself more often than a candidate was. How much that can have moved a
//! difference, the records of these rounds say themselves.

use std::collections::{BTreeMap, BTreeSet};

use lab_family::Cell;
use lab_record::{Comparison, Run, Scale};
use lab_stats::{
    after_itself::{AfterItself, FirstRun},
    describe::median,
    outcome::Outcome,
};

use crate::compare::{Line, on_scale, scaled_margin, takes_part};
use crate::contrast;
use crate::frame::cell_but;
use crate::measure::Measured;
use crate::study::{Study, show_on};

/// Of the interval of a bias.
const CONFIDENCE: f64 = 0.95;
/// Where too few runs tell, no program is taken to be more than so many times as fast right after
/// itself: that of a verdict which not even this would change is known.
const GAIN_MOST: f64 = 4.0;

/// A line of a question that was asked in rounds, and what its runs left to each other.
pub(crate) struct Carried<'s> {
    /// "wall_ns gigabyte 2", or the contrast's id.
    pub(crate) question: String,
    pub(crate) line: &'s Line,
    /// What its difference is of, with its scale and margin.
    pub(crate) asked: Comparison,
    /// Of the reference's program, then of the candidate's: how their runs right after themselves
    /// differ from their others, on the line's scale.
    pub(crate) gains: Option<[AfterItself; 2]>,
    /// Which part of the paired runs of each was right after itself.
    pub(crate) shares: [f64; 2],
    /// Whether each side was in every round once, and nothing that shares a program with it was.
    pub(crate) is_fair: bool,
}

/// Every line that has pairs from rounds.
pub(crate) fn carried<'s>(study: &'s Study) -> Vec<Carried<'s>> {
    let history = History::of(study);
    let mut carried = Vec::new();
    for compared in &study.compared {
        let Some(place) = study.questions.place(compared.comparison) else { continue };
        let told = Told::of(&history, place, compared.comparison, None);
        for line in &compared.lines {
            let sides = [study.reference(), line.variant.as_str()].map(|one| (one, None));
            carried.extend(told.of_line(compared.comparison.label(), line, sides));
        }
    }
    for one in &study.contrasted {
        let Some(place) = study.questions.place_of_contrast(&one.contrast.id) else { continue };
        let [side, _] = contrast::sides(one.contrast);
        let asked = Comparison { cells: one.contrast.cells.clone(), ..side };
        let told = Told::of(&history, place, &asked, Some(&one.contrast.factor));
        let sides = [&one.contrast.reference, &one.contrast.level]
            .map(|level| (one.contrast.variant.as_str(), Some(level.as_str())));
        carried.extend(told.of_line(one.contrast.id.clone(), &one.line, sides));
    }
    carried
}

/// A program at work: a twin is the program that it copies.
type Program<'s> = (&'s str, &'s Cell);

/// All runs of a sweep, and what ran before each.
struct History<'s> {
    study: &'s Study<'s>,
    before: BTreeMap<(u64, u32), &'s Run>,
    /// The first counted run of each block.
    firsts: BTreeSet<(u64, u32)>,
    twins: BTreeMap<&'s str, &'s str>,
}

fn key(run: &Run) -> (u64, u32) {
    (run.order, run.attempt)
}

impl<'s> History<'s> {
    fn of(study: &'s Study) -> Self {
        let mut runs: Vec<&Run> = study.rows.iter().map(|row| &row.run).collect();
        runs.sort_by_key(|run| run.start_ns);
        let before = runs.windows(2).map(|pair| (key(pair[1]), pair[0])).collect();
        let mut blocks = BTreeSet::new();
        let counted = runs.iter().filter(|run| !run.warmup);
        let firsts = counted.filter(|run| blocks.insert(run.block)).map(|run| key(run)).collect();
        Self { study, before, firsts, twins: study.frame.twins().into_iter().collect() }
    }

    fn program(&self, run: &'s Run) -> Program<'s> {
        let name = run.variant.as_str();
        (self.twins.get(name).copied().unwrap_or(name), &run.cell)
    }

    fn is_after_itself(&self, run: &'s Run) -> bool {
        self.before.get(&key(run)).is_some_and(|before| self.program(before) == self.program(run))
    }

    /// Whether it is the first of its round, right after a round of the same question or after
    /// its wash.
    fn is_seam(&self, run: &Run) -> bool {
        let question = |block| self.study.frame.run_file.question_of(block);
        self.firsts.contains(&key(run))
            && self
                .before
                .get(&key(run))
                .is_some_and(|before| question(before.block) == question(run.block))
    }
}

/// One run of a question in one metric.
struct Valued<'s> {
    run: &'s Run,
    /// Of a variant in a cell, less one factor.
    cell: String,
    level: Option<&'s str>,
    /// On the line's scale.
    value: f64,
}

/// What the rounds of one question say in one metric.
struct Told<'h, 's> {
    history: &'h History<'s>,
    asked: Comparison,
    runs: Vec<Valued<'s>>,
    firsts: BTreeMap<Program<'s>, Vec<FirstRun>>,
    is_fair: bool,
}

impl<'h, 's> Told<'h, 's> {
    fn of(
        history: &'h History<'s>,
        place: usize,
        asked: &Comparison,
        factor: Option<&str>,
    ) -> Self {
        let study = history.study;
        let is_asked = |one: &&Measured<'s>| {
            let run = &one.row.run;
            study.frame.run_file.question_of(run.block) == Some(place)
                && takes_part(asked, &run.cell)
        };
        let runs = study.in_rounds.iter().filter(is_asked).filter_map(|one| {
            let run: &'s Run = &one.row.run;
            Some(Valued {
                run,
                cell: cell_but(run, &factor.into_iter().collect::<Vec<_>>()),
                level: factor.and_then(|factor| run.cell.get(factor)).map(String::as_str),
                value: on_scale(one.value(&asked.metric), asked.scale)?,
            })
        });
        let mut runs: Vec<Valued> = runs.collect();
        let is_twin = |run: &Run| history.twins.contains_key(run.variant.as_str());
        let blocks = |is: &dyn Fn(&Run) -> bool| -> BTreeSet<u32> {
            runs.iter().filter(|one| is(one.run)).map(|one| one.run.block).collect()
        };
        let about = blocks(&|run| !is_twin(run) && run.variant != study.reference());
        let with_twin = blocks(&is_twin);
        let is_fair = factor.is_some() || about.is_disjoint(&with_twin);
        // What a control's rounds tell is of one program alone.
        runs.retain(|one| factor.is_some() || about.contains(&one.run.block));
        let firsts = firsts(history, &runs);
        Self { history, asked: asked.clone(), runs, firsts, is_fair }
    }

    /// A line whose sides are (variant, level): the reference first.
    fn of_line<'l>(
        &self,
        question: String,
        line: &'l Line,
        sides: [(&str, Option<&str>); 2],
    ) -> Option<Carried<'l>> {
        let of = |(variant, level): (&str, Option<&str>)| -> BTreeMap<(&str, u32), &'s Run> {
            let here = self.runs.iter().filter(|one| {
                one.run.variant == variant && (level.is_none() || one.level == level)
            });
            here.map(|one| ((one.cell.as_str(), one.run.block), one.run)).collect()
        };
        let [below, above] = sides.map(of);
        let paired = [(&below, &above), (&above, &below)].map(|(side, other)| -> Vec<&Run> {
            side.iter().filter(|(key, _)| other.contains_key(*key)).map(|(_, run)| *run).collect()
        });
        if line.n == 0 || paired.iter().any(Vec::is_empty) {
            return None;
        }
        let shares = [&paired[0], &paired[1]].map(|runs| {
            let own = runs.iter().filter(|run| self.history.is_after_itself(run));
            own.count() as f64 / runs.len() as f64
        });
        let programs = [&paired[0], &paired[1]]
            .map(|runs| runs.iter().map(|run| self.history.program(run)).collect::<BTreeSet<_>>());
        let asked = self.asked.clone();
        let gains = self.gains(&programs);
        Some(Carried { question, line, asked, gains, shares, is_fair: self.is_fair })
    }

    /// Of both sides, each by its own runs where both have enough of them, else by those of all.
    fn gains(&self, programs: &[BTreeSet<Program<'s>>; 2]) -> Option<[AfterItself; 2]> {
        let each = |own: &dyn Fn(&Program) -> bool| {
            let here = self.firsts.iter().filter(|(program, _)| own(program));
            let found: Vec<_> = here.filter_map(|(_, runs)| AfterItself::of(runs)).collect();
            AfterItself::pooled(&found)
        };
        let [below, above] =
            [&programs[0], &programs[1]].map(|own| each(&|program| own.contains(program)));
        match below.zip(above) {
            Some((below, above)) => Some([below, above]),
            None => each(&|_| true).map(|all| [all, all]),
        }
    }
}

/// First runs of rounds by program, each less what its variant has in the middle and less the mean
/// of the other runs of its round, of which the same was taken off.
fn firsts<'s>(history: &History<'s>, runs: &[Valued<'s>]) -> BTreeMap<Program<'s>, Vec<FirstRun>> {
    let mut values: BTreeMap<(&str, &Cell), Vec<f64>> = BTreeMap::new();
    for one in runs {
        values.entry((&one.run.variant, &one.run.cell)).or_default().push(one.value);
    }
    let middles: BTreeMap<_, f64> = values
        .into_iter()
        .filter_map(|(variant, values)| Some((variant, median(&values)?)))
        .collect();
    let mut rounds: BTreeMap<u32, Vec<(&'s Run, f64)>> = BTreeMap::new();
    for one in runs {
        let middle = middles[&(one.run.variant.as_str(), &one.run.cell)];
        rounds.entry(one.run.block).or_default().push((one.run, one.value - middle));
    }
    let mut firsts: BTreeMap<Program<'s>, Vec<FirstRun>> = BTreeMap::new();
    for round in rounds.values() {
        let others = round.len() as f64 - 1.0;
        let Some((run, value)) = round.iter().find(|(run, _)| history.is_seam(run)) else {
            continue;
        };
        if others > 0.0 {
            let sum: f64 = round.iter().map(|(_, value)| value).sum();
            let log_time = value - (sum - value) / others;
            let first = FirstRun { log_time, after_itself: history.is_after_itself(run) };
            firsts.entry(history.program(run)).or_default().push(first);
        }
    }
    firsts
}

impl Carried<'_> {
    /// What the unequal shares can have added to the line's difference: nothing where the rounds
    /// are fair, and nobody knows where too few runs tell.
    pub(crate) fn bias(&self) -> Option<AfterItself> {
        let [below, above] = self.gains?;
        let [of_below, of_above] = self.shares;
        if below == above {
            let by = of_above - of_below;
            return Some(AfterItself {
                shift: below.shift * by,
                standard_error: below.standard_error * by.abs(),
                ..below
            });
        }
        let parts = [above.standard_error * of_above, below.standard_error * of_below];
        let variance: f64 = parts.iter().map(|part| part.powi(2)).sum();
        let spread = parts[0].powi(4) / above.df + parts[1].powi(4) / below.df;
        Some(AfterItself {
            shift: above.shift * of_above - below.shift * of_below,
            standard_error: variance.sqrt(),
            df: variance.powi(2) / spread,
            own: below.own + above.own,
            other: below.other + above.other,
        })
    }

    /// The interval of that, where there is one.
    pub(crate) fn bias_ends(&self) -> Option<[f64; 2]> {
        self.bias().filter(|_| !self.is_fair)?.interval(CONFIDENCE)
    }

    /// Whether the line has a verdict at all.
    pub(crate) fn is_verdict(&self) -> bool {
        let given = [Outcome::Faster, Outcome::Slower, Outcome::Equivalent];
        given.contains(&self.line.finding.outcome)
    }

    /// Whether its verdict is no longer given once the bias is taken off; `None` where that is not
    /// known, or there is none.
    pub(crate) fn could_change(&self) -> Option<bool> {
        let ends = self.line.interval().filter(|_| self.is_verdict())?;
        if self.is_fair {
            return Some(false);
        }
        let margin = scaled_margin(&self.asked);
        let is_equivalent = self.line.finding.outcome == Outcome::Equivalent;
        let read = |bias: f64| Read::of(ends.low - bias, ends.high - bias, margin);
        let was = read(0.0);
        let stays = |bias: f64| {
            let is = read(bias);
            let side = is_equivalent || is.side == was.side;
            side && (was.is_within.is_none() || is.is_within == was.is_within)
        };
        match self.bias_ends() {
            Some(ends) => Some(!ends.into_iter().all(stays)),
            None if self.asked.scale == Scale::Difference => None,
            None => {
                let most = GAIN_MOST.ln() * (self.shares[0] - self.shares[1]);
                [most, -most].into_iter().all(stays).then_some(false)
            }
        }
    }

    /// A difference on the line's scale, for people.
    pub(crate) fn show(&self, study: &Study, difference: f64) -> String {
        show_on(self.asked.scale, study.unit(&self.asked.metric), difference)
    }
}

/// Where an interval lies.
struct Read {
    /// Below 0, above it, or neither.
    side: i8,
    /// Within the margin, beyond it, or neither.
    is_within: Option<bool>,
}

impl Read {
    fn of(low: f64, high: f64, margin: f64) -> Self {
        let within = -margin <= low && high <= margin;
        let beyond = margin <= low || high <= -margin;
        Self {
            side: i8::from(low > 0.0) - i8::from(high < 0.0),
            is_within: (within || beyond).then_some(within),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use lab_stats::{interval::Interval, paired::ShiftEstimate};

    use super::*;

    fn gain(shift: f64) -> AfterItself {
        AfterItself { shift, standard_error: 0.01, df: 30.0, own: 16, other: 16 }
    }

    /// A line with an interval and a margin of 5 %, whose reference has 0.4 more of its runs right
    /// after themselves.
    fn line(outcome: Outcome, [low, high]: [f64; 2]) -> Line {
        let interval = Some(Interval { low, high, confidence: 0.95 });
        let shift = Some(ShiftEstimate { estimate: (low + high) / 2.0, interval });
        let mut line = Line { n: 100, shift, ..Line::not_measured("b") };
        line.finding.outcome = outcome;
        line
    }

    fn carried(line: &Line, gains: Option<[f64; 2]>) -> Carried<'_> {
        let asked = Comparison {
            metric: "m".to_owned(),
            cells: BTreeMap::new(),
            scale: Scale::Ratio,
            margin: 0.05,
            rounds: true,
        };
        let gains = gains.map(|gains| gains.map(gain));
        let question = String::new();
        Carried { question, line, asked, gains, shares: [0.5, 0.1], is_fair: false }
    }

    #[test]
    fn a_bias_is_each_gain_by_its_share() {
        let line = line(Outcome::Slower, [0.0, 1.0]);
        let bias = |gains| carried(&line, Some(gains)).bias().unwrap();
        let alike = bias([-0.1, -0.1]);
        assert!((alike.shift - 0.04).abs() < 1e-12);
        assert!((alike.standard_error - 0.004).abs() < 1e-12 && alike.df == 30.0);
        let apart = bias([-0.1, -0.2]);
        assert!((apart.shift - 0.03).abs() < 1e-12);
        assert!((apart.standard_error - 0.01 * 0.26_f64.sqrt()).abs() < 1e-12);
        // Nearly all of the error is the reference's.
        assert!(30.0 < apart.df && apart.df < 34.0, "{}", apart.df);
        let fair = Carried { is_fair: true, ..carried(&line, Some([-0.1, -0.1])) };
        assert_eq!((fair.bias_ends(), fair.could_change()), (None, Some(false)));
    }

    #[test]
    fn a_verdict_could_change_where_the_bias_reaches_what_it_rests_on() {
        let could = |outcome, ends, gains| carried(&line(outcome, ends), gains).could_change();
        let some = Some([-0.1, -0.1]);
        // The bias is 0.04 ± 0.008: 0.03 less may be no difference, 0.06 less is one.
        assert_eq!(could(Outcome::Slower, [0.03, 0.045], some), Some(true));
        assert_eq!(could(Outcome::Slower, [0.2, 0.3], some), Some(false));
        assert_eq!(could(Outcome::Faster, [-0.3, -0.2], some), Some(false));
        // Still slower, and no longer beyond the margin.
        assert_eq!(could(Outcome::Slower, [0.08, 0.2], some), Some(true));
        // Within the margin whatever is taken off, and not.
        assert_eq!(could(Outcome::Equivalent, [-0.01, 0.02], some), Some(true));
        assert_eq!(could(Outcome::Equivalent, [0.01, 0.04], some), Some(false));
        assert_eq!(could(Outcome::CannotTell, [-0.1, 0.2], some), None);
        // Too few runs tell: of a small difference nothing is known, of a large one enough.
        assert_eq!(could(Outcome::Slower, [0.2, 0.3], None), None);
        assert_eq!(could(Outcome::Slower, [0.7, 0.9], None), Some(false));
    }
}
