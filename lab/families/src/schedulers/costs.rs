//! What the two arms cost, step by step: drawn here, so that the lab knows the truth and every
//! policy sees the same sequence.

use lab_family::{InputError, draw};
use lab_protocol::schedulers::Replay;
use rand::Rng;
use rand_pcg::Pcg64;

/// A sequence of costs. Every cost is jittered evenly by up to a tenth, unless it says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Costs {
    /// Inline 5 us, offload 15 us: inline is right and cheap.
    SteadySmall,
    /// Inline 240 us, offload 30 us, below the 250 us from which a published guardrail acts.
    Inline240Offload30,
    /// Inline 5 ms, offload 60 us.
    Slow,
    /// Inline 20 us and 500 us by turns of [`SHIFT_STEPS`] steps, offload 60 us.
    Shift,
    /// The same with one change, half way: the published shift.
    ShiftOnce,
    /// Inline from 10 us up to 300 us by equal ratios, offload 40 us.
    Drift,
    /// Inline 10 us, or with one chance in ten 1 ms; offload 40 us. Whoever does not know which it
    /// will be should offload.
    Bimodal,
    /// Inline 1 us to 1,024 us with the input's size, which is known; offload 30 us.
    BySize,
    /// [`SITES`] call sites, each with an inline cost of its own from 1 us to 1 ms; offload 30 us.
    ManySites,
    /// The table of recorded service times, from the first row on and again.
    Recorded,
}

/// Steps between two changes of [`Costs::Shift`].
pub const SHIFT_STEPS: u32 = 500;
/// Call sites of [`Costs::ManySites`].
pub const SITES: u32 = 64;

pub(crate) const NAMES: [(&str, Costs); 10] = [
    ("steady_small", Costs::SteadySmall),
    ("inline_240_offload_30", Costs::Inline240Offload30),
    ("slow", Costs::Slow),
    ("shift", Costs::Shift),
    ("shift_once", Costs::ShiftOnce),
    ("drift", Costs::Drift),
    ("bimodal", Costs::Bimodal),
    ("by_size", Costs::BySize),
    ("many_sites", Costs::ManySites),
    ("recorded", Costs::Recorded),
];

const US: f64 = 1_000.0;
const JITTER: f64 = 0.1;

impl Costs {
    /// So many steps from a seed.
    pub(crate) fn draw(self, seed: u64, steps: u32, recorded: &Recorded) -> Replay {
        let mut random = draw::generator(seed, &["costs", &format!("{self:?}")]);
        let sites: Vec<f64> = (0..SITES).map(|_| US * 1_000f64.powf(random.random())).collect();
        let mut replay = Replay::default();
        for step in 0..steps {
            if self == Self::Recorded {
                let row = recorded.row(step);
                push(&mut replay, row.site, 0, row.inline_ns, row.offload_ns);
                continue;
            }
            let (site, size, inline, offload) = self.step(step, steps, &sites, &mut random);
            let (inline, offload) = (jitter(inline, &mut random), jitter(offload, &mut random));
            push(&mut replay, site, size, inline, offload);
        }
        replay
    }

    /// Site, size, and both costs in nanoseconds, before the jitter.
    fn step(
        self,
        step: u32,
        steps: u32,
        sites: &[f64],
        random: &mut Pcg64,
    ) -> (u32, u64, f64, f64) {
        match self {
            Self::SteadySmall => (0, 0, 5.0 * US, 15.0 * US),
            Self::Inline240Offload30 => (0, 0, 240.0 * US, 30.0 * US),
            Self::Slow => (0, 0, 5_000.0 * US, 60.0 * US),
            Self::Shift => {
                let slow = step / SHIFT_STEPS % 2 == 1;
                (0, 0, if slow { 500.0 * US } else { 20.0 * US }, 60.0 * US)
            }
            Self::ShiftOnce => {
                let slow = step >= steps / 2;
                (0, 0, if slow { 500.0 * US } else { 20.0 * US }, 60.0 * US)
            }
            Self::Drift => {
                let way = f64::from(step) / f64::from(steps);
                (0, 0, 10.0 * US * 30f64.powf(way), 40.0 * US)
            }
            Self::Bimodal => {
                let long = random.random_bool(0.1);
                (0, 0, if long { 1_000.0 * US } else { 10.0 * US }, 40.0 * US)
            }
            Self::BySize => {
                let size = 1u64 << random.random_range(0..=10);
                (0, size, size as f64 * US, 30.0 * US)
            }
            Self::ManySites => {
                let site = random.random_range(0..SITES);
                (site, 0, sites[site as usize], 30.0 * US)
            }
            Self::Recorded => unreachable!("taken from the table"),
        }
    }
}

fn jitter(ns: f64, random: &mut Pcg64) -> u64 {
    (ns * random.random_range(1.0 - JITTER..1.0 + JITTER)) as u64
}

fn push(replay: &mut Replay, site: u32, size: u64, inline_ns: u64, offload_ns: u64) {
    replay.site.push(site);
    replay.size.push(size);
    replay.inline_ns.push(inline_ns);
    replay.offload_ns.push(offload_ns);
}

/// Service times measured once: what a piece of work kept the caller's worker for on each arm.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    rows: Vec<Row>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    site: u32,
    inline_ns: u64,
    offload_ns: u64,
}

impl Recorded {
    /// Reads a table of `site`, `inline_ns` and `offload_ns`, tabs between them, with a head.
    ///
    /// # Errors
    /// Names the file and the line.
    pub fn parse(file: &str, text: &str) -> Result<Self, InputError> {
        let mut rows = Vec::new();
        for (index, line) in text.lines().enumerate().skip(1) {
            let fields: Option<Vec<u64>> = line.split('\t').map(|one| one.parse().ok()).collect();
            let row = match fields.as_deref() {
                Some(&[site, inline_ns, offload_ns]) => {
                    u32::try_from(site).ok().map(|site| Row { site, inline_ns, offload_ns })
                }
                _ => None,
            };
            let line = format!("line {}", index + 1);
            let message = "must be three whole numbers with tabs between: site, inline_ns, \
                           offload_ns";
            rows.push(row.ok_or_else(|| InputError::value(file, &line, message))?);
        }
        if rows.is_empty() {
            return Err(InputError::value(file, "line 2", "is missing: the table has no row"));
        }
        Ok(Self { rows })
    }

    fn row(&self, step: u32) -> Row {
        self.rows[step as usize % self.rows.len()]
    }
}
