//! What the machine did while a run went on: the difference of two snapshots.

use std::fs;

use lab_record::Noise;

/// Kernel counters at one moment. `/proc/stat` counts in ticks of 10 ms, so short runs see little.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    steal_ns: Option<u64>,
    busy_ns: Option<u64>,
    /// CPU time of this process and of `others` given to [`Snapshot::take`].
    ours_ns: Option<u64>,
    pressure_cpu_ns: Option<u64>,
}

const TICK_NS: u64 = 10_000_000;

impl Snapshot {
    /// Reads the counters; `ours` are processes that belong to the experiment besides this one.
    pub fn take(ours: &[u32]) -> Self {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let (busy_ns, steal_ns) = stat.lines().next().and_then(cpu_line).unzip();
        let mut processes = vec![std::process::id()];
        processes.extend(ours);
        Self {
            steal_ns,
            busy_ns,
            ours_ns: processes.into_iter().map(process_ns).sum(),
            pressure_cpu_ns: fs::read_to_string("/proc/pressure/cpu")
                .ok()
                .as_deref()
                .and_then(pressure),
        }
    }
}

/// The noise between two snapshots of a run whose own CPU time is known from its outcome.
pub fn between(before: &Snapshot, after: &Snapshot, variant_cpu_ns: Option<u64>) -> Noise {
    let delta = |from: Option<u64>, to: Option<u64>| Some(to?.saturating_sub(from?));
    let busy = delta(before.busy_ns, after.busy_ns);
    let ours = delta(before.ours_ns, after.ours_ns);
    let outside = |busy: u64| Some(busy.saturating_sub(ours?).saturating_sub(variant_cpu_ns?));
    Noise {
        steal_ns: delta(before.steal_ns, after.steal_ns),
        outside_cpu_ns: busy.and_then(outside),
        pressure_cpu_ns: delta(before.pressure_cpu_ns, after.pressure_cpu_ns),
        run_queue_ns: None,
        frequency_khz: frequency_khz(),
    }
}

/// Busy and stolen time of the first line of `/proc/stat`:
/// `cpu user nice system idle iowait irq softirq steal …`.
fn cpu_line(line: &str) -> Option<(u64, u64)> {
    let ticks: Vec<u64> =
        line.split_whitespace().skip(1).map(str::parse).collect::<Result<_, _>>().ok()?;
    let [user, nice, system, _, _, irq, softirq, steal, ..] = ticks[..] else { return None };
    Some(((user + nice + system + irq + softirq) * TICK_NS, steal * TICK_NS))
}

/// User and system time of all threads of a process, from `/proc/PID/stat`.
fn process_ns(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold spaces; fields 14 and 15 count from after it.
    let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some((ticks(11)? + ticks(12)?) * TICK_NS)
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

    #[test]
    fn the_kernels_lines_are_read() {
        assert_eq!(cpu_line("cpu  1 2 3 400 5 6 7 8 0 0"), Some((19 * TICK_NS, 8 * TICK_NS)));
        assert_eq!(cpu_line("cpu  1 2"), None);
        assert_eq!(
            pressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull x"),
            Some(12_000)
        );
    }

    #[test]
    fn what_is_ours_is_not_outside() {
        let before = Snapshot { busy_ns: Some(100), ours_ns: Some(10), ..Snapshot::default() };
        let after = Snapshot { busy_ns: Some(200), ours_ns: Some(40), ..Snapshot::default() };
        assert_eq!(between(&before, &after, Some(20)).outside_cpu_ns, Some(50));
        assert_eq!(between(&before, &after, None).outside_cpu_ns, None);
    }
}
