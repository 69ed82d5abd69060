//! One try: real processes, measured as `lab compare` does.

use std::{
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::Instant,
};

use anyhow::{Context, Result, ensure};
use lab_compare::{Comparison, Next, Schedule, Settings};
use lab_process::{Ended, Run};
use lab_stats::describe::median;
use serde::{Deserialize, Serialize};

use super::{
    neighbour::Neighbour,
    plan::{Kind, Planned},
};

/// A finished try.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Try {
    /// What it was to be.
    #[serde(flatten)]
    pub planned: Planned,
    /// The revision of this repository, with `+changes` where the work tree has some.
    pub commit: String,
    /// The CPU's name and how many there are.
    pub machine: String,
    /// Loops of the first program and of the second.
    pub loops: [u64; 2],
    /// The load average over a minute when it began.
    pub load: f64,
    /// The settings of the comparison; those of an A/A only say how sure.
    pub settings: Settings,
    /// From the first round to the last.
    pub elapsed_s: f64,
    /// Wall times in nanoseconds, round by round: the reference first; last, where a round held it,
    /// the reference again.
    pub wall_ns: Vec<Vec<u64>>,
    /// By round the programs in their order; not known of tries of before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<Vec<usize>>,
}

impl Try {
    /// The comparison with all rounds of the try: what it knew at its end.
    pub fn comparison(&self) -> Comparison {
        let settings = self.settings.clone();
        let mut comparison =
            Comparison::new(settings, &["wall"]).expect("checked when it was made");
        for (number, round) in self.wall_ns.iter().enumerate() {
            let order = self.orders.get(number).map_or(&[][..], Vec::as_slice);
            let runs: Vec<Vec<f64>> = round.iter().map(|ns| vec![*ns as f64 / 1e3]).collect();
            let added = comparison.add(order, &runs, self.elapsed_s);
            added.expect("a round has a run for each command");
        }
        comparison
    }
}

/// The programs, with as much work as this machine needs for their times.
pub struct Bench {
    /// Two copies of this one. Tries until 2026-11-27 compared it with a copy of itself, and a file
    /// that a linker wrote may take another time than one that was copied.
    programs: [PathBuf; 2],
    _folder: tempfile::TempDir,
    commit: String,
    machine: String,
    loops_per_ms: f64,
}

/// Milliseconds that the programs of an A/A and of a planted difference take, start included.
const SAME_MS: f64 = 5.0;
const PLANTED_MS: f64 = 30.0;
/// Seconds that a planted difference may take to be found: what the proof asks for.
const WITHIN_S: [(u32, f64); 2] = [(3, 120.0), (50, 15.0)];
/// How many times as long beside a neighbour.
const NEIGHBOUR_FACTOR: f64 = 3.0;

impl Bench {
    /// Measures how many loops a millisecond holds: the median of a few runs of two sizes.
    pub fn calibrated(program: PathBuf) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let programs = ["a", "b"].map(|name| folder.path().join(name));
        for copy in &programs {
            std::fs::copy(&program, copy).context("cannot copy this program")?;
        }
        let mut bench = Self {
            programs,
            _folder: folder,
            commit: commit()?,
            machine: machine(),
            loops_per_ms: 0.0,
        };
        let typical_ms = |loops: u64| -> Result<f64> {
            let times: Result<Vec<f64>> =
                (0..11).map(|_| Ok(bench.run(loops)? as f64 / 1e6)).collect();
            Ok(median(&times?).expect("there are eleven"))
        };
        let (small, large) = (typical_ms(1_000)?, typical_ms(11_000)?);
        ensure!(large > small, "more work took no longer: {small} ms and {large} ms");
        bench.loops_per_ms = 10_000.0 / (large - small);
        Ok(bench)
    }

    /// Makes a try.
    pub fn make(&self, planned: &Planned) -> Result<Try> {
        let milliseconds = if planned.kind == Kind::Same { SAME_MS } else { PLANTED_MS };
        let loops = (milliseconds * self.loops_per_ms).round();
        let more = loops * (1.0 + f64::from(planned.more_permille) / 1e3);
        let loops = [loops as u64, more.round() as u64];
        let load = lab_driver::probe::load_1min().unwrap_or(f64::NAN);
        let settings = settings(planned);
        let neighbour =
            planned.neighbour.then(|| Neighbour::start(&self.programs[0])).transpose()?;
        let mut made = Try {
            planned: planned.clone(),
            commit: self.commit.clone(),
            machine: self.machine.clone(),
            loops,
            load,
            settings,
            elapsed_s: 0.0,
            wall_ns: Vec::new(),
            orders: Vec::new(),
        };
        self.rounds(&mut made)?;
        drop(neighbour);
        Ok(made)
    }

    fn rounds(&self, made: &mut Try) -> Result<()> {
        let settings = made.settings.clone();
        let commands = settings.commands();
        let mut comparison = Comparison::new(settings, &["wall"])?;
        let start = Instant::now();
        for plan in Schedule::new(made.planned.number as u64, commands).take(made.planned.pairs) {
            let mut round = vec![0; commands];
            let environment_bytes = usize::from(plan.layout.environment_bytes);
            for command in plan.wash {
                self.run_in(command, made.loops[command], environment_bytes)?;
            }
            for command in &plan.order {
                round[*command] = self.run_in(*command, made.loops[*command], environment_bytes)?;
            }
            made.elapsed_s = start.elapsed().as_secs_f64();
            let runs: Vec<Vec<f64>> = round.iter().map(|ns| vec![*ns as f64 / 1e3]).collect();
            made.wall_ns.push(round);
            let next = comparison.add(&plan.order, &runs, made.elapsed_s)?;
            made.orders.push(plan.order);
            if next != Next::Round && made.planned.kind == Kind::Planted {
                break;
            }
        }
        Ok(())
    }

    fn run(&self, loops: u64) -> Result<u64> {
        self.run_in(0, loops, 0)
    }

    fn run_in(&self, program: usize, loops: u64, environment_bytes: usize) -> Result<u64> {
        let words = [
            self.programs[program].display().to_string(),
            "compare".into(),
            "work".into(),
            loops.to_string(),
        ];
        let argv = words.into_iter().map(Into::into).collect();
        let run = Run { argv, environment_bytes, ..Run::default() };
        let finished = run.execute(&AtomicBool::new(false))?;
        ensure!(finished.ended == Ended::Exited(0), "the program ended: {:?}", finished.ended);
        Ok(u64::try_from(finished.wall.as_nanos())?)
    }
}

/// Of a planted difference the margin is at most the difference, else a small one would end as
/// equivalent.
pub fn settings(planned: &Planned) -> Settings {
    let defaults = Settings::default();
    if planned.kind == Kind::Same {
        return defaults;
    }
    let margin = defaults.margin.min(f64::from(planned.more_permille) / 1e3);
    let small = planned.more_permille <= WITHIN_S[0].0;
    let (_, within) = WITHIN_S[usize::from(!small)];
    let factor = if planned.neighbour { NEIGHBOUR_FACTOR } else { 1.0 };
    Settings { margin, budget_s: within * factor, ..defaults }
}

/// Of the checkout in which this is run.
pub fn commit() -> Result<String> {
    let state = lab_driver::git_state(Path::new("."));
    let state = state.context("no commit to record: run this in the checkout of this program")?;
    Ok(state.commit + if state.dirty { "+changes" } else { "" })
}

pub fn machine() -> String {
    let machine = lab_driver::probe::machine();
    format!("{}, {} CPUs", machine.cpu_model, machine.cpus)
}
