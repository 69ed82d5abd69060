//! The noise gate: causes outside the run only, for the others are partly the variant's own doing.

use lab_record::Noise;

/// Stolen CPU time that is too much, as a share of the run's time.
const STEAL_SHARE_MAX: f64 = 0.02;
/// CPU time of other processes that is too much, as a share of the run's time.
const OUTSIDE_SHARE_MAX: f64 = 0.10;
/// The kernel counts in ticks of 10 ms: below five of them a share means nothing.
const COUNTABLE_NS: u64 = 50_000_000;

/// The causes found; empty for a clean run.
pub(crate) fn causes(noise: &Noise, process_ns: u64) -> Vec<String> {
    let mut causes = Vec::new();
    let mut check = |name: &str, value: Option<u64>, share_max: f64| {
        let Some(value) = value.filter(|&value| value >= COUNTABLE_NS) else { return };
        let share = value as f64 / process_ns.max(1) as f64;
        if share > share_max {
            causes.push(format!("{name} {:.0} % of the run", share * 100.0));
        }
    };
    check("steal", noise.steal_ns, STEAL_SHARE_MAX);
    check("other processes", noise.outside_cpu_ns, OUTSIDE_SHARE_MAX);
    causes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(steal_ns: u64, outside_cpu_ns: u64) -> Noise {
        Noise { steal_ns: Some(steal_ns), outside_cpu_ns: Some(outside_cpu_ns), ..Noise::default() }
    }

    #[test]
    fn causes_outside_the_run_are_named_with_their_share() {
        let found = causes(&noise(0, 200_000_000), 1_000_000_000);
        assert_eq!(found, ["other processes 20 % of the run"]);
        assert_eq!(causes(&noise(100_000_000, 0), 1_000_000_000), ["steal 10 % of the run"]);
    }

    #[test]
    fn what_the_kernel_cannot_count_does_not_gate() {
        assert!(causes(&noise(10_000_000, 40_000_000), 100_000_000).is_empty());
        assert!(causes(&Noise::default(), 100_000_000).is_empty());
    }
}
