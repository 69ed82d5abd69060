//! One difference in rounds: a candidate against the reference, or a level against another.

mod promise;

use std::collections::{BTreeMap, BTreeSet};

use lab_family::Better;
use lab_record::{Comparison, Contrast, Run, Scale, Status};
use lab_stats::{
    interval::Interval,
    outcome::Outcome,
    paired::ShiftEstimate,
    sequence::{Hull, Sequence},
    tail::SHARE_MARGIN,
    tail_sequence::{Earlier, TailSequence, TailSide},
    verdict::{Missing, Size, Verdict, control_needs, control_suffices, reading},
};

pub(super) use self::promise::Promise;
use self::promise::Tally;
use super::more;
use crate::{
    Line, Measured,
    aa::{AA_LEVEL, AaTest},
    compare::{POWER, scaled_margin, takes_part},
    frame::{cell_but, cell_key},
    judge::Finding,
};

/// A variant that refused or failed so often, and more often than not, is asked no more.
const REFUSALS_MAX: usize = 3;
/// A difference is known well enough to this part of it.
const PRECISION: f64 = 0.25;

/// One difference: a candidate against the reference, or a level against another.
#[derive(Debug)]
pub(crate) struct Trial {
    /// The candidate, or the contrast's id.
    pub(crate) name: String,
    scale: Scale,
    better: Better,
    margin: f64,
    alpha: f64,
    pairs: usize,
    refusals: usize,
    sequence: Sequence,
    /// `None` on a scale without ratios.
    tail: Option<TailSequence>,
    /// The reference's earlier values by cell: what is slow is said against their median.
    earlier: BTreeMap<String, Earlier>,
}

impl Trial {
    /// `None` where level or margin cannot be tested.
    fn new(name: &str, asked: &Comparison, better: Better, alpha: f64) -> Option<Self> {
        let margin = scaled_margin(asked);
        let is_ratio = asked.scale == Scale::Ratio;
        let tail = is_ratio.then(|| TailSequence::new(alpha, SHARE_MARGIN)).flatten();
        Some(Self {
            name: name.to_owned(),
            scale: asked.scale,
            better,
            margin,
            alpha,
            pairs: 0,
            refusals: 0,
            sequence: Sequence::new(alpha, &[0.0, margin, -margin])?,
            tail,
            earlier: BTreeMap::new(),
        })
    }

    /// Takes one pair of a cell.
    fn push(&mut self, cell: &str, reference: f64, candidate: f64) {
        match self.scale {
            Scale::Difference => {
                self.pairs += usize::from(self.sequence.push(candidate - reference));
            }
            Scale::Ratio if reference > 0.0 && candidate > 0.0 => {
                // The slow side of a rate is its inverse's.
                let [reference_cost, cost] = match self.better {
                    Better::Higher => [reference.recip(), candidate.recip()],
                    _ => [reference, candidate],
                };
                let earlier = self.earlier.entry(cell.to_owned()).or_default();
                if let Some((tail, median)) = self.tail.as_mut().zip(earlier.median()) {
                    tail.push(reference_cost, cost, median);
                }
                earlier.push(reference_cost);
                self.pairs += usize::from(self.sequence.push((candidate / reference).ln()));
            }
            Scale::Ratio => {}
        }
    }

    /// The half-width at which its size is known to the margin, or to a part of a larger effect.
    fn enough(&self) -> f64 {
        let effect = self.sequence.estimate().map_or(0.0, f64::abs);
        self.margin.max(PRECISION * effect)
    }

    fn is_precise(&self) -> bool {
        self.sequence.interval().is_some_and(|hull| hull.half_width() <= self.enough())
    }

    /// What the pairs say, in the words of the metric's direction.
    fn reading(&self) -> Option<Verdict> {
        let mut verdict = reading(&self.sequence, self.margin)?;
        if self.better == Better::Higher {
            verdict.outcome = match verdict.outcome {
                Outcome::Faster => Outcome::Slower,
                Outcome::Slower => Outcome::Faster,
                other => other,
            };
        }
        Some(verdict)
    }

    /// What is said of the tail beside a typical run that is equivalent; nothing where it is too.
    fn tail_in_words(&self) -> Option<String> {
        let words = match self.tail.as_ref()?.side() {
            TailSide::Within => return None,
            TailSide::More => "more slow runs",
            TailSide::Fewer => "fewer slow runs",
            TailSide::Open => "tail unknown",
        };
        Some(words.to_owned())
    }

    /// What it showed as a control.
    pub(crate) fn aa(&self) -> AaTest {
        let excluded = self.sequence.excludes(0.0);
        let detectable = self.sequence.detectable(POWER);
        AaTest { n: self.pairs, p: None, excluded, shift: self.shift(), detectable }
    }

    fn shift(&self) -> Option<ShiftEstimate> {
        let confidence = 1.0 - self.alpha;
        let interval = self.sequence.interval();
        let interval = interval.map(|Hull { low, high }| Interval { low, high, confidence });
        Some(ShiftEstimate { estimate: self.sequence.estimate()?, interval })
    }

    /// The counted pairs until its interval should be narrow enough for an answer.
    fn pairs_to_go(&self) -> Option<usize> {
        let effect = self.sequence.estimate()?.abs();
        self.pairs_until(effect.max((self.margin - effect).abs()).max(self.margin / 4.0))
    }

    /// The counted pairs until its interval should have this half-width: as its noise says, and no
    /// fewer than the root of their number makes of the interval that there is.
    fn pairs_until(&self, half_width: f64) -> Option<usize> {
        let counted = self.sequence.counted();
        let by_noise = self.sequence.pairs_until(half_width)?.saturating_sub(counted);
        let times = self.sequence.interval().map(|hull| (hull.half_width() / half_width).powi(2));
        let by_width = times.map_or(0.0, |times| counted as f64 * (times - 1.0)).ceil();
        Some(by_noise.max(by_width as usize))
    }
}

/// One declared comparison or contrast in its rounds.
#[derive(Debug)]
pub(crate) struct Trials {
    asked: Asked,
    better: Better,
    alpha: f64,
    pub(crate) lines: Vec<Trial>,
    control: Option<Trial>,
    withheld: bool,
    all: Tally,
    of_question: Tally,
    of_control: Tally,
}

/// What a question is about.
#[derive(Debug)]
pub(super) enum Asked {
    /// Candidates against the reference, and the reference's twin beside it.
    Comparison { comparison: Comparison, reference: String, twin: Option<String> },
    /// A level against another.
    Contrast { contrast: Contrast, side: Comparison, of: usize },
}

/// Who is still needed.
pub(super) enum Open<'t> {
    /// Everybody: no round was run.
    All,
    /// These candidates.
    Lines(Vec<&'t str>),
    /// Both levels, or none.
    Pair(bool),
}

impl Trials {
    pub(super) fn new(asked: Asked, better: Better, alpha: f64) -> Self {
        Self {
            asked,
            better,
            alpha,
            lines: Vec::new(),
            control: None,
            withheld: false,
            all: Tally::default(),
            of_question: Tally::default(),
            of_control: Tally::default(),
        }
    }

    /// Takes a run of the blocks: where the twin had one, rounds of its own will come, and no
    /// verdict is given before.
    pub(super) fn expect_control(&mut self, run: &Run) {
        if let Asked::Comparison { comparison, twin: Some(twin), .. } = &self.asked
            && run.variant == *twin
            && takes_part(comparison, &run.cell)
        {
            self.begin_control();
        }
    }

    /// The comparison of the reference with its twin, where there was a round of it.
    pub(crate) fn control(&self) -> Option<&Trial> {
        self.control.as_ref().filter(|_| self.of_control.rounds > 0)
    }

    /// Takes the runs of one round: all of them to know who takes part, and those that were
    /// measured for their values. Records from before controls had rounds of their own have both
    /// in one.
    pub(super) fn take(
        &mut self,
        candidates: &BTreeSet<String>,
        rows: &[&Run],
        measured: &[&Measured],
    ) {
        self.count(candidates, rows);
        for run in rows.iter().filter(|run| run.status != Status::Ok) {
            let line = self.lines.iter_mut().find(|line| line.name == run.variant);
            line.into_iter().for_each(|line| line.refusals += 1);
        }
        match &self.asked {
            Asked::Comparison { comparison, reference, twin } => {
                let values = |variant: &str| by_cell(measured, comparison, variant, &[]);
                let below = values(reference);
                for line in &mut self.lines {
                    pair_up(line, &below, &values(&line.name));
                }
                if let (Some(control), Some(twin)) = (&mut self.control, twin) {
                    pair_up(control, &below, &values(twin));
                    self.withheld |= control.sequence.excludes(0.0);
                }
            }
            Asked::Contrast { contrast, side, .. } => {
                let at = |level: &String| {
                    let mut cells = side.cells.clone();
                    cells.insert(contrast.factor.clone(), vec![level.clone()]);
                    let side = Comparison { cells, ..side.clone() };
                    by_cell(measured, &side, &contrast.variant, &[&contrast.factor])
                };
                let (below, above) = (at(&contrast.reference), at(&contrast.level));
                self.lines.iter_mut().for_each(|line| pair_up(line, &below, &above));
            }
        }
    }

    /// Whether it is this contrast.
    pub(super) fn is_contrast(&self, id: &str) -> bool {
        matches!(&self.asked, Asked::Contrast { contrast, .. } if contrast.id == id)
    }

    /// Whether it is this comparison.
    pub(super) fn is_about(&self, wanted: &Comparison) -> bool {
        matches!(&self.asked, Asked::Comparison { comparison, .. } if comparison == wanted)
    }

    /// Counts a round as one of the question, of the control, or, in old records, of both.
    fn count(&mut self, candidates: &BTreeSet<String>, rows: &[&Run]) {
        let (reference, twin) = match &self.asked {
            Asked::Comparison { reference, twin, .. } => (Some(reference), twin.as_ref()),
            Asked::Contrast { .. } => (None, None),
        };
        let is_twins = |run: &&&Run| twin == Some(&run.variant);
        let is_around = |run: &&&Run| is_twins(run) || reference == Some(&run.variant);
        let is_control = rows.iter().any(|run| is_twins(&run));
        let is_about = !is_control || rows.iter().any(|run| candidates.contains(&run.variant));
        let is_first = self.of_question.rounds == 0;
        self.all.add(rows.iter());
        if is_control {
            self.of_control.add(rows.iter().filter(is_around));
        }
        if is_about {
            self.of_question.add(rows.iter().filter(|run| !is_twins(run)));
        }
        if is_control {
            self.begin_control();
        }
        if is_about && is_first {
            self.begin(candidates, rows);
        }
    }

    fn begin_control(&mut self) {
        if let Asked::Comparison { comparison, twin: Some(twin), .. } = &self.asked
            && self.control.is_none()
        {
            self.control = Trial::new(twin, comparison, self.better, AA_LEVEL);
        }
    }

    /// Who takes part is who is there in the question's first round: their number divides the
    /// level.
    fn begin(&mut self, candidates: &BTreeSet<String>, rows: &[&Run]) {
        let there: BTreeSet<&str> = rows.iter().map(|run| run.variant.as_str()).collect();
        let trial =
            |name: &str, asked: &Comparison, alpha| Trial::new(name, asked, self.better, alpha);
        match &self.asked {
            Asked::Comparison { comparison, .. } => {
                let names: Vec<_> =
                    candidates.iter().filter(|name| there.contains(name.as_str())).collect();
                let alpha = self.alpha / names.len().max(1) as f64;
                self.lines =
                    names.iter().filter_map(|name| trial(name, comparison, alpha)).collect();
            }
            Asked::Contrast { contrast, side, of } => {
                let alpha = self.alpha / *of as f64;
                self.lines = trial(&contrast.id, side, alpha).into_iter().collect();
            }
        }
    }

    fn verdict(&self, line: &Trial) -> Verdict {
        if self.withheld {
            return Verdict::of(Outcome::Withheld);
        }
        match line.reading() {
            None => Verdict::of(Outcome::CannotTell),
            Some(_) if !self.control_suffices(line) => Verdict::without(Missing::Control),
            Some(verdict) => verdict,
        }
    }

    fn control_suffices(&self, line: &Trial) -> bool {
        let suffices =
            |control: &Trial| control_suffices(&control.sequence, &line.sequence, line.margin);
        self.control.as_ref().is_none_or(suffices)
    }

    /// Who has no answer yet, or none as precise as wanted.
    pub(super) fn open(&self) -> Open<'_> {
        let is_open = |line: &&Trial| {
            let refuses = line.refusals >= REFUSALS_MAX.max(line.pairs);
            let known = self.verdict(line).settles() && line.is_precise();
            !refuses && !self.withheld && !known
        };
        let lines = self.lines.iter().filter(is_open).map(|line| line.name.as_str()).collect();
        match &self.asked {
            Asked::Contrast { .. } => Open::Pair(self.all.rounds == 0 || !Vec::is_empty(&lines)),
            Asked::Comparison { .. } if self.of_question.rounds == 0 => Open::All,
            Asked::Comparison { .. } => Open::Lines(lines),
        }
    }

    /// Every line as tables and verdicts show it, before the lab's own checks.
    pub(crate) fn lines(&self) -> Vec<Line> {
        let line = |trial: &Trial| {
            let verdict = self.verdict(trial);
            let (why, needs) = match (verdict.size, verdict.missing) {
                (Some(Size::Beyond), _) => (Some("beyond the margin".to_owned()), None),
                (Some(Size::Within), _) => (Some("within the margin".to_owned()), None),
                (_, Some(Missing::Control)) => self.lacks_control(trial),
                _ if verdict.outcome == Outcome::Equivalent => (trial.tail_in_words(), None),
                _ if verdict.outcome == Outcome::CannotTell => {
                    (too_few(trial), self.more(trial.pairs_to_go(), trial))
                }
                _ => (None, None),
            };
            Line {
                variant: trial.name.clone(),
                n: trial.pairs,
                shift: trial.shift(),
                p_adjusted: None,
                equivalence: None,
                detectable: trial.sequence.detectable(POWER),
                finding: Finding { outcome: verdict.outcome, why, needs },
                clean: None,
            }
        };
        self.lines.iter().map(line).collect()
    }

    /// That the control is too wide yet, and the rounds until it should not be.
    fn lacks_control(&self, trial: &Trial) -> (Option<String>, Option<String>) {
        let enough = control_needs(&trial.sequence, trial.margin);
        let control = self.control.as_ref();
        let needs = control.and_then(|one| self.more(one.pairs_until(enough), one));
        (Some("the control is not known well enough".to_owned()), needs)
    }

    /// The rounds, of both kinds, that so many pairs of a line or of the control should take.
    fn more(&self, pairs: Option<usize>, trial: &Trial) -> Option<String> {
        let rounds = pairs? as f64 * self.all.rounds as f64 / trial.pairs.max(1) as f64;
        Some(more("round", rounds, self.all.rounds, self.all.spent_ns))
    }
}

/// Why a line has no answer, where its interval does not say it.
fn too_few(trial: &Trial) -> Option<String> {
    let interval = trial.sequence.interval();
    interval.is_none().then(|| format!("{} pairs are too few", trial.pairs))
}

fn pair_up(line: &mut Trial, below: &BTreeMap<String, f64>, above: &BTreeMap<String, f64>) {
    for (cell, reference) in below {
        if let Some(candidate) = above.get(cell) {
            line.push(cell, *reference, *candidate);
        }
    }
}

/// A variant's values in one round by cell, less some factors.
fn by_cell(
    measured: &[&Measured],
    asked: &Comparison,
    variant: &str,
    but: &[&str],
) -> BTreeMap<String, f64> {
    let here = measured
        .iter()
        .filter(|one| one.variant() == variant && takes_part(asked, &one.row.run.cell));
    let value = |one: &&Measured| {
        let run = &one.row.run;
        let cell = if but.is_empty() { cell_key(run) } else { cell_but(run, but) };
        Some((cell, one.value(&asked.metric)?))
    };
    here.filter_map(value).collect()
}
