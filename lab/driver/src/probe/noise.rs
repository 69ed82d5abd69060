//! What the machine did while a run went on: the difference of two snapshots.

use std::fs;

use lab_record::Noise;

use super::processes::tree_ns;
use lab_process::monotonic_ns;

/// Linux shows these counters in hundredths of a second, whatever its own clock's rate.
pub(crate) const TICK_NS: u64 = 10_000_000;

/// Kernel counters at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    at_ns: u64,
    cpus: Option<Cpus>,
    ours_ns: Option<u64>,
    pressure_cpu_ns: Option<u64>,
}

/// What `/proc/stat` says of all CPUs together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cpus {
    count: u64,
    /// Without a task, waiting for a disk or not.
    idle_ns: u64,
    steal_ns: u64,
}

impl Snapshot {
    /// Reads the counters. `ours` are processes that belong to the experiment besides this one and
    /// its descendants; `None` where work for the experiment is done by processes that cannot be
    /// told from others.
    pub fn take(ours: Option<&[u32]>) -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let ours_ns = ours.map(tree_ns);
        Self::of(monotonic_ns(), ours_ns, &read("/proc/stat"), &read("/proc/pressure/cpu"))
    }

    /// From the texts of `/proc/stat` and `/proc/pressure/cpu`, empty where the kernel has none.
    pub fn of(at_ns: u64, ours_ns: Option<u64>, stat: &str, pressure_cpu: &str) -> Self {
        let (cpus, pressure_cpu_ns) = (cpus(stat), pressure(pressure_cpu));
        Self { at_ns, cpus, ours_ns, pressure_cpu_ns }
    }

    /// The same, where so much of our CPU time, in nanoseconds, is to count as that of others.
    #[must_use]
    pub fn without(self, ns: u64) -> Self {
        Self { ours_ns: self.ours_ns.map(|ours| ours.saturating_sub(ns)), ..self }
    }
}

/// The noise between two snapshots.
///
/// CPU time of other processes is what is left of the machine's when idle, stolen and our own time
/// are taken away. Idle time, because the kernel measures it from entry to exit, while it counts
/// busy time by looking at each tick: of a process that wakes up often it misses half.
pub fn between(before: &Snapshot, after: &Snapshot) -> Noise {
    let delta = |from: Option<u64>, to: Option<u64>| to?.checked_sub(from?);
    let own_cpu_ns = delta(before.ours_ns, after.ours_ns);
    let mut noise = Noise {
        own_cpu_ns,
        pressure_cpu_ns: delta(before.pressure_cpu_ns, after.pressure_cpu_ns),
        frequency_khz: frequency_khz(),
        ..Noise::default()
    };
    if let (Some(from), Some(to)) = (before.cpus, after.cpus) {
        let capacity = from.count.max(to.count) * after.at_ns.saturating_sub(before.at_ns);
        let idle = to.idle_ns.saturating_sub(from.idle_ns);
        let steal = to.steal_ns.saturating_sub(from.steal_ns).min(capacity);
        let busy = capacity.saturating_sub(idle + steal);
        noise.capacity_ns = Some(capacity);
        // One tick for each of two rounded counters, and one for each CPU: where the kernel counts
        // idle and stolen time by ticks, a CPU's last one may stand in the next reading.
        noise.resolution_ns = Some((to.count + 2) * TICK_NS);
        noise.steal_ns = Some(steal);
        noise.outside_cpu_ns = own_cpu_ns.map(|own| busy.saturating_sub(own));
    }
    noise
}

/// `cpu user nice system idle iowait irq softirq steal …`, then a line `cpuN` for each CPU.
fn cpus(stat: &str) -> Option<Cpus> {
    let mut lines = stat.lines();
    let all = lines.next()?.split_whitespace().skip(1);
    let ticks: Vec<u64> = all.map(str::parse).collect::<Result<_, _>>().ok()?;
    let [_, _, _, idle, iowait, _, _, steal, ..] = ticks[..] else { return None };
    let count = lines.take_while(|line| line.starts_with("cpu")).count() as u64;
    Some(Cpus { count, idle_ns: (idle + iowait) * TICK_NS, steal_ns: steal * TICK_NS })
}

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=12345` in microseconds.
fn pressure(text: &str) -> Option<u64> {
    let total = text.lines().next()?.split("total=").nth(1)?;
    Some(total.trim().parse::<u64>().ok()? * 1_000)
}

fn frequency_khz() -> Option<u64> {
    let path = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq";
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn snapshot(at_ms: u64, idle_ticks: u64, steal_ticks: u64, ours_ms: u64) -> Snapshot {
        let stat =
            format!("cpu 1 2 3 {idle_ticks} 7 5 6 {steal_ticks} 0 0\ncpu0 x\ncpu1 x\nintr 1");
        Snapshot::of(at_ms * MS, Some(ours_ms * MS), &stat, "")
    }

    #[test]
    fn the_kernels_lines_are_read() {
        let expected = Cpus { count: 2, idle_ns: 107 * TICK_NS, steal_ns: 9 * TICK_NS };
        assert_eq!(snapshot(0, 100, 9, 0).cpus, Some(expected));
        assert_eq!(cpus("cpu  1 2\ncpu0 1"), None);
        let pressed = pressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull x");
        assert_eq!(pressed, Some(12_000));
    }

    #[test]
    fn what_is_neither_idle_nor_stolen_nor_ours_is_outside() {
        let noise = between(&snapshot(0, 100, 0, 10), &snapshot(1_000, 150, 10, 910));
        assert_eq!(noise.capacity_ns, Some(2_000 * MS));
        assert_eq!((noise.steal_ns, noise.own_cpu_ns), (Some(100 * MS), Some(900 * MS)));
        assert_eq!(noise.outside_cpu_ns, Some(500 * MS));
        assert_eq!(noise.resolution_ns, Some(40 * MS));
    }

    #[test]
    fn what_of_ours_counts_as_that_of_others_is_outside() {
        let before = snapshot(0, 100, 0, 110).without(100 * MS);
        let noise = between(&before, &snapshot(1_000, 150, 10, 1_010).without(300 * MS));
        assert_eq!((noise.own_cpu_ns, noise.outside_cpu_ns), (Some(700 * MS), Some(700 * MS)));
    }

    #[test]
    fn nothing_exceeds_what_the_machine_has() {
        // A tick of steal that was counted in a run of 3 ms, as on a real machine.
        let noise = between(&snapshot(0, 100, 0, 0), &snapshot(3, 100, 5, 0));
        assert_eq!((noise.capacity_ns, noise.steal_ns), (Some(6 * MS), Some(6 * MS)));
        assert_eq!(noise.outside_cpu_ns, Some(0));
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        let (before, after) = (snapshot(0, 100, 0, 10), snapshot(1_000, 150, 0, 5));
        let noise = between(&before, &after);
        assert_eq!((noise.own_cpu_ns, noise.outside_cpu_ns), (None, None), "our time went back");
        let blind = Snapshot { ours_ns: None, ..after };
        let noise = between(&before, &blind);
        assert_eq!((noise.outside_cpu_ns, noise.steal_ns), (None, Some(0)));
        assert_eq!(between(&Snapshot::default(), &blind).capacity_ns, None);
    }
}
