//! The noise gate: causes outside the run only, for the others are partly the variant's own doing.
//!
//! Shares are of the CPU time that the machine had. What exceeds the limit by more than the
//! counters may be wrong is a cause. A run in which even a share at the limit would not show is
//! gated by its window: the runs around it, until they last long enough together.

use crate::probe::{Snapshot, between};
use lab_record::{Noise, Run, SCHEMA, Window};

use crate::Disturbance;

/// Stolen CPU time that is too much.
const STEAL_SHARE_MAX: f64 = 0.01;
/// CPU time of other processes that is too much.
const OUTSIDE_SHARE_MAX: f64 = 0.05;
/// A window is long enough when its counters are wrong by at most this part of a limit.
const WINDOW_ERROR: f64 = 0.5;

/// Judges runs and gathers them into windows.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// The last run's readings, until it is recorded.
    judged: Option<(Snapshot, Snapshot)>,
    window: Option<Open>,
}

/// A window that is not long enough yet.
#[derive(Debug)]
struct Open {
    first: Snapshot,
    last: Snapshot,
    orders: (u64, u64),
    blocks: (u32, u32),
}

impl Gate {
    /// Puts the noise between two snapshots, and what the gate makes of it, into the run's row.
    pub(crate) fn judge(&mut self, run: &mut Run, before: Snapshot, after: Snapshot) {
        run.noise = between(&before, &after);
        run.gated = causes(&mut run.noise, "the run");
        self.judged = Some((before, after));
    }

    /// Adds the run that was judged last and is recorded now. Returns the window's line where that
    /// made it long enough.
    pub(crate) fn recorded(&mut self, order: u64, block: u32) -> Option<Window> {
        let (first, last) = self.judged.take()?;
        let open = match self.window.take() {
            None => Open { first, last, orders: (order, order), blocks: (block, block) },
            Some(open) => Open {
                last,
                orders: (open.orders.0, order),
                blocks: (open.blocks.0, block),
                ..open
            },
        };
        if error_share(&between(&open.first, &open.last)) <= WINDOW_ERROR * STEAL_SHARE_MAX {
            return Some(open.line());
        }
        self.window = Some(open);
        None
    }

    /// The last window, long enough or not.
    pub(crate) fn rest(&mut self) -> Option<Window> {
        self.window.take().map(Open::line)
    }
}

impl Open {
    fn line(self) -> Window {
        let mut noise = between(&self.first, &self.last);
        let gated = causes(&mut noise, &self.blocks());
        let (first_order, last_order) = self.orders;
        Window { schema: SCHEMA, first_order, last_order, noise, gated }
    }

    fn blocks(&self) -> String {
        match self.blocks {
            (first, last) if first == last => format!("a window of block {first}"),
            (first, last) => format!("a window of blocks {first} to {last}"),
        }
    }
}

/// The causes found in `place`; empty where none was. Where that is no proof that there was none,
/// `noise.ungated` says why.
pub fn causes(noise: &mut Noise, place: &str) -> Vec<String> {
    let error = error_share(noise);
    let (mut causes, mut unknown) = (Vec::new(), Vec::new());
    for (name, share, share_max) in shares(noise) {
        match share {
            None => unknown.push(format!("{name}: not known")),
            // At least this much: the counters' error is taken off.
            Some(share) if share - error > share_max => {
                let percent = 100.0 * (share - error);
                causes.push(format!("{name} {percent:.0} % of the CPU time in {place}"));
            }
            Some(_) if error > share_max => {
                unknown.push(format!("{name}: {place} is too short for counters of 10 ms"));
            }
            Some(_) => {}
        }
    }
    if causes.is_empty() && !unknown.is_empty() {
        noise.ungated = Some(unknown.join("; "));
    }
    causes
}

/// What certainly took most of the CPU time: a share of 0 where nothing that is too much shows,
/// none where it could not show.
pub(crate) fn largest(noise: &Noise) -> Option<Disturbance> {
    let error = error_share(noise);
    let least = |(cause, share, share_max): (_, Option<f64>, f64)| {
        let share = share? - error;
        let is_known = share > 0.0 || error <= share_max;
        is_known.then_some(Disturbance { cause, share: share.max(0.0) })
    };
    let found = shares(noise).into_iter().filter_map(least);
    found.max_by(|a, b| a.share.total_cmp(&b.share))
}

/// By cause its share of the CPU time, where it is known, and the share that is too much.
fn shares(noise: &Noise) -> [(&'static str, Option<f64>, f64); 2] {
    let capacity = noise.capacity_ns.unwrap_or(0).max(1) as f64;
    let share = |value: Option<u64>| value.map(|value| value as f64 / capacity);
    [
        ("steal", share(noise.steal_ns), STEAL_SHARE_MAX),
        ("other processes", share(noise.outside_cpu_ns), OUTSIDE_SHARE_MAX),
    ]
}

/// By how much a share may be wrong; infinite where nothing is known.
fn error_share(noise: &Noise) -> f64 {
    match (noise.resolution_ns, noise.capacity_ns) {
        (Some(resolution), Some(capacity)) => resolution as f64 / capacity.max(1) as f64,
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package;

    const MS: u64 = 1_000_000;
    const TOO_SHORT: &str = "steal: the run is too short for counters of 10 ms";

    /// Two CPUs at a time, with this much CPU time spent so far.
    fn snapshot(at_ms: u64, steal_ms: u64, outside_ms: u64) -> Snapshot {
        let idle_ms = 2 * at_ms - steal_ms - outside_ms;
        let stat = format!("cpu 0 0 0 {} 0 0 0 {}\ncpu0\ncpu1\n", idle_ms / 10, steal_ms / 10);
        Snapshot::of(at_ms * MS, Some(0), &stat, "")
    }

    fn noise(run_ms: u64, steal_ms: u64, outside_ms: u64) -> Noise {
        between(&snapshot(0, 0, 0), &snapshot(run_ms, steal_ms, outside_ms))
    }

    fn judged(noise: Noise) -> (Vec<String>, Option<String>) {
        let mut noise = noise;
        (causes(&mut noise, "the run"), noise.ungated)
    }

    #[test]
    fn the_largest_disturbance_is_what_is_certain() {
        // Of 20 s of CPU time; counters of two CPUs may be wrong by 40 ms.
        let found = largest(&noise(10_000, 440, 240)).unwrap();
        assert_eq!((found.cause, (found.share * 1e3).round()), ("steal", 20.0));
        assert_eq!(largest(&noise(10_000, 40, 0)).map(|found| found.share), Some(0.0));
        // Of a short run, only much is certain; what is as large as the error is not.
        assert_eq!(largest(&noise(10, 10, 0)), None);
        let found = largest(&noise(100, 0, 100)).unwrap();
        assert_eq!((found.cause, (found.share * 1e3).round()), ("other processes", 300.0));
        assert_eq!(largest(&ticks(20, 20)), None);
        assert_eq!(largest(&Noise::default()), None);
    }

    #[test]
    fn a_cause_is_named_with_the_least_that_it_was() {
        // Of 20 s of CPU time; counters of two CPUs may be wrong by 40 ms.
        let (found, ungated) = judged(noise(10_000, 0, 2_040));
        assert_eq!(
            (found[0].as_str(), ungated),
            ("other processes 10 % of the CPU time in the run", None)
        );
        assert_eq!(judged(noise(10_000, 440, 0)).0, ["steal 2 % of the CPU time in the run"]);
        assert_eq!(judged(noise(10_000, 200, 1_000)), (vec![], None));
    }

    /// Of 100 ticks of CPU time, which may be wrong by so many; none for other processes.
    fn ticks(resolution: u64, steal: u64) -> Noise {
        Noise {
            capacity_ns: Some(100),
            resolution_ns: Some(resolution),
            steal_ns: Some(steal),
            outside_cpu_ns: Some(0),
            ..Noise::default()
        }
    }

    #[test]
    fn a_share_at_the_limit_is_no_cause_and_an_error_at_it_hides_none() {
        assert_eq!(judged(ticks(0, 1)), (vec![], None));
        assert_eq!(judged(ticks(1, 1)), (vec![], None));
        assert_eq!(judged(ticks(0, 2)).0, ["steal 2 % of the CPU time in the run"]);
    }

    #[test]
    fn a_row_has_the_noise_of_its_run_and_the_window_too() {
        let mut gate = Gate::default();
        let mut run = package::tests::run();
        gate.judge(&mut run, snapshot(0, 0, 0), snapshot(10_000, 440, 0));
        let cause = "steal 2 % of the CPU time in";
        assert_eq!(run.noise.steal_ns, Some(440 * MS));
        assert_eq!(run.gated, [format!("{cause} the run")]);
        let window = gate.recorded(7, 1).expect("ten seconds are long enough");
        assert_eq!((window.first_order, window.last_order), (7, 7));
        assert_eq!(window.gated, [format!("{cause} a window of block 1")]);
    }

    #[test]
    fn a_tick_in_a_short_run_is_no_cause_and_no_proof_that_there_was_none() {
        let (found, ungated) = judged(noise(10, 10, 0));
        assert!(found.is_empty());
        let expected =
            format!("{TOO_SHORT}; other processes: the run is too short for counters of 10 ms");
        assert_eq!(ungated, Some(expected));
        assert_eq!(judged(noise(1_000, 10, 0)), (vec![], Some(TOO_SHORT.to_owned())));
        assert_eq!(judged(noise(5_000, 10, 0)), (vec![], None));
        let (found, ungated) = judged(noise(1_000, 0, 400));
        assert_eq!((found.len(), ungated), (1, None), "much shows in a short run, too");
    }

    #[test]
    fn no_share_exceeds_the_machine() {
        for run_ms in [10, 20, 50, 100, 10_000] {
            let (found, _) = judged(noise(run_ms, 0, 2 * run_ms));
            let share = |cause: &String| cause.split(' ').nth(2).unwrap().parse::<u64>().unwrap();
            assert!(found.iter().all(|cause| share(cause) <= 100), "{found:?}");
        }
        assert_eq!(
            judged(noise(10_000, 0, 20_000)).0[0],
            "other processes 100 % of the CPU time in the run"
        );
    }

    #[test]
    fn what_is_not_known_is_said() {
        let blind = Noise { outside_cpu_ns: None, ..noise(10_000, 0, 0) };
        assert_eq!(judged(blind), (vec![], Some("other processes: not known".to_owned())));
        let nothing = Some("steal: not known; other processes: not known".to_owned());
        assert_eq!(judged(Noise::default()), (vec![], nothing));
    }

    /// Runs of 100 ms, five to a block, the CPU time of others by run.
    fn windows(outside_ms: &[u64]) -> Vec<Window> {
        let mut gate = Gate::default();
        let (mut windows, mut outside) = (Vec::new(), 0);
        for (order, outside_ms) in outside_ms.iter().enumerate() {
            let at = 100 * order as u64;
            let before = snapshot(at, 0, outside);
            outside += outside_ms;
            gate.judged = Some((before, snapshot(at + 100, 0, outside)));
            windows.extend(gate.recorded(order as u64, order as u32 / 5));
        }
        windows.extend(gate.rest());
        windows
    }

    #[test]
    fn short_runs_share_a_window_over_blocks_until_it_is_long_enough() {
        let found = windows(&[[0; 40], [21; 40]].concat());
        let orders: Vec<_> = found.iter().map(|one| (one.first_order, one.last_order)).collect();
        assert_eq!(orders, [(0, 39), (40, 79)]);
        assert_eq!((&found[0].gated[..], &found[0].noise.ungated), (&[][..], &None));
        let cause = "other processes 10 % of the CPU time in a window of blocks 8 to 15";
        assert_eq!(found[1].gated, [cause]);
    }

    #[test]
    fn the_last_window_says_that_it_is_too_short() {
        let found = windows(&[0; 5]);
        let reason = "steal: a window of block 0 is too short for counters of 10 ms";
        assert_eq!((found.len(), found[0].noise.ungated.as_deref()), (1, Some(reason)));
        assert!(windows(&[]).is_empty());
    }

    #[test]
    fn a_run_that_was_not_recorded_is_in_no_window() {
        let mut gate = Gate::default();
        assert_eq!(gate.recorded(0, 0), None, "a run that did not start has no readings");
        gate.judged = Some((snapshot(0, 0, 0), snapshot(9_000, 0, 0)));
        assert_eq!(gate.rest(), None);
    }
}
