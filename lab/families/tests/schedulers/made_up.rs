//! Tests of scheduling policies that never ran: every sample follows from a formula.

use lab_plan::PlannedRun;
use proof_kit::world::{Made, World, noise};

const OFFLOAD: &str = include_str!("../../../../experiments/offload.toml");
const TIMES: &str = "site\tinline_ns\toffload_ns\n0\t5000\t9000\n";
/// Steps of a replay.
const STEPS: u64 = 1_000;
/// Steps between two changes of the costs.
const SHIFT_STEPS: u64 = 250;
const TICKS: i64 = 1_000;

/// What is planted in one policy.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    pub choose_ns: f64,
    pub cycle_ns: f64,
    /// What two deciders at once pay, as a multiple of one.
    pub contention: f64,
    /// Steps from the start or a change until it offloads what is cheaper offloaded.
    pub late: u64,
    /// The same back to inline.
    pub late_back: u64,
    /// Whether it takes the cheaper arm where inline costs 240 us and offloading 30 us.
    pub sees_240: bool,
    /// Whether it runs cheap work inline.
    pub sees_cheap: bool,
    /// Items/s, of the oracle's.
    pub throughput: f64,
    /// The P99 of ticks under 3 ms of work, in microseconds.
    pub tick_us: f64,
    /// The same beside jobs that follow each other.
    pub pressure_us: f64,
}

/// Who ran.
pub const POLICIES: [&str; 7] =
    ["always_inline", "always_offload", "threshold", "ewma", "thompson", "loom_rs", "oracle"];

/// What is planted.
#[derive(Debug, Clone)]
pub struct Sweep {
    pub blocks: u32,
    /// Relative noise of a run, uniform within ± this.
    pub noise: f64,
    pub thompson: Policy,
    pub loom_rs: Policy,
}

const THOMPSON: Policy = Policy {
    choose_ns: 20.0,
    cycle_ns: 60.0,
    contention: 1.1,
    late: 5,
    late_back: 12,
    sees_240: true,
    sees_cheap: true,
    throughput: 0.96,
    tick_us: 210.0,
    pressure_us: 310.0,
};

/// A policy that decides nothing.
const FIXED: Policy = Policy { choose_ns: 2.0, cycle_ns: 3.0, contention: 1.0, ..THOMPSON };

impl Default for Sweep {
    fn default() -> Self {
        Self {
            blocks: 8,
            noise: 0.01,
            thompson: THOMPSON,
            loom_rs: Policy {
                choose_ns: 110.0,
                cycle_ns: 180.0,
                contention: 4.0,
                late: 7,
                late_back: u64::MAX,
                sees_240: false,
                throughput: 0.8,
                tick_us: 215.0,
                pressure_us: 330.0,
                ..THOMPSON
            },
        }
    }
}

impl Sweep {
    /// The committed experiment with fewer blocks.
    pub fn world(&self) -> World {
        let committed = "\nblocks = 8\n";
        assert!(OFFLOAD.contains(committed), "offload.toml has another number of blocks");
        let text = OFFLOAD.replace(committed, &format!("\nblocks = {}\n", self.blocks));
        let mut world = World::of(&text, &["offload"], &POLICIES);
        world.attachments.insert("service_times".to_owned(), TIMES.to_owned());
        world
    }

    /// What a run left.
    pub fn run(&self, run: &PlannedRun) -> Made {
        let noise = noise(self.noise, run);
        let variant = run.variant.trim_end_matches("_twin");
        let policy = self.policy(variant);
        let level = |factor: &str| run.cell[factor].as_str();
        let mut made = match level("test") {
            "decide" => decide(policy, level("part"), level("deciders"), noise),
            "replay" => replay(policy, variant, level("costs"), run.block),
            "stream" => stream(policy, variant, level("work"), level("concurrency"), noise),
            _ => wake(policy, variant, level("load"), noise),
        };
        made.counters.push(("offload_round_trip_ns", 12_000));
        made
    }

    fn policy(&self, variant: &str) -> Policy {
        match variant {
            "loom_rs" => self.loom_rs,
            "always_inline" => {
                Policy { throughput: 0.7, tick_us: 2_900.0, pressure_us: 9_000.0, ..FIXED }
            }
            "always_offload" => {
                Policy { throughput: 0.5, tick_us: 200.0, pressure_us: 300.0, ..FIXED }
            }
            "oracle" => Policy { late: 0, late_back: 0, throughput: 1.0, ..THOMPSON },
            "threshold" => Policy { throughput: 0.9, late: 0, sees_240: false, ..THOMPSON },
            "ewma" => Policy { throughput: 0.94, late: 30, late_back: 40, ..THOMPSON },
            _ => self.thompson,
        }
    }
}

fn decide(policy: Policy, part: &str, deciders: &str, noise: f64) -> Made {
    let call = match part {
        "choose" => policy.choose_ns,
        "cycle" => policy.cycle_ns,
        _ => 90.0,
    };
    let deciders: i64 = deciders.parse().unwrap();
    let call = if deciders > 1 { call * policy.contention } else { call };
    let batch = (call * noise * 10_000.0) as i64;
    let rows = 3 * deciders;
    let columns = vec![
        ("decider", (0..rows).map(|row| row % deciders).collect()),
        ("calls", vec![10_000; rows as usize]),
        ("batch_ns", (0..rows).map(|row| batch + row - rows / 2).collect()),
    ];
    Made { columns, ..Made::default() }
}

/// What inline and offloading cost at a step, in nanoseconds.
fn costs_at(costs: &str, step: u64, block: u32) -> (i64, i64) {
    let draw = (step * 7_919 + u64::from(block) * 104_729) % 1_000;
    let jitter = draw as i64;
    match costs {
        "steady_small" => (5_000 + jitter, 15_000),
        "inline_240_offload_30" => (240_000 + jitter, 30_000),
        "slow" => (5_000_000 + jitter, 60_000),
        "shift" if (step / SHIFT_STEPS).is_multiple_of(2) => (20_000 + jitter, 60_000),
        "shift" => (500_000 + jitter, 60_000),
        _ if draw < 100 => (1_000_000, 40_000),
        _ => (10_000, 40_000),
    }
}

/// A policy follows the cheaper arm so many steps late; other costs than these it offloads, for
/// only the oracle knows what they will be.
fn replay(policy: Policy, variant: &str, costs: &str, block: u32) -> Made {
    let (mut arms, mut paid, mut regret) = (vec![], vec![], vec![]);
    let (mut since, mut last) = (0, false);
    for step in 0..STEPS {
        let (inline, offload) = costs_at(costs, step, block);
        let better = offload < inline;
        since = if better == last && step > 0 { since + 1 } else { 0 };
        last = better;
        let late = if better { policy.late } else { policy.late_back };
        let arm = match (variant, costs) {
            ("always_inline", _) => false,
            ("always_offload", _) => true,
            ("oracle", _) => better,
            (_, "steady_small") => !policy.sees_cheap,
            (_, "inline_240_offload_30") => policy.sees_240 && since >= policy.late,
            (_, "slow") => since >= policy.late,
            // Every policy starts inline.
            (_, "shift") if step < SHIFT_STEPS => false,
            (_, "shift") => (since >= late) == better,
            _ => true,
        };
        let (own, other) = if arm { (offload, inline) } else { (inline, offload) };
        arms.push(i64::from(arm));
        paid.push(own);
        regret.push((own - other).max(0));
    }
    let offloaded = arms.iter().filter(|arm| **arm == 1).count() as u64;
    let columns = vec![("arm", arms), ("cost_ns", paid), ("regret_ns", regret)];
    Made { columns, counters: decisions(STEPS - offloaded, offloaded), ..Made::default() }
}

fn stream(policy: Policy, variant: &str, work: &str, concurrency: &str, noise: f64) -> Made {
    let (oracle_ns, share) = match work {
        "fast" => (1_000_000.0, 0.0),
        "slow" => (50_000_000.0, 1.0),
        _ => (10_000_000.0, 0.3),
    };
    let share = match variant {
        "always_inline" => 0.0,
        "always_offload" => 1.0,
        _ => share,
    };
    // Several in flight are done twice as fast.
    let lanes = if concurrency == "1" { 1.0 } else { 2.0 };
    let elapsed = (oracle_ns / lanes / policy.throughput / noise) as i64;
    let offloaded = (100.0 * share) as i64;
    let class = |item: i64| i64::from(item >= 90);
    let columns = vec![
        ("elapsed_ns", vec![elapsed - 10, elapsed, elapsed + 500]),
        ("cpu_ns", vec![elapsed; 3]),
        ("inline_items", vec![100 - offloaded; 3]),
        ("offload_items", vec![offloaded; 3]),
        ("answer", vec![11; 3]),
        ("item_class", (0..100).map(class).collect()),
        ("item_work_ns", (0..100).map(|item| 5_000 + 495_000 * class(item) + item).collect()),
        ("item_arm", (0..100).map(|item| i64::from(item >= 100 - offloaded)).collect()),
    ];
    let mut counters = decisions(300 - 3 * offloaded as u64, 3 * offloaded as u64);
    counters.push(("work_measured_ns", 5_010));
    Made { columns, counters, ..Made::default() }
}

fn wake(policy: Policy, variant: &str, load: &str, noise: f64) -> Made {
    let (p99, jobs) = match load {
        "idle" => (50.0, 0),
        "block_3ms" => (policy.tick_us, 200),
        _ => (policy.pressure_us, 2_000),
    };
    // Nearest rank: the 990th of 1,000 is the P99 that was planted.
    let tick = |place: i64| (1e3 * p99 * noise * place as f64 / 990.0) as i64;
    let offloaded = if variant == "always_inline" { 0 } else { jobs };
    let mut counters = decisions(jobs - offloaded, offloaded);
    counters.extend([
        ("ticks_intended", TICKS as u64),
        ("jobs_started", jobs),
        ("elapsed_ns", 1_000_000_000),
        ("cpu_total_ns", 500_000_000),
        ("block_longest_ns", if offloaded == jobs { 2_000 } else { 3_000_000 }),
        ("work_measured_ns", 3_000_100),
    ]);
    if variant == "loom_rs" {
        counters.extend([
            ("gr1_activations", jobs),
            ("gr2_activations", 0),
            ("gr3_activations", 0),
        ]);
    }
    let columns = vec![
        ("tick_latency_ns", (1..=TICKS).map(tick).collect()),
        ("job_latency_ns", (0..jobs).map(|place| 1_000 * (100 + place as i64)).collect()),
        ("job_work_ns", vec![3_000_000; jobs as usize]),
        ("job_arm", vec![i64::from(offloaded == jobs); jobs as usize]),
    ];
    Made { columns, counters, ..Made::default() }
}

fn decisions(inline: u64, offload: u64) -> Vec<(&'static str, u64)> {
    vec![("decisions_inline", inline), ("decisions_offload", offload)]
}
