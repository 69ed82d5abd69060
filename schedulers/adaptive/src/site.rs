//! A site in the table: the line that decisions read, and the lines that finished calls write.

use std::sync::atomic::Ordering::Relaxed;

use crate::away::Away;
use crate::belief::{ALWAYS, Belief};
use crate::decision::Arm;
use crate::state::{Call, Change, Marks, State};
use crate::sync::{AtomicU32, AtomicU64};

/// Something was measured.
pub(crate) const WARM: u32 = 1;
/// GR3 holds.
pub(crate) const STRUCK: u32 = 2;
/// The next call may run inline, whatever the draw says; whoever clears the bit takes it.
pub(crate) const PROBE_INLINE: u32 = 4;
/// The next call is offloaded, whatever the draw says.
pub(crate) const PROBE_OFFLOAD: u32 = 8;

/// One site. All accesses are relaxed: each value stands for itself, an estimate that misses an
/// observation is as good, and what must not be lost are single bits of `flags`.
#[derive(Debug, Default)]
pub(crate) struct Site {
    pub hot: Hot,
    cold: Cold,
}

/// What a decision reads. Written only when it changes, or all workers would wait for this line.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Hot {
    pub key: AtomicU64,
    /// Four thresholds of 16 bits, by level of pressure, lowest level first.
    thresholds: AtomicU64,
    /// The inline cost that the guardrails compare, in nanoseconds.
    inline_ns: AtomicU64,
    pub flags: AtomicU32,
}

impl Hot {
    #[inline]
    pub fn threshold(&self, level: u8) -> u16 {
        (self.thresholds.load(Relaxed) >> (16 * u32::from(level))) as u16
    }

    /// The arm that probably costs less.
    #[inline]
    pub fn favours(&self, level: u8) -> Arm {
        if self.threshold(level) > ALWAYS / 2 { Arm::Offload } else { Arm::Inline }
    }

    #[inline]
    pub fn inline_ns(&self) -> u64 {
        self.inline_ns.load(Relaxed)
    }

    /// Takes a probe that was given out; of several threads one succeeds.
    #[inline]
    pub fn take(&self, probe: u32) -> bool {
        let flags = self.flags.load(Relaxed);
        flags & probe != 0 && self.flags.fetch_and(!probe, Relaxed) & probe != 0
    }

    #[inline]
    pub fn apply(&self, outcome: &Change) {
        let mut set = WARM;
        if outcome.strike {
            set |= STRUCK;
        }
        match outcome.probe {
            Some(Arm::Inline) => set |= PROBE_INLINE,
            Some(Arm::Offload) => set |= PROBE_OFFLOAD,
            None => {}
        }
        if outcome.strike {
            // Not a moment later: a probe given out before must not run a second long call.
            self.flags.fetch_and(!PROBE_INLINE, Relaxed);
        }
        if self.flags.load(Relaxed) & set != set {
            self.flags.fetch_or(set, Relaxed);
        }
        if outcome.forgiven {
            self.flags.fetch_and(!STRUCK, Relaxed);
        }
    }

    #[inline]
    pub fn publish(&self, thresholds: [u16; 4], inline_ns: f64) {
        let [first, second, third, fourth] = thresholds;
        let low = u64::from(first) | u64::from(second) << 16;
        let word = low | u64::from(third) << 32 | u64::from(fourth) << 48;
        if self.thresholds.load(Relaxed) != word {
            self.thresholds.store(word, Relaxed);
        }
        // Within a sixteenth is the same for a guardrail, and saves the other threads a miss.
        let (old, new) = (self.inline_ns.load(Relaxed), inline_ns as u64);
        if old.abs_diff(new) > old / 16 {
            self.inline_ns.store(new, Relaxed);
        }
    }
}

/// The estimates. Numbers are stored as their bits.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Cold {
    beliefs: [[AtomicU64; 3]; 3],
    work_then: AtomicU64,
    credit: AtomicU64,
    doubt: [AtomicU64; 2],
    marks: AtomicU64,
    away: [AtomicU64; 2],
}

impl Site {
    /// What is known. Beside a concurrent [`Self::store`] fields may come from both states, each
    /// of which is a possible value of its own.
    #[inline]
    pub fn load(&self) -> State {
        let cold = &self.cold;
        let belief = |index: usize| get_belief(&cold.beliefs[index]);
        State {
            inline: belief(0),
            offload: belief(1),
            work: belief(2),
            work_then: number(&cold.work_then),
            credit: number(&cold.credit),
            doubt: [number(&cold.doubt[0]), number(&cold.doubt[1])],
            marks: unpack(cold.marks.load(Relaxed)),
            away: Away::of_words([cold.away[0].load(Relaxed), cold.away[1].load(Relaxed)]),
        }
    }

    /// What is known of one arm, and whether a surprise of it waits for its confirmation.
    #[inline]
    pub fn arm(&self, arm: Arm) -> (Belief, bool) {
        let index = arm as usize;
        (get_belief(&self.cold.beliefs[index]), number(&self.cold.doubt[index]) != 0.0)
    }

    /// Stores what a call can have changed.
    #[inline]
    pub fn store(&self, state: &State, call: &Call) {
        let cold = &self.cold;
        let (index, belief) = match call.arm {
            Arm::Inline => (0, &state.inline),
            Arm::Offload => (1, &state.offload),
        };
        put_belief(&cold.beliefs[index], belief);
        put(&cold.doubt[index], state.doubt[index]);
        if call.cost.function_ns.is_some() {
            put_belief(&cold.beliefs[2], &state.work);
        }
        put(&cold.work_then, state.work_then);
        put(&cold.credit, state.credit);
        cold.marks.store(pack(state.marks), Relaxed);
        for (place, word) in cold.away.iter().zip(state.away.words()) {
            place.store(word, Relaxed);
        }
    }
}

#[inline]
fn number(bits: &AtomicU64) -> f64 {
    f64::from_bits(bits.load(Relaxed))
}

#[inline]
fn get_belief([mean, variance, weight]: &[AtomicU64; 3]) -> Belief {
    Belief { mean: number(mean), variance: number(variance), weight: number(weight) }
}

#[inline]
fn put(place: &AtomicU64, value: f64) {
    place.store(value.to_bits(), Relaxed);
}

#[inline]
fn put_belief(place: &[AtomicU64; 3], belief: &Belief) {
    put(&place[0], belief.mean);
    put(&place[1], belief.variance);
    put(&place[2], belief.weight);
}

#[inline]
fn pack(marks: Marks) -> u64 {
    u64::from(marks.strikes)
        | u64::from(marks.fell) << 16
        | u64::from(marks.clean) << 32
        | u64::from(marks.patience) << 48
}

#[inline]
fn unpack(bits: u64) -> Marks {
    Marks {
        strikes: bits as u8,
        fell: bits >> 16 & 1 == 1,
        clean: (bits >> 32) as u16,
        patience: (bits >> 48) as u16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::{Cost, Reason};

    #[test]
    fn what_is_stored_is_loaded() {
        let mut state =
            State { credit: -3.5, work_then: 7.0, doubt: [1.0, 2.0], ..State::default() };
        state.inline = Belief { mean: 1.5, variance: 2.5, weight: 3.0 };
        state.offload = Belief { mean: 4.5, variance: 5.5, weight: 6.0 };
        state.work = Belief { mean: 7.5, variance: 8.5, weight: 9.0 };
        state.marks = Marks { strikes: 9, fell: true, clean: 65_535, patience: 1024 };
        state.away.begin(7, false);
        let site = Site::default();
        let cost = Cost { total_ns: 1, function_ns: Some(1), queued_ns: None };
        for arm in [Arm::Inline, Arm::Offload] {
            site.store(
                &state,
                &Call {
                    arm,
                    level: 0,
                    reason: Reason::Learned,
                    struck: false,
                    stands_for: 1.0,
                    cost,
                },
            );
        }
        assert_eq!(site.load(), state);
    }

    #[test]
    fn a_probe_is_taken_once_and_never_after_a_strike() {
        let hot = Hot::default();
        hot.apply(&Change { probe: Some(Arm::Inline), ..Change::default() });
        assert!(hot.take(PROBE_INLINE) && !hot.take(PROBE_INLINE));
        hot.apply(&Change { probe: Some(Arm::Inline), ..Change::default() });
        hot.apply(&Change { strike: true, ..Change::default() });
        assert!(!hot.take(PROBE_INLINE));
        assert_eq!(hot.flags.load(Relaxed), WARM | STRUCK);
    }

    #[test]
    fn thresholds_keep_their_level() {
        let hot = Hot::default();
        hot.publish([1, 2, 3, 4], 1000.0);
        assert_eq!([0, 1, 2, 3].map(|level| hot.threshold(level)), [1, 2, 3, 4]);
        assert_eq!(hot.inline_ns(), 1000);
    }
}
