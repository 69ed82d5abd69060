//! The two calls: `choose` and `finish`.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::belief::{ALWAYS, NormalTable};
use crate::config::{Config, ConfigError};
use crate::context::Context;
use crate::counters::Counters;
use crate::decision::{Arm, Cost, Decision, Reason};
use crate::key::{Hint, Key};
use crate::site::{Hot, PROBE_INLINE, PROBE_OFFLOAD, STRUCK, Site, WARM};
use crate::state::{Call, Rules};
use crate::stripe::{Event, Mine, Stripes};
use crate::sync::AtomicU64;
use crate::table::Table;

/// Decides for each call where it runs, and learns from what it cost. Clones share everything.
///
/// ```
/// use adaptive::{Arm, Config, Context, Cost, Key, Scheduler};
///
/// let scheduler = Scheduler::new(Config::default())?;
/// let key = Key::named("resize");
/// let mut offloaded = 0;
/// for _ in 0..1000 {
///     let decision = scheduler.choose(key, &Context::default());
///     let total_ns = match decision.arm() {
///         Arm::Inline => 240_000,
///         Arm::Offload => 30_000,
///     };
///     offloaded += usize::from(decision.arm() == Arm::Offload);
///     scheduler.finish(decision, Cost::total(total_ns));
/// }
/// assert!(offloaded >= 990);
/// # Ok::<(), adaptive::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Scheduler(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    config: Config,
    rules: Rules,
    normal: NormalTable,
    table: Table,
    stripes: Stripes,
    round_trip_ns: AtomicU64,
    /// No guardrail but a strike looks at calls shorter than this.
    guarded_above_ns: u64,
}

/// What is known of a site at this moment, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Expected cost inline, without the others' waiting; `None` before anything was measured.
    pub inline_ns: Option<f64>,
    /// Expected cost offloaded; `None` before anything was measured.
    pub offload_ns: Option<f64>,
    /// Probability that offloading costs less, at no pressure.
    pub offload_probability: f64,
    /// Whether GR3 keeps the site from running inline.
    pub struck: bool,
}

impl Default for Scheduler {
    fn default() -> Self {
        Self::with(Config::default())
    }
}

impl Scheduler {
    /// A scheduler that knows nothing yet. Allocates all it will ever need.
    ///
    /// # Errors
    /// When the settings contradict themselves.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self::with(config))
    }

    fn with(config: Config) -> Self {
        let lowest =
            config.single_worker_cap_ns.min(config.inline_cap_ns).min(config.pressure_cap_ns);
        Self(Arc::new(Inner {
            rules: Rules::new(&config),
            normal: NormalTable::new(),
            table: Table::new(config.sites),
            stripes: Stripes::new(config.seed),
            round_trip_ns: AtomicU64::new(config.round_trip_ns),
            guarded_above_ns: lowest,
            config,
        }))
    }

    /// Where this call shall run, for a call of which nothing is known beforehand.
    #[inline]
    pub fn choose(&self, key: Key, context: &Context) -> Decision {
        self.choose_with_hint(key, Hint::Unknown, context)
    }

    /// Where this call shall run. The hint decides until the site's first call is finished.
    ///
    /// Takes no lock, allocates nothing, and writes only memory of the calling thread; but the
    /// first call of a site and a probe write to the site.
    #[inline]
    pub fn choose_with_hint(&self, key: Key, hint: Hint, context: &Context) -> Decision {
        let inner = &*self.0;
        let index = inner.table.locate(key.hash());
        let level = context.level();
        let mine = inner.stripes.mine();
        let (arm, reason) = match inner.table.site(index) {
            Some(site) if site.hot.flags.load(Relaxed) == WARM => {
                inner.warm(&site.hot, mine, level, context)
            }
            Some(site) => inner.unusual(&site.hot, mine, level, hint, context),
            None => (Arm::Offload, Reason::Cold),
        };
        mine.count(reason as usize * 2 + arm as usize);
        if index == inner.table.shared() {
            mine.count(Event::Overflow as usize);
        }
        Decision { site: index as u32, arm, level, reason }
    }

    /// Learns what a decision's call cost. Takes no lock and allocates nothing.
    pub fn finish(&self, decision: Decision, cost: Cost) {
        let inner = &*self.0;
        let Some(site) = inner.table.site(decision.site as usize) else {
            return; // A decision of another, larger scheduler.
        };
        inner.learn(site, &decision, cost);
    }

    /// Sets what a round trip to the pool costs when nothing waits, in nanoseconds, as
    /// [`crate::Adaptive::calibrate`] measures it. It stands in for the offload cost of sites that
    /// were never offloaded.
    pub fn set_round_trip_ns(&self, round_trip_ns: u64) {
        self.0.round_trip_ns.store(round_trip_ns, Relaxed);
    }

    /// The round trip in use, in nanoseconds.
    #[must_use]
    pub fn round_trip_ns(&self) -> u64 {
        self.0.round_trip_ns.load(Relaxed)
    }

    /// What is known of a key. Gives the key a place, as [`Self::choose`] does.
    #[must_use]
    pub fn estimate(&self, key: Key) -> Estimate {
        let inner = &*self.0;
        let unknown =
            Estimate { inline_ns: None, offload_ns: None, offload_probability: 0.5, struck: false };
        let Some(site) = inner.table.site(inner.table.locate(key.hash())) else {
            return unknown;
        };
        let flags = site.hot.flags.load(Relaxed);
        if flags & WARM == 0 {
            return unknown;
        }
        let now = site.load().now(self.round_trip_ns() as f64);
        Estimate {
            inline_ns: Some(now.inline.mean),
            offload_ns: Some(now.offload.mean),
            offload_probability: f64::from(site.hot.threshold(0)) / f64::from(ALWAYS),
            struck: flags & STRUCK != 0,
        }
    }

    /// The inline cost that guardrails see, rounded to a sixteenth; `None` before the first call.
    #[inline]
    pub(crate) fn inline_ns(&self, decision: &Decision) -> Option<u64> {
        let hot = &self.0.table.site(decision.site as usize)?.hot;
        (hot.flags.load(Relaxed) & WARM != 0).then(|| hot.inline_ns())
    }

    /// All counters since the scheduler was made.
    #[must_use]
    pub fn counters(&self) -> Counters {
        Counters::read(&self.0.stripes)
    }

    /// Sites that have a place of their own.
    #[must_use]
    pub fn sites(&self) -> usize {
        self.0.table.taken()
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.0.config
    }
}

impl Inner {
    /// A site that was measured, and that neither a strike nor a probe concerns.
    #[inline]
    fn warm(&self, hot: &Hot, mine: Mine<'_>, level: u8, context: &Context) -> (Arm, Reason) {
        let inline_ns = hot.inline_ns();
        if inline_ns > self.guarded_above_ns
            && let Some(reason) = self.guardrail(inline_ns, level, context)
        {
            return (Arm::Offload, reason);
        }
        // One less than ALWAYS at most, so that a certain arm is always taken.
        let draw = (u32::from(mine.draw()) * u32::from(ALWAYS)) >> 16;
        let offload = draw < u32::from(hot.threshold(level));
        (if offload { Arm::Offload } else { Arm::Inline }, Reason::Learned)
    }

    fn guardrail(&self, inline_ns: u64, level: u8, context: &Context) -> Option<Reason> {
        let config = &self.config;
        let waiting = 4 * u64::from(config.pressure_waiting);
        if inline_ns > config.inline_cap_ns {
            Some(Reason::Gr1Cap)
        } else if context.tokio_workers == 1 && inline_ns > config.single_worker_cap_ns {
            Some(Reason::Gr0SingleWorker)
        } else if level > 0
            && inline_ns > config.pressure_cap_ns
            && context.waiting_at_least(waiting)
        {
            Some(Reason::Gr2Pressure)
        } else {
            None
        }
    }

    #[cold]
    fn unusual(
        &self,
        hot: &Hot,
        mine: Mine<'_>,
        level: u8,
        hint: Hint,
        context: &Context,
    ) -> (Arm, Reason) {
        let flags = hot.flags.load(Relaxed);
        if flags & WARM == 0 {
            let idle = level == 0 && context.tokio_workers != 1;
            let inline = hint == Hint::Low || (hint == Hint::Medium && idle);
            return (if inline { Arm::Inline } else { Arm::Offload }, Reason::Cold);
        }
        // A probe runs inline where others wait only if it is short: their time is not ours.
        let others = self.guardrail(hot.inline_ns(), level, context) == Some(Reason::Gr2Pressure);
        if !others && hot.take(PROBE_INLINE) {
            return (Arm::Inline, Reason::Probe);
        }
        if flags & STRUCK != 0 {
            return (Arm::Offload, Reason::Gr3Strike);
        }
        if hot.take(PROBE_OFFLOAD) {
            return (Arm::Offload, Reason::Probe);
        }
        self.warm(hot, mine, level, context)
    }

    #[inline]
    fn learn(&self, site: &Site, decision: &Decision, cost: Cost) {
        let mine = self.stripes.mine();
        mine.count(Event::Finished as usize);
        let flags = site.hot.flags.load(Relaxed);
        let mut stands_for = 1.0;
        let ordinary = !matches!(decision.reason, Reason::Cold | Reason::Probe);
        // A call on the arm that looks worse is rare, wanted, and paid for: none is left out.
        if flags == WARM && ordinary && site.hot.favours(decision.level & 3) == decision.arm {
            let (belief, doubtful) = site.arm(decision.arm);
            let draw = mine.draw();
            match self.rules.stands_for(&belief, decision.arm, cost, draw) {
                Some(calls) => stands_for = calls,
                None if doubtful => stands_for = 0.0,
                None => return,
            }
        }
        let call = Call {
            arm: decision.arm,
            level: decision.level & 3,
            reason: decision.reason,
            struck: flags & STRUCK != 0,
            stands_for,
            cost,
        };
        self.take_in(site, mine, &call);
    }

    fn take_in(&self, site: &Site, mine: Mine<'_>, call: &Call) {
        let mut state = site.load();
        let round_trip = self.round_trip_ns.load(Relaxed) as f64;
        let outcome = state.finish(&self.rules, *call, round_trip);
        site.store(&state, call);
        let now = state.now(round_trip);
        site.hot.publish(state.thresholds(&self.rules, &self.normal, now), now.inline.mean);
        site.hot.apply(&outcome);
        let total_ns = call.cost.total_ns;
        if outcome.strike {
            mine.count(Event::Strike as usize);
            tracing::debug!(total_ns, strikes = state.marks.strikes, "strike");
        }
        if outcome.changed {
            mine.count(Event::Change as usize);
            tracing::debug!(arm = ?call.arm, total_ns, "cost changed");
        }
    }
}
