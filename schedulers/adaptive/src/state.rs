//! What is known of a site, and how one finished call changes it. Plain arithmetic without
//! atomics, so that every rule can be checked with numbers.

use crate::belief::{Belief, NormalTable};
use crate::config::Config;
use crate::context::WAITING;
use crate::decision::{Arm, Cost, Reason};

/// Observations of the work's own time that its estimate remembers. Few, because it is there to
/// notice a change.
const WORK_MEMORY: f64 = 8.0;
/// Of so many calls of a settled arm one is taken in.
const SAMPLED: u16 = 4;
/// A ratio of work times within these bounds is noise and scales nothing.
const STEADY: std::ops::RangeInclusive<f64> = 0.67..=1.5;
/// Calls taken in after which a probe that never came back is given up.
const PROBE_PATIENCE: u16 = 256;
/// Inline calls without a strike that take one strike away.
const CLEAN_CALLS: u16 = 64;
const STRIKES_MAX: u8 = 9;

/// A site's estimates, and what its guardrails remember. Costs are nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct State {
    pub inline: Belief,
    pub offload: Belief,
    /// The work's own time as offloaded calls report it; nothing at weight 0.
    pub work: Belief,
    /// `work` at the time of the last inline call.
    pub work_then: f64,
    /// What exploration may still lose.
    pub credit: f64,
    /// A surprise that waits for its confirmation, by arm; 0 for none, negative for one that was
    /// not of the sample and counts as confirmation only.
    pub doubt: [f64; 2],
    pub marks: Marks,
}

/// Small counts of a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Marks {
    pub strikes: u8,
    /// Offloaded calls until a struck site may be tried.
    pub left: u16,
    /// Inline calls since the last strike.
    pub clean: u16,
    /// Finished calls during which no further probe is given out.
    pub patience: u16,
}

/// A call that is done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub arm: Arm,
    pub level: u8,
    pub reason: Reason,
    pub struck: bool,
    /// Calls that this one stands for; 0 for a surprise that the sample would have left out.
    pub stands_for: f64,
    pub cost: Cost,
}

/// What a finished call changes for the next decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Outcome {
    pub strike: bool,
    pub forgiven: bool,
    pub changed: bool,
    pub probe: Option<Arm>,
}

/// Both arms' costs as they would be now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    pub inline: Belief,
    pub offload: Belief,
}

/// The settings in the form in which a call needs them.
#[derive(Debug)]
pub(crate) struct Rules {
    exploration: f64,
    memory: f64,
    /// Cost of one nanosecond inline, by level of pressure.
    factors: [f64; 4],
    inline_cap: f64,
    strike: f64,
    forgive_after: u32,
}

impl Rules {
    /// What one call that was just made stands for, or `None` if it need not be taken in.
    ///
    /// Once an arm is settled, that is its estimate has as many observations as it remembers, a
    /// random quarter of its calls keeps it up to date, and the others write nothing that another
    /// thread reads. Strikes and surprises are always taken in.
    #[inline]
    pub fn stands_for(&self, belief: &Belief, arm: Arm, cost: Cost, draw: u16) -> Option<f64> {
        if belief.weight < self.memory {
            return Some(1.0);
        }
        if draw.is_multiple_of(SAMPLED) {
            return Some(f64::from(SAMPLED));
        }
        let cost = nanoseconds(cost.total_ns);
        let strikes = arm == Arm::Inline && cost >= self.strike;
        (strikes || belief.surprised_by(cost)).then_some(0.0)
    }

    pub fn new(config: &Config) -> Self {
        let weight = f64::from(config.pressure_percent) / 100.0;
        Self {
            exploration: f64::from(config.exploration_permille) / 1000.0,
            memory: f64::from(config.memory),
            factors: WAITING.map(|waiting| 1.0 + waiting * weight),
            inline_cap: config.inline_cap_ns as f64,
            strike: config.strike_ns as f64,
            forgive_after: config.forgive_after,
        }
    }
}

impl State {
    /// Takes in one call.
    #[inline]
    pub fn finish(&mut self, rules: &Rules, call: Call, round_trip: f64) -> Outcome {
        let cost = nanoseconds(call.cost.total_ns);
        let mut outcome = Outcome::default();
        self.marks.patience = match call.reason {
            Reason::Probe => 0,
            _ => self.marks.patience.saturating_sub(1),
        };
        outcome.changed = match call.arm {
            Arm::Inline => self.ran_inline(rules, call, cost, &mut outcome),
            Arm::Offload => self.ran_offloaded(rules, call, cost),
        };
        let now = self.now(round_trip);
        self.account(rules, call, cost, now);
        let struck = outcome.strike || (call.struck && !outcome.forgiven);
        outcome.probe = self.next_probe(rules, call, outcome.changed, struck, now);
        if outcome.probe.is_some() {
            self.marks.patience = PROBE_PATIENCE;
        }
        outcome
    }

    /// Both arms' costs as they would be now.
    #[inline]
    pub fn now(&self, round_trip: f64) -> Now {
        let inline = match (self.inline.weight > 0.0, self.is_steady()) {
            (true, true) => self.inline,
            (true, false) => self.inline_scaled(),
            // A site that never ran inline is known by its work, or else is no longer than the
            // whole offloaded call.
            (false, _) if self.work.weight > 0.0 => Belief::vague(self.work.mean),
            (false, _) => Belief::vague(self.offload.mean),
        };
        let offload = if self.offload.weight > 0.0 {
            self.offload
        } else {
            Belief::vague(round_trip + self.inline.mean)
        };
        Now { inline, offload }
    }

    /// Whether the work's own time is about what it was at the last inline call.
    #[inline]
    fn is_steady(&self) -> bool {
        let (now, then) = (self.work.mean, self.work_then);
        then <= 0.0 || (then * STEADY.start() <= now && now <= then * STEADY.end())
    }

    /// The inline costs that were seen, scaled by what the work's own time did since.
    fn inline_scaled(&self) -> Belief {
        let ratio = self.work.mean / self.work_then;
        let variance = self.inline.variance * ratio * ratio;
        Belief { mean: self.inline.mean * ratio, variance, weight: self.inline.weight.min(2.0) }
    }

    /// Probability, by level of pressure, that offloading costs less; once the exploration budget
    /// is spent, certainty for the arm that looks better.
    #[inline]
    pub fn thresholds(&self, rules: &Rules, table: &NormalTable, now: Now) -> [u16; 4] {
        let Now { inline, offload } = now;
        let seen = self.inline.weight.min(self.offload.weight) >= 2.0;
        let greedy = seen && self.credit < 0.0;
        let inline_variance = if greedy { 0.0 } else { inline.variance_of_mean() };
        let offload_variance = if greedy { 0.0 } else { offload.variance_of_mean() };
        let at = |factor: f64| {
            let gain = inline.mean * factor - offload.mean;
            table.positive(gain, inline_variance * factor * factor + offload_variance)
        };
        // Not `map`, which is not unrolled when this crate's units are compiled apart.
        let [first, second, third, fourth] = rules.factors;
        [at(first), at(second), at(third), at(fourth)]
    }

    #[inline]
    fn ran_inline(&mut self, rules: &Rules, call: Call, cost: f64, outcome: &mut Outcome) -> bool {
        if !self.is_steady() {
            // What was seen before belongs to work of another length.
            self.inline = Belief::default();
            self.doubt[0] = 0.0;
        }
        self.work_then = self.work.mean;
        if cost >= rules.strike {
            outcome.strike = true;
            self.marks.clean = 0;
            self.marks.strikes = (self.marks.strikes + 1).min(STRIKES_MAX);
            let after = rules.forgive_after << (self.marks.strikes - 1);
            self.marks.left = after.clamp(1, u32::from(u16::MAX)) as u16;
        } else {
            outcome.forgiven = call.struck && call.reason == Reason::Probe;
            self.marks.clean += 1;
            if self.marks.clean >= CLEAN_CALLS {
                self.marks.clean = 0;
                self.marks.strikes = self.marks.strikes.saturating_sub(1);
            }
        }
        let signed = if call.stands_for > 0.0 { cost } else { -cost };
        observe(&mut self.inline, &mut self.doubt[0], signed, rules.memory)
    }

    #[inline]
    fn ran_offloaded(&mut self, rules: &Rules, call: Call, cost: f64) -> bool {
        let signed = if call.stands_for > 0.0 { cost } else { -cost };
        let changed = observe(&mut self.offload, &mut self.doubt[1], signed, rules.memory);
        if let Some(function_ns) = call.cost.function_ns {
            if changed {
                self.work = Belief::default();
            }
            self.work.observe(nanoseconds(function_ns), WORK_MEMORY);
            if self.inline.weight > 0.0 && self.work_then <= 0.0 {
                self.work_then = self.work.mean;
            }
        }
        if call.struck {
            self.marks.left = self.marks.left.saturating_sub(1);
        }
        changed
    }

    /// Earns a share of every cost, and pays what a call on the worse arm lost by it. The first
    /// two samples of an arm are free: without them nothing is known.
    #[inline]
    fn account(&mut self, rules: &Rules, call: Call, cost: f64, now: Now) {
        let factor = rules.factors[usize::from(call.level)];
        let (inline, offload) = (now.inline.mean * factor, now.offload.mean);
        let (mean, best, weight, paid) = match call.arm {
            Arm::Inline => (inline, offload, self.inline.weight, cost * factor),
            Arm::Offload => (offload, inline, self.offload.weight, cost),
        };
        self.credit += rules.exploration * paid * call.stands_for;
        let doubtful = self.doubt[call.arm as usize] != 0.0;
        let lost = (if doubtful { paid } else { mean } - best).max(0.0);
        if weight > 2.0 {
            match call.reason {
                // At least half of its cost, or two equal arms would be probed in turns for ever.
                Reason::Probe => self.credit -= lost.max(0.5 * mean),
                Reason::Learned => self.credit -= lost * call.stands_for,
                _ => {}
            }
        }
    }

    /// Whether the next call shall run on an arm for the sake of its sample.
    #[inline]
    fn next_probe(
        &mut self,
        rules: &Rules,
        call: Call,
        changed: bool,
        struck: bool,
        now: Now,
    ) -> Option<Arm> {
        let factor = rules.factors[usize::from(call.level)];
        let (inline, offload) = (now.inline.mean, now.offload.mean);
        let known_long = self.work.weight > 0.0 && inline > rules.inline_cap;
        if struck {
            let due = call.arm == Arm::Offload && self.marks.left == 0 && !known_long;
            if due {
                self.marks.left = rules.forgive_after.clamp(1, u32::from(u16::MAX)) as u16;
            }
            return due.then_some(Arm::Inline);
        }
        let (other, this_cost, other_cost) = match call.arm {
            Arm::Inline => (Arm::Offload, inline * factor, offload),
            Arm::Offload => (Arm::Inline, offload, inline * factor),
        };
        let mut price = (other_cost - this_cost).max(0.5 * other_cost);
        if other == Arm::Inline && inline >= rules.strike {
            price *= 16.0;
        }
        self.credit = self.credit.min(2.0 * price);
        if self.marks.patience > 0 || (other == Arm::Inline && known_long) {
            return None;
        }
        let doubtful = self.doubt[call.arm as usize] != 0.0 && this_cost > other_cost;
        if doubtful && (call.arm == Arm::Offload || inline <= rules.inline_cap) {
            return Some(call.arm);
        }
        let first = other == Arm::Inline && self.inline.weight == 0.0 && inline <= rules.inline_cap;
        let follow = changed && self.credit > -price;
        (first || follow || self.credit >= price).then_some(other)
    }
}

/// Takes in a cost. One that does not look like those before waits: if the next one surprises too,
/// the arm has changed and starts again from these two (true); otherwise both are taken in. A
/// negative cost is a surprise outside the sample, which may confirm but is not averaged.
#[inline]
fn observe(belief: &mut Belief, doubt: &mut f64, signed: f64, memory: f64) -> bool {
    let (cost, before) = (signed.abs(), *doubt);
    if belief.surprised_by(cost) {
        if before == 0.0 {
            *doubt = signed;
            return false;
        }
        *belief = Belief::default();
        *doubt = 0.0;
        belief.observe(before.abs(), memory);
        belief.observe(cost, memory);
        return true;
    }
    if before != 0.0 {
        *doubt = 0.0;
        if before > 0.0 {
            belief.observe(before, memory);
        }
    }
    if signed > 0.0 {
        belief.observe(cost, memory);
    }
    false
}

/// At least one nanosecond, so that no cost is nothing; at most 292 years, because a signed number
/// is converted in one instruction.
#[inline]
fn nanoseconds(cost_ns: u64) -> f64 {
    cost_ns.clamp(1, i64::MAX as u64) as i64 as f64
}
