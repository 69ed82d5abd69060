//! Which of many commits changed the time: a binary search whose steps are comparisons.
//!
//! Good is commit 0 and bad the last one. The first comparison measures the whole difference. It
//! ends when its interval excludes 0 and its lower end has reached half of the estimate; that half
//! is the threshold of all later steps. Each of these compares a commit with good and ends when
//! its confidence sequence excludes the threshold. The last comparison is of the found commit with
//! its parent.
//!
//! n commits after good take ⌈log₂ n⌉ steps at most, since the middle is taken of the commits that
//! build, and each comparison errs with probability α / (⌈log₂ n⌉ + 2) at most. If a single commit
//! changed the time, its true difference lies above the threshold unless the first comparison
//! errs, and every other commit's difference from good is 0 or that difference; so the search is
//! wrong with probability α at most (union bound).

mod step;

use std::collections::BTreeMap;

use lab_stats::sequence::{Hull, Sequence};

use crate::{Estimate, comparison::log_ratio, settings::fewest_pairs};

pub use self::step::{BisectSettings, Compared, Confirmation, End, Side, Step};

/// The first comparison is looked at after each pair until there are so many, and then each time
/// its pairs have grown by such a part.
const LOOK: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Whole,
    Search,
    Confirm,
    Ended(End),
}

#[derive(Clone, Debug, PartialEq)]
enum Build {
    Unknown,
    Broken,
    /// What identifies the program's bytes.
    Built(String),
}

/// A comparison in progress.
struct Running {
    reference: usize,
    candidate: usize,
    sequence: Sequence,
    pairs: usize,
    elapsed_s: f64,
}

/// A search in progress.
pub struct Bisect {
    settings: BisectSettings,
    /// Of one comparison.
    level: f64,
    builds: Vec<Build>,
    sides: BTreeMap<String, Side>,
    /// The last commit known to be good, and the first known to be bad.
    known: [usize; 2],
    stage: Stage,
    /// In the direction that is looked for; 0 before the first comparison has ended.
    threshold: f64,
    running: Option<Running>,
    compared: Vec<Compared>,
}

impl Bisect {
    /// A search among so many commits after good; `None` without one, and where the settings' alpha
    /// is no probability of error.
    pub fn new(commits: usize, settings: BisectSettings) -> Option<Self> {
        let level = settings.alpha / most_comparisons(commits) as f64;
        Sequence::new(settings.alpha, &[]).filter(|_| commits > 0)?;
        Some(Self {
            settings,
            level,
            builds: vec![Build::Unknown; commits + 1],
            sides: BTreeMap::new(),
            known: [0, commits],
            stage: Stage::Whole,
            threshold: 0.0,
            running: None,
            compared: Vec::new(),
        })
    }

    /// What is needed next.
    pub fn step(&mut self) -> Step {
        loop {
            let (reference, candidate) = match self.stage {
                Stage::Ended(end) => return Step::End(end),
                Stage::Whole => (0, self.builds.len() - 1),
                Stage::Confirm => (self.known[0], self.known[1]),
                Stage::Search => match self.middle() {
                    Some(middle) => (0, middle),
                    None => {
                        self.narrowed();
                        continue;
                    }
                },
            };
            for commit in [reference, candidate] {
                if self.builds[commit] == Build::Unknown {
                    return Step::Build(commit);
                }
            }
            if !self.told_by_bytes(reference, candidate) {
                self.run(reference, candidate);
                return Step::Pair { reference, candidate };
            }
        }
    }

    /// A commit was built; equal identities are programs of equal bytes.
    pub fn built(&mut self, commit: usize, identity: &str) {
        self.builds[commit] = Build::Built(identity.to_owned());
    }

    /// A commit does not build. Without good or bad nothing can be told.
    pub fn broken(&mut self, commit: usize) {
        self.builds[commit] = Build::Broken;
        if commit == 0 || commit == self.builds.len() - 1 {
            self.end(End::Unknown { after: 0, until: self.builds.len() - 1 });
        }
    }

    /// Takes a pair's values, the earlier commit's first; whether the later commit ran last; and
    /// the seconds since the comparison's first pair began.
    pub fn pair(
        &mut self,
        [reference, candidate]: [f64; 2],
        candidate_ran_last: bool,
        elapsed_s: f64,
    ) {
        let difference = self.sign() * log_ratio(reference, candidate);
        let Some(running) = &mut self.running else { return };
        running.sequence.push_ordered(difference, candidate_ran_last);
        running.elapsed_s = elapsed_s;
        running.pairs += 1;
        let pairs = running.pairs;
        let BisectSettings { budget_s, most_pairs, .. } = self.settings;
        let spent = elapsed_s >= budget_s && pairs >= fewest_pairs(self.level)
            || most_pairs.is_some_and(|most| pairs >= most);
        match self.stage {
            Stage::Whole => self.judge_whole(spent),
            Stage::Search => self.judge_middle(spent),
            Stage::Confirm => self.judge_found(spent),
            Stage::Ended(_) => {}
        }
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &BisectSettings {
        &self.settings
    }

    /// The comparisons that have ended, in their order.
    pub fn compared(&self) -> &[Compared] {
        &self.compared
    }

    /// The comparison that goes on.
    pub fn running(&self) -> Option<Compared> {
        self.running.as_ref().map(|running| self.account(running, None))
    }

    /// The last commit known to be without the change, and the first known to have it: good and
    /// bad themselves, before anything is known.
    pub fn known(&self) -> [usize; 2] {
        self.known
    }

    /// Half of the measured difference of good and bad, as a logarithm; `None` before it is
    /// measured.
    pub fn threshold(&self) -> Option<f64> {
        (self.threshold > 0.0).then_some(self.sign() * self.threshold)
    }

    fn sign(&self) -> f64 {
        if self.settings.faster { -1.0 } else { 1.0 }
    }

    /// The middle one of the commits between the known ones that are not known to be broken.
    fn middle(&self) -> Option<usize> {
        let [good, bad] = self.known;
        let between = (good + 1..bad).filter(|commit| self.builds[*commit] != Build::Broken);
        let between: Vec<usize> = between.collect();
        between.get(between.len().saturating_sub(1) / 2).copied()
    }

    /// Nothing is left between good and bad. Where nothing was, they have been compared already.
    fn narrowed(&mut self) {
        let [after, commit] = self.known;
        if (after, commit) == (0, self.builds.len() - 1) {
            self.end(End::Found { after, commit, confirmation: Confirmation::Shown });
        } else {
            self.stage = Stage::Confirm;
        }
    }

    /// Whether the candidate's bytes are ones whose side is known, which then is its side too.
    fn told_by_bytes(&mut self, reference: usize, candidate: usize) -> bool {
        let (Build::Built(first), Build::Built(second)) =
            (&self.builds[reference], &self.builds[candidate])
        else {
            return false;
        };
        let side = match self.stage {
            Stage::Whole => (first == second).then_some(Side::Good),
            Stage::Search => self.sides.get(second).copied(),
            Stage::Confirm | Stage::Ended(_) => None,
        };
        let Some(side) = side else { return false };
        self.compared.push(Compared {
            reference,
            candidate,
            estimate: None,
            side: Some(side),
            same_bytes: true,
            elapsed_s: 0.0,
        });
        match self.stage {
            Stage::Whole => self.end(End::NoChange),
            _ => self.moved(candidate, side),
        }
        true
    }

    fn run(&mut self, reference: usize, candidate: usize) {
        let (level, watched) = (self.level, [0.0, self.threshold]);
        self.running.get_or_insert_with(|| Running {
            reference,
            candidate,
            sequence: Sequence::new(level, &watched).expect("a share of a level is a level"),
            pairs: 0,
            elapsed_s: 0.0,
        });
    }

    fn judge_whole(&mut self, spent: bool) {
        let Some(Running { sequence, pairs, .. }) = &self.running else { return };
        // An interval takes time in proportion to the pairs: it is not looked at after each.
        if !spent && !pairs.is_multiple_of(1 + pairs / LOOK) {
            return;
        }
        let shown = sequence.excludes(0.0).then(|| sequence.interval().zip(sequence.estimate()));
        let threshold = match shown.flatten() {
            Some((Hull { high, .. }, _)) if high < 0.0 => None,
            Some((Hull { low, .. }, estimate)) if low > 0.0 => {
                // Below the interval's end, so that a single change lies above it.
                let threshold = low.min(estimate / 2.0);
                if low < estimate / 2.0 && !spent {
                    return;
                }
                Some(threshold)
            }
            _ if spent => None,
            _ => return,
        };
        let last = self.builds.len() - 1;
        match threshold {
            Some(threshold) => {
                self.threshold = threshold;
                self.close(Some(Side::Bad));
                self.stage = Stage::Search;
                self.remember(0, Side::Good);
                self.remember(last, Side::Bad);
            }
            None => {
                self.close(None);
                self.end(End::NoChange);
            }
        }
    }

    fn judge_middle(&mut self, spent: bool) {
        let Some(Running { sequence, candidate, .. }) = &self.running else { return };
        let candidate = *candidate;
        if sequence.excludes(self.threshold) {
            let above = sequence.estimate().is_some_and(|estimate| estimate > self.threshold);
            let side = if above { Side::Bad } else { Side::Good };
            self.close(Some(side));
            self.moved(candidate, side);
        } else if spent {
            self.close(None);
            let [after, until] = self.known;
            self.end(End::Unknown { after, until });
        }
    }

    /// It ends where the interval is on one side of the threshold: then it tells whether this
    /// commit alone makes most of the difference.
    fn judge_found(&mut self, spent: bool) {
        let Some(Running { sequence, .. }) = &self.running else { return };
        // The first pairs can exclude the threshold before there is an interval.
        let decided = sequence.interval().filter(|_| sequence.excludes(self.threshold));
        if !spent && decided.is_none() {
            return;
        }
        let shown = sequence.interval().is_some_and(|hull| hull.low > 0.0);
        let confirmation = match decided {
            _ if shown => Confirmation::Shown,
            Some(_) => Confirmation::TooSmall,
            None => Confirmation::Open,
        };
        self.close(shown.then_some(Side::Bad));
        let [after, commit] = self.known;
        self.end(End::Found { after, commit, confirmation });
    }

    fn moved(&mut self, commit: usize, side: Side) {
        self.known[usize::from(side == Side::Bad)] = commit;
        self.remember(commit, side);
    }

    fn remember(&mut self, commit: usize, side: Side) {
        if let Build::Built(identity) = &self.builds[commit] {
            self.sides.entry(identity.clone()).or_insert(side);
        }
    }

    fn close(&mut self, side: Option<Side>) {
        if let Some(running) = self.running.take() {
            let account = self.account(&running, side);
            self.compared.push(account);
        }
    }

    fn account(&self, running: &Running, side: Option<Side>) -> Compared {
        let Running { reference, candidate, sequence, elapsed_s, .. } = running;
        let sign = self.sign();
        let turned = |Hull { low, high }: Hull| match self.settings.faster {
            true => [-high, -low],
            false => [low, high],
        };
        let estimate = sequence.estimate().map(|shift| Estimate {
            shift: sign * shift,
            interval: sequence.interval().map(turned),
            pairs: sequence.counted(),
        });
        Compared {
            reference: *reference,
            candidate: *candidate,
            estimate,
            side,
            same_bytes: false,
            elapsed_s: *elapsed_s,
        }
    }

    fn end(&mut self, end: End) {
        self.stage = Stage::Ended(end);
    }
}

/// The comparisons that a search among so many commits after good needs at most: ⌈log₂ n⌉ to find
/// the commit, one before and one after.
pub fn most_comparisons(commits: usize) -> usize {
    commits.next_power_of_two().ilog2() as usize + 2
}
