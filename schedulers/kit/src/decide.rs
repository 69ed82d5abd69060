//! What a decision costs, in batches with one pair of clock reads around each.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use lab_protocol::schedulers::names;
use lab_protocol::schedulers::{Decide, Part, Workload};

use crate::clock::now_ns;
use crate::measure::{Decisions, Measured};
use crate::replay::{calm, cost};
use crate::{Arm, Policy, RunError, Setup, Truth};

/// Costs that keys have in turn: one is best inline, the next on the pool. They are told, not
/// spent.
const TRUTHS: [Truth; 2] = [
    Truth { inline_ns: 5_000, offload_ns: 20_000 },
    Truth { inline_ns: 400_000, offload_ns: 20_000 },
];

pub(crate) fn run<P: Policy>(workload: &Workload, decide: &Decide) -> Result<Measured, RunError> {
    let setup = Setup { workload, offload_round_trip_ns: None };
    let mut measured = Measured::default();
    let mut decisions = Decisions::default();
    let mut rows = if decide.part == Part::Cold {
        // Each decider has keys of its own, so that every call is for a new one.
        let asks = asks::<P>(workload, decide.deciders * decide.calls);
        let mut rows = Vec::new();
        for batch in 0..decide.warmup_batches + decide.batches {
            let policy = P::new(&setup)?;
            let times = deciders(&policy, decide, &asks, 1, &mut decisions);
            rows.extend(times.into_iter().filter(|_| batch >= decide.warmup_batches));
        }
        rows
    } else {
        let policy = P::new(&setup)?;
        let asks = asks::<P>(workload, decide.keys);
        let batches = decide.warmup_batches + decide.batches;
        let rows = deciders(&policy, decide, &asks, batches, &mut decisions);
        measured.count_policy(&policy);
        rows.into_iter().filter(|row| row.batch >= decide.warmup_batches).collect()
    };
    rows.sort_by_key(|row| row.decider);
    measured.count_decisions(decisions);
    measured.column(names::DECIDER, rows.iter().map(|row| row.decider));
    measured.column(names::CALLS, rows.iter().map(|_| decide.calls));
    measured.column(names::BATCH_NS, rows.iter().map(|row| row.elapsed_ns));
    Ok(measured)
}

/// A batch of one decider.
struct Batch {
    decider: u32,
    batch: u32,
    elapsed_ns: u64,
}

fn asks<P: Policy>(workload: &Workload, keys: u32) -> Vec<P::Asked> {
    (0..keys).map(|key| P::ask(&calm(workload, key, 0, truth(key as usize)))).collect()
}

fn truth(key: usize) -> Truth {
    TRUTHS[key % TRUTHS.len()]
}

/// Runs `batches` on each decider's thread. All start each batch together; nobody clears up after
/// one while another still decides.
fn deciders<P: Policy>(
    policy: &P,
    decide: &Decide,
    asks: &[P::Asked],
    batches: u32,
    decisions: &mut Decisions,
) -> Vec<Batch> {
    let gate = &Gate::new(decide.deciders);
    let one = |decider: u32| {
        let _opens = OpenOnPanic(gate);
        let mut caller = Caller::new(policy, decide, asks, decider);
        let batch = |batch| {
            let learns = decide.part == Part::Choose && batch < decide.warmup_batches;
            let cycle = learns || decide.part == Part::Cycle;
            gate.wait();
            let elapsed_ns = if cycle { caller.cycles() } else { caller.choices() };
            gate.wait();
            caller.clear_up();
            Batch { decider, batch, elapsed_ns }
        };
        let rows: Vec<Batch> = (0..batches).map(batch).collect();
        (rows, caller.decisions)
    };
    thread::scope(|scope| {
        let threads: Vec<_> =
            (0..decide.deciders).map(|decider| scope.spawn(move || one(decider))).collect();
        let mut rows = Vec::new();
        for thread in threads {
            let (own, made) = thread.join().expect("a decider panicked");
            rows.extend(own);
            *decisions += made;
        }
        rows
    })
}

/// A barrier that its threads leave within nanoseconds of each other: they wait for the last one
/// without sleeping. A thread that has to be woken comes tens of microseconds later, when much of
/// a batch is over that was to be contended.
struct Gate {
    deciders: u32,
    arrived: AtomicU32,
    broken: AtomicBool,
}

/// Lets nobody wait for a decider that panicked.
struct OpenOnPanic<'a>(&'a Gate);

impl Drop for OpenOnPanic<'_> {
    fn drop(&mut self) {
        self.0.broken.fetch_or(thread::panicking(), Ordering::Relaxed);
    }
}

/// After so many looks at the gate the processor is lent to whoever else needs it: there may be
/// fewer processors than deciders.
const LOOKS: u32 = 10_000;

impl Gate {
    fn new(deciders: u32) -> Self {
        Self { deciders, arrived: AtomicU32::new(0), broken: AtomicBool::new(false) }
    }

    fn wait(&self) {
        let before = self.arrived.fetch_add(1, Ordering::AcqRel);
        let all = before - before % self.deciders + self.deciders;
        let mut looks = 0;
        while self.arrived.load(Ordering::Acquire) < all {
            assert!(!self.broken.load(Ordering::Relaxed), "another decider panicked");
            looks += 1;
            if looks % LOOKS == 0 { thread::yield_now() } else { spin_loop() }
        }
    }
}

/// A thread that decides. Where only decisions are timed, what they left pending is finished after
/// the batch: a policy may keep state for it until then.
struct Caller<'a, P: Policy> {
    policy: &'a P,
    asks: &'a [P::Asked],
    first_key: usize,
    /// A place for each call of a batch, written before the first one is timed: then no page of it
    /// is new.
    pending: Vec<Option<(Arm, P::Pending)>>,
    decisions: Decisions,
}

impl<'a, P: Policy> Caller<'a, P> {
    fn new(policy: &'a P, decide: &Decide, asks: &'a [P::Asked], decider: u32) -> Self {
        let calls = decide.calls as usize;
        let own = decide.part == Part::Cold;
        let first_key = if own { calls * decider as usize } else { 0 };
        let asks = if own { &asks[first_key..first_key + calls] } else { asks };
        let pending = (0..calls).map(|_| None).collect();
        Self { policy, asks, first_key, pending, decisions: Decisions::default() }
    }

    fn choices(&mut self) -> u64 {
        let start = now_ns();
        for (place, asked) in self.pending.iter_mut().zip(self.asks.iter().cycle()) {
            *place = Some(self.policy.choose(black_box(asked)));
        }
        now_ns() - start
    }

    fn cycles(&mut self) -> u64 {
        let start = now_ns();
        let keys = self.first_key..self.first_key + self.asks.len();
        let calls = self.asks.iter().zip(keys).cycle().take(self.pending.len());
        for (asked, key) in calls {
            let (arm, pending) = self.policy.choose(black_box(asked));
            self.policy.finish(pending, cost(truth(key), arm));
            self.decisions.add(arm);
        }
        now_ns() - start
    }

    fn clear_up(&mut self) {
        let keys = self.first_key..self.first_key + self.asks.len();
        for (place, key) in self.pending.iter_mut().zip(keys.cycle()) {
            if let Some((arm, pending)) = place.take() {
                self.policy.finish(pending, cost(truth(key), arm));
                self.decisions.add(arm);
            }
        }
    }
}
