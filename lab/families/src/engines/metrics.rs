//! The metrics of a run: one run is one whole process, so each metric is one value.

use std::collections::BTreeMap;

use lab_family::Unit::{Bytes, Count, Ns, PerSecond, Share, Times};
use lab_family::Verb::Delivers;
use lab_family::{Metric, higher, lower, neither};
use lab_protocol::engines::names;
use lab_record::Status;
use lab_report::{Frame, Measured, Row};
use lab_stats::describe::median;

/// What is computed from a run, or counted by it.
pub(crate) const METRICS: &[Metric] = &[
    lower(
        (BY_HYPERFINE.wall, "wall time"),
        Ns,
        "Counter: the whole process from start to exit, by hyperfine.",
    ),
    lower((BY_HYPERFINE.user, "user CPU time"), Ns, "Counter: its user CPU time, by hyperfine."),
    lower(
        (BY_HYPERFINE.system, "system CPU time"),
        Ns,
        "Counter: its system CPU time, by hyperfine.",
    ),
    lower(
        (BY_THE_LAB.wall, "wall time"),
        Ns,
        "Counter: the whole process from start to exit, by the lab.",
    ),
    lower((BY_THE_LAB.user, "user CPU time"), Ns, "Counter: its user CPU time, by the lab."),
    lower((BY_THE_LAB.system, "system CPU time"), Ns, "Counter: its system CPU time, by the lab."),
    higher(
        ("gigabytes_per_s", "gigabytes per second"),
        Count,
        "Bytes of the corpus, in 10^9, over the time of the whole process.",
    )
    .with(Delivers),
    higher(
        ("files_per_s", "files per second"),
        PerSecond,
        "Files of the corpus over the time of the whole process.",
    ),
    higher(
        ("memory_share", "share of the memory's bandwidth"),
        Share,
        "Bytes of the corpus per second over the largest memory bandwidth that a session measured.",
    ),
    lower(("cpu_ns", "CPU time"), Ns, "User and system CPU time of the whole process."),
    neither(("cores_used", "CPUs in use"), Count, "CPU time over the time of the whole process."),
    lower(("page_faults", "page faults"), Count, "Minor and major page faults."),
    lower(
        ("page_faults_major", "page faults from a disk"),
        Count,
        "Counter: page faults that read from a disk.",
    ),
    neither(
        ("matching_share", "share of matching lines"),
        Share,
        "Lines that match over all lines.",
    ),
    lower(
        ("parsed_share", "share of parsed lines"),
        Share,
        "Lines that were parsed over all lines.",
    ),
    lower(
        ("read_per_byte", "bytes read per byte"),
        Times,
        "Bytes that were read over bytes of the corpus.",
    ),
    lower(
        ("parsed_per_byte", "bytes parsed per byte"),
        Times,
        "Bytes that were parsed over those of the corpus.",
    ),
    lower(
        ("touched_per_byte", "bytes read and parsed per byte"),
        Times,
        "Bytes that were read plus bytes that were parsed, over bytes of the corpus.",
    ),
    lower((SEARCH, "search time"), Ns, "Counter: the search alone, by the engine's own clock."),
    lower(
        ("outside_search_ns", "time outside of the search"),
        Ns,
        "Time of the whole process minus the search.",
    ),
    neither(("walk_share", "share of walking"), Share, "Walking folders, of all five phases."),
    neither(("read_share", "share of reading"), Share, "Reading, of all five phases."),
    neither(("scan_share", "share of scanning"), Share, "Scanning, of all five phases."),
    neither(("parse_share", "share of parsing"), Share, "Parsing, of all five phases."),
    neither(("merge_share", "share of merging"), Share, "Merging, of all five phases."),
    neither(
        ("phases_over_search", "phases over search time"),
        Times,
        "The five phases, summed over workers, over the time of the search.",
    ),
    lower(("rss_high_water_bytes", "memory"), Bytes, "Counter: the largest resident memory."),
    lower(
        ("voluntary_switches", "voluntary switches"),
        Count,
        "Counter: voluntary context switches.",
    ),
    lower(
        ("involuntary_switches", "involuntary switches"),
        Count,
        "Counter: involuntary context switches.",
    ),
    neither(("threads", "threads"), Count, "Counter: threads that took part in the search."),
    neither(("matches", "matches"), Count, "Counter: lines that match."),
    neither(
        ("matches_beyond_floor", "matches beyond the floor's"),
        Count,
        "Lines that a peer found minus those that the floor found.",
    ),
];

/// The counters of a whole process from start to exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clocks {
    pub(crate) wall: &'static str,
    pub(crate) user: &'static str,
    pub(crate) system: &'static str,
}

/// Where hyperfine started the program.
pub(crate) const BY_HYPERFINE: Clocks =
    Clocks { wall: "hyperfine_wall_ns", user: "hyperfine_user_ns", system: "hyperfine_system_ns" };
/// Where the lab did.
pub(crate) const BY_THE_LAB: Clocks =
    Clocks { wall: "process_wall_ns", user: "process_user_ns", system: "process_system_ns" };

impl Clocks {
    /// Of a run with these counters.
    pub(crate) fn of(has: impl Fn(&str) -> bool) -> Self {
        if has(BY_HYPERFINE.wall) { BY_HYPERFINE } else { BY_THE_LAB }
    }

    /// Of a record: one starter has started all programs of it.
    pub(crate) fn of_record(frame: &Frame) -> Self {
        Self::of(|name| frame.rows.iter().any(|row| row.run.counters.contains_key(name)))
    }
}

/// The search alone, by the engine's own clock.
pub(crate) const SEARCH: &str = "wall_ns";

/// (counter, its share of all five): time that the engine itself saw.
const PHASES: [(&str, &str); 5] = [
    ("walk_ns", "walk_share"),
    ("read_ns", "read_share"),
    ("scan_ns", "scan_share"),
    ("parse_ns", "parse_share"),
    ("merge_ns", "merge_share"),
];

/// Bytes and files of a corpus, as the engines counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Size {
    pub(crate) bytes: f64,
    pub(crate) files: f64,
}

/// The size of each level of `corpus`. A peer counts no bytes, and it reads the same files.
pub(crate) fn sizes(rows: &[Row]) -> BTreeMap<String, Size> {
    let mut counted: BTreeMap<&str, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for run in rows.iter().map(|row| &row.run).filter(|run| run.status == Status::Ok) {
        let counter = |name: &str| run.counters.get(name).map(|&count| count as f64);
        let (Some(bytes), Some(files)) = (counter(names::BYTES), counter(names::FILES)) else {
            continue;
        };
        let Some(corpus) = run.cell.get("corpus").filter(|_| bytes > 0.0) else { continue };
        let (all_bytes, all_files) = counted.entry(corpus).or_default();
        all_bytes.push(bytes);
        all_files.push(files);
    }
    let size = |(bytes, files): (Vec<f64>, Vec<f64>)| {
        Some(Size { bytes: median(&bytes)?, files: median(&files)? })
    };
    let named = counted.into_iter();
    named.filter_map(|(corpus, counts)| Some((corpus.to_owned(), size(counts)?))).collect()
}

/// The memory bandwidth that the last session measured, in gigabytes per second; the largest where
/// it measured several (with several threads).
pub(crate) fn bandwidth(frame: &Frame) -> Option<f64> {
    frame.floor_bytes_per_s("memory").map(|speed| speed / 1e9)
}

/// The same of copying a file out of the page cache, as whoever reads files does.
pub(crate) fn page_cache(frame: &Frame) -> Option<f64> {
    frame.floor_bytes_per_s("page_cache").map(|speed| speed / 1e9)
}

/// Measures runs of a sweep.
pub(crate) fn measure<'a>(frame: &Frame, rows: &[&'a Row]) -> Vec<Measured<'a>> {
    let (sizes, bandwidth) = (sizes(&frame.rows), bandwidth(frame));
    let measured = |row: &&'a Row| {
        let size = row.run.cell.get("corpus").and_then(|corpus| sizes.get(corpus)).copied();
        Measured::new(row, of_run(row, size, bandwidth))
    };
    rows.iter().map(measured).collect()
}

fn of_run(row: &Row, size: Option<Size>, bandwidth: Option<f64>) -> BTreeMap<&'static str, f64> {
    let mut values = BTreeMap::new();
    let mut put = |name: &'static str, value: Option<f64>| {
        values.extend(value.filter(|value| value.is_finite()).map(|value| (name, value)));
    };
    let of = |counter: &str| row.run.counters.get(counter).map(|&count| count as f64);
    let over = |part: &str, whole: &str| Some(of(part)? / of(whole)?);
    let sum = |(a, b): (f64, f64)| a + b;
    let clocks = Clocks::of(|name| of(name).is_some());
    let wall = of(clocks.wall).filter(|ns| *ns > 0.0);
    let per_wall = |amount: Option<f64>| amount.zip(wall).map(|(amount, ns)| amount / ns);
    // A peer counts no bytes. Bytes in a nanosecond are gigabytes in a second.
    let bytes = of(names::BYTES).filter(|bytes| *bytes > 0.0).or(size.map(|size| size.bytes));
    let speed = per_wall(bytes);
    put("gigabytes_per_s", speed);
    put("memory_share", speed.zip(bandwidth).map(|(speed, all)| speed / all));
    let files = of(names::FILES).or(size.map(|size| size.files));
    put("files_per_s", per_wall(files.map(|files| 1e9 * files)));
    let cpu = of(clocks.user).zip(of(clocks.system)).map(sum);
    put("cpu_ns", cpu);
    put("cores_used", per_wall(cpu));
    put("page_faults", of(names::PAGE_FAULTS_MINOR).zip(of(names::PAGE_FAULTS_MAJOR)).map(sum));
    put("matching_share", over("matches", "lines"));
    put("parsed_share", over("lines_parsed", "lines"));
    let (read, given) = (over("bytes_read", "bytes"), over("bytes_parsed", "bytes"));
    put("read_per_byte", read);
    put("parsed_per_byte", given);
    put("touched_per_byte", read.zip(given).map(sum));
    put("outside_search_ns", wall.zip(of(SEARCH)).map(|(process, search)| process - search));
    let all: f64 = PHASES.iter().filter_map(|(counter, _)| of(counter)).sum();
    for (counter, share) in PHASES {
        put(share, of(counter).map(|ns| ns / all));
    }
    put("phases_over_search", of(SEARCH).map(|search| all / search));
    let floor = row.samples.raw("floor_matches").and_then(|counts| counts.first());
    put(
        "matches_beyond_floor",
        of(names::MATCHES).zip(floor).map(|(own, &floor)| own - floor as f64),
    );
    values
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use lab_record::Samples;

    use super::*;

    fn run(counters: &[(&str, u64)]) -> Row {
        let counters: BTreeMap<&str, u64> = counters.iter().copied().collect();
        let run = serde_json::from_value(serde_json::json!({
            "schema": 1, "order": 0, "attempt": 0, "block": 0, "warmup": false,
            "family": "engines", "variant": "rayon", "cell": {"corpus": "small"},
            "status": Status::Ok, "verified": true, "binary_sha256": "", "start_ns": 0,
            "process_ns": 0, "counters": counters, "noise": {},
        }));
        let floor = BTreeMap::from([("floor_matches".to_owned(), vec![4])]);
        Row { run: run.unwrap(), samples: Samples::from_raw(floor) }
    }

    /// Every counter that a metric is computed from.
    fn complete() -> Row {
        let Clocks { wall, user, system } = BY_HYPERFINE;
        let times = [wall, user, system, SEARCH];
        let counts = ["bytes", "files", "lines", "lines_parsed", "bytes_read", "bytes_parsed"];
        let phases = PHASES.map(|(counter, _)| counter);
        let more = ["matches", "page_faults_minor", "page_faults_major"];
        let all = [&times[..], &counts, &phases, &more].concat();
        run(&all.into_iter().map(|name| (name, 7)).collect::<Vec<_>>())
    }

    #[test]
    fn the_table_names_what_is_computed_and_what_is_counted() {
        let size = Size { bytes: 100.0, files: 1.0 };
        let computed: BTreeSet<&str> =
            of_run(&complete(), Some(size), Some(10.0)).into_keys().collect();
        let is_counter = |metric: &&Metric| metric.says.starts_with("Counter: ");
        let named = METRICS.iter().filter(|metric| !is_counter(metric)).map(|metric| metric.name);
        assert_eq!(computed, named.collect());
        let mut names: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), METRICS.len());
    }

    #[test]
    fn a_run_is_one_value_by_its_counters() {
        let times = [
            (BY_HYPERFINE.wall, 2_000_000_000),
            ("hyperfine_user_ns", 2_500_000_000),
            ("hyperfine_system_ns", 500_000_000),
            ("wall_ns", 1_999_000_000),
        ];
        let counts = [("bytes", 1_000_000_000), ("files", 10), ("lines", 200), ("lines_parsed", 5)];
        let touched = [("bytes_read", 1_250_000_000), ("bytes_parsed", 500_000_000)];
        let found = [("matches", 6)];
        let phases = [("walk_ns", 1), ("read_ns", 2), ("scan_ns", 3), ("parse_ns", 4)];
        let values = of_run(
            &run(&[&times[..], &counts, &touched, &phases, &found].concat()),
            None,
            Some(2.0),
        );
        let expected = [
            ("gigabytes_per_s", 0.5),
            ("memory_share", 0.25),
            ("matching_share", 0.03),
            ("matches_beyond_floor", 2.0),
            ("files_per_s", 5.0),
            ("cpu_ns", 3e9),
            ("cores_used", 1.5),
            ("parsed_share", 0.025),
            ("read_per_byte", 1.25),
            ("parsed_per_byte", 0.5),
            ("touched_per_byte", 1.75),
            ("outside_search_ns", 1e6),
            ("scan_share", 0.3),
            ("phases_over_search", 10.0 / 1_999_000_000.0),
        ];
        for (name, value) in expected {
            assert_eq!(values.get(name), Some(&value), "{name}");
        }
        assert!(!values.contains_key("merge_share") && !values.contains_key("page_faults"));
    }

    #[test]
    fn a_peer_reads_as_many_bytes_as_the_engines() {
        let size = Size { bytes: 100.0, files: 1.0 };
        for counters in [&[(BY_HYPERFINE.wall, 50)][..], &[(BY_HYPERFINE.wall, 50), ("bytes", 0)]] {
            assert_eq!(of_run(&run(counters), Some(size), None)["gigabytes_per_s"], 2.0);
        }
    }
}
