//! What is known of a site, and how one finished call changes it. Plain arithmetic without
//! atomics, so that every rule can be checked with numbers.

use crate::away::Away;
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
/// Inline calls without a strike after which a site counts as one that runs inline: where it turns
/// dear, it may come back.
const HOME_CALLS: u16 = 32;
const STRIKES_MAX: u8 = 9;
/// Prices of a look inline that a site which ran inline may owe to its budget before it looks
/// again. Without a debt the first stretch of dear calls would be over long before there is a
/// budget to notice it.
const DEBT: f64 = 3.5;

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
    pub away: Away,
}

/// Small counts of a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Marks {
    pub strikes: u8,
    /// The site ran inline until its cost changed.
    pub fell: bool,
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
pub(crate) struct Change {
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

    /// Cost of one nanosecond inline.
    #[inline]
    fn factor(&self, level: u8) -> f64 {
        self.factors[usize::from(level)]
    }

    /// Calls that a site waits which has so many strikes.
    fn wait(&self, strikes: u8) -> u32 {
        let after = self.forgive_after << strikes.clamp(1, STRIKES_MAX).saturating_sub(1);
        after.clamp(1, u32::from(u16::MAX))
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
    pub fn finish(&mut self, rules: &Rules, call: Call, round_trip: f64) -> Change {
        let cost = nanoseconds(call.cost.total_ns);
        let mut outcome = Change::default();
        self.marks.patience = match call.reason {
            Reason::Probe => 0,
            _ => self.marks.patience.saturating_sub(1),
        };
        let explored = self.explores(rules, call, round_trip);
        outcome.changed = match call.arm {
            Arm::Inline => self.ran_inline(rules, call, cost, &mut outcome),
            Arm::Offload => self.ran_offloaded(rules, call, cost),
        };
        let now = self.now(round_trip);
        self.account(rules, call, cost, now, explored);
        let struck = outcome.strike || (call.struck && !outcome.forgiven);
        outcome.probe = self.next_probe(rules, call, outcome.changed, struck, now);
        if outcome.probe.is_some() {
            self.marks.patience = PROBE_PATIENCE;
        }
        outcome
    }

    /// Whether a call was made for what it teaches: on the arm that looked worse, or inline before
    /// the site has shown that it is back.
    #[inline]
    fn explores(&self, rules: &Rules, call: Call, round_trip: f64) -> bool {
        if call.reason != Reason::Learned {
            return call.reason == Reason::Probe;
        }
        let Now { inline, offload } = self.now(round_trip);
        let gain = offload.mean - inline.mean * rules.factor(call.level);
        match call.arm {
            Arm::Inline => gain < 0.0 || self.marks.clean < HOME_CALLS,
            Arm::Offload => gain > 0.0,
        }
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
    fn ran_inline(&mut self, rules: &Rules, call: Call, cost: f64, outcome: &mut Change) -> bool {
        if !self.is_steady() {
            // What was seen before belongs to work of another length.
            self.inline = Belief::default();
            self.doubt[0] = 0.0;
        }
        self.work_then = self.work.mean;
        let stayed = self.marks.clean >= HOME_CALLS;
        let seen = self.offload.weight > 0.0;
        let (paid, offload) = (cost * rules.factor(call.level), self.offload.mean);
        let mut back = false;
        if cost >= rules.strike {
            outcome.strike = true;
            self.strike(rules, call.struck);
        } else {
            outcome.forgiven = call.struck && call.reason == Reason::Probe;
            self.ran_clean(call);
            if self.away.is_on() && call.reason == Reason::Probe {
                back = seen && paid < offload;
                if back {
                    self.away.over();
                } else {
                    self.away.still_dear(rules.wait(self.marks.strikes));
                }
            }
        }
        if back && self.inline.mean <= offload {
            // What struck belongs to the stretch that is over.
            self.doubt[0] = 0.0;
        }
        let verdict = seen && paid < offload && self.inline.mean > offload;
        let signed = if call.stands_for > 0.0 { cost } else { -cost };
        let changed = observe(&mut self.inline, &mut self.doubt[0], signed, rules.memory, verdict);
        if changed && stayed && seen && self.inline.mean > offload && !self.away.is_on() {
            self.fall(rules);
        }
        changed
    }

    /// An inline call without a strike.
    #[inline]
    fn ran_clean(&mut self, call: Call) {
        let calls = (call.stands_for as u16).max(1);
        let clean = self.marks.clean.saturating_add(calls);
        if self.marks.clean % CLEAN_CALLS + calls >= CLEAN_CALLS {
            self.marks.strikes = self.marks.strikes.saturating_sub(1);
        }
        self.marks.clean = clean;
    }

    /// An inline call was very long.
    fn strike(&mut self, rules: &Rules, struck: bool) {
        if !struck && self.marks.clean >= HOME_CALLS {
            return self.fall(rules);
        }
        self.marks.clean = 0;
        self.marks.strikes = (self.marks.strikes + 1).min(STRIKES_MAX);
        let wait = rules.wait(self.marks.strikes);
        if struck {
            self.away.still_dear(wait);
        } else {
            self.away.goes_on(wait);
        }
    }

    /// A site that ran inline turned dear.
    fn fall(&mut self, rules: &Rules) {
        self.marks.fell = true;
        self.marks.clean = 0;
        self.marks.strikes = 1;
        let price = self.inline.mean.max(self.doubt[0].abs());
        self.away.begin(rules.wait(1), self.credit >= price);
    }

    #[inline]
    fn ran_offloaded(&mut self, rules: &Rules, call: Call, cost: f64) -> bool {
        let signed = if call.stands_for > 0.0 { cost } else { -cost };
        let changed = observe(&mut self.offload, &mut self.doubt[1], signed, rules.memory, false);
        if let Some(function_ns) = call.cost.function_ns {
            if changed {
                self.work = Belief::default();
            }
            self.work.observe(nanoseconds(function_ns), WORK_MEMORY);
            if self.inline.weight > 0.0 && self.work_then <= 0.0 {
                self.work_then = self.work.mean;
            }
        }
        self.away.offloaded(call.stands_for as u32);
        changed
    }

    /// Earns a share of every cost, and pays what a call lost that was made to learn. At a site
    /// whose cost changed, the first two samples of an arm are free: without them nothing is known
    /// of what it costs now. A site that never ran inline has nothing to come back to: it pays.
    #[inline]
    fn account(&mut self, rules: &Rules, call: Call, cost: f64, now: Now, explored: bool) {
        let factor = rules.factor(call.level);
        let (inline, offload) = (now.inline.mean * factor, now.offload.mean);
        let (mean, best, weight, paid) = match call.arm {
            Arm::Inline => (inline, offload, self.inline.weight, cost * factor),
            Arm::Offload => (offload, inline, self.offload.weight, cost),
        };
        self.credit += rules.exploration * paid * call.stands_for;
        if !explored || (self.marks.fell && weight <= 2.0) {
            return;
        }
        let doubtful = self.doubt[call.arm as usize] != 0.0;
        let lost = (if doubtful { paid } else { mean } - best).max(0.0);
        match call.reason {
            // At least half of its cost, or two equal arms would be probed in turns for ever.
            Reason::Probe => self.credit -= lost.max(0.5 * mean),
            Reason::Learned if doubtful => self.credit -= lost,
            Reason::Learned => self.credit -= lost * call.stands_for,
            _ => {}
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
        let factor = rules.factor(call.level);
        let (inline, offload) = (now.inline.mean, now.offload.mean);
        let known_long = self.work.weight > 0.0 && inline.max(self.work.mean) > rules.inline_cap;
        if struck || self.away.is_on() {
            let due = call.arm == Arm::Offload && !known_long && self.looks(rules, factor, now);
            if due || struck {
                return due.then_some(Arm::Inline);
            }
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
        let doubt = self.doubt[call.arm as usize];
        let confirms = call.arm == Arm::Offload
            || inline <= rules.inline_cap
            || doubt.abs() * factor < other_cost;
        if doubt != 0.0 && this_cost > other_cost && confirms {
            return Some(call.arm);
        }
        let first = other == Arm::Inline && self.inline.weight == 0.0 && inline <= rules.inline_cap;
        let follow = changed && self.credit > -price;
        (first || follow || self.credit >= price).then_some(other)
    }

    /// Whether it is time to look if a stretch of dear calls is over, and the budget pays for it.
    fn looks(&mut self, rules: &Rules, factor: f64, now: Now) -> bool {
        // Where the pool tells how long the work is, nobody has to guess what a look will cost.
        let told = self.work.weight >= 2.0;
        let due = self.away.is_due();
        let rested = || self.away.rested(rules.wait(self.marks.strikes));
        if !due && (!told || !rested()) {
            return false;
        }
        let least = if told { self.work.mean } else { self.doubt[0].abs() };
        let cost = factor * now.inline.mean.max(least);
        let price = (cost - now.offload.mean).max(0.5 * cost);
        self.credit = self.credit.min(2.0 * price);
        let credit = if self.marks.fell { -DEBT * price } else { price };
        let short = told && cost < now.offload.mean;
        let paid = short || (due && self.credit >= credit);
        if due || paid {
            // Again: one that is not paid for yet, or is lost with its call.
            self.away.look(rules.wait(1));
        }
        paid
    }
}

/// Takes in a cost. One that does not look like those before waits: if the next one surprises too,
/// the arm has changed and starts again from these two (true); otherwise both are taken in. A
/// negative cost is a surprise outside the sample, which may confirm but is not averaged. One that
/// turns the `verdict` counts as a surprise however few were before.
#[inline]
fn observe(belief: &mut Belief, doubt: &mut f64, signed: f64, memory: f64, verdict: bool) -> bool {
    let (cost, before) = (signed.abs(), *doubt);
    if verdict || belief.surprised_by(cost) {
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
