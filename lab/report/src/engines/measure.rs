//! The metrics of a run: one run is one whole process, so each metric is one value.

use std::collections::BTreeMap;

use lab_record::{Run, Status};
use lab_stats::describe::median;

use crate::frame::{Row, is_analysed};
use crate::measure::Measured;

/// The metrics that are computed from counters. Every counter of a run is a metric too, by its
/// name; the time of a whole process is the counter [`WALL`].
pub const METRICS: [&str; 15] = [
    "gigabytes_per_s",
    "files_per_s",
    "cpu_ns",
    "cores_used",
    "page_faults",
    "parsed_share",
    "read_per_byte",
    "parsed_per_byte",
    "touched_per_byte",
    "outside_search_ns",
    "walk_share",
    "read_share",
    "scan_share",
    "parse_share",
    "merge_share",
];

/// A whole process from start to exit, as hyperfine measured it.
pub(super) const WALL: &str = "hyperfine_wall_ns";

/// (counter, its share of all five): time that the engine itself saw.
pub(super) const PHASES: [(&str, &str); 5] = [
    ("walk_ns", "walk_share"),
    ("read_ns", "read_share"),
    ("scan_ns", "scan_share"),
    ("parse_ns", "parse_share"),
    ("merge_ns", "merge_share"),
];

/// Bytes and files of a corpus, as the engines counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Size {
    pub(super) bytes: f64,
    pub(super) files: f64,
}

/// The size of each level of `corpus`. A peer counts no bytes, and it reads the same files.
pub(super) fn sizes(rows: &[Row]) -> BTreeMap<String, Size> {
    let mut counted: BTreeMap<&str, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for run in rows.iter().map(|row| &row.run).filter(|run| run.status == Status::Ok) {
        let counter = |name: &str| run.counters.get(name).map(|&count| count as f64);
        let (Some(bytes), Some(files)) = (counter("bytes"), counter("files")) else { continue };
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

/// Measures every run that enters the analysis and that `keep` lets through.
pub(super) fn measure<'a>(
    rows: &[&'a Row],
    keep: &dyn Fn(&Row) -> bool,
    sizes: &BTreeMap<String, Size>,
) -> Vec<Measured<'a>> {
    let kept = rows.iter().copied().filter(|row| is_analysed(&row.run) && keep(row));
    kept.map(|row| {
        let size = row.run.cell.get("corpus").and_then(|corpus| sizes.get(corpus)).copied();
        Measured::new(row, of_run(&row.run, size))
    })
    .collect()
}

fn of_run(run: &Run, size: Option<Size>) -> BTreeMap<&'static str, f64> {
    let mut values = BTreeMap::new();
    let mut put = |name: &'static str, value: Option<f64>| {
        values.extend(value.filter(|value| value.is_finite()).map(|value| (name, value)));
    };
    let of = |counter: &str| run.counters.get(counter).map(|&count| count as f64);
    let wall = of(WALL).filter(|ns| *ns > 0.0);
    let per_wall = |amount: Option<f64>| amount.zip(wall).map(|(amount, ns)| amount / ns);
    // Bytes in a nanosecond are gigabytes in a second.
    let bytes = of("bytes").filter(|bytes| *bytes > 0.0).or(size.map(|size| size.bytes));
    put("gigabytes_per_s", per_wall(bytes));
    let files = of("files").or(size.map(|size| size.files));
    put("files_per_s", per_wall(files.map(|files| 1e9 * files)));
    let sum = |(a, b): (f64, f64)| a + b;
    let cpu = of("hyperfine_user_ns").zip(of("hyperfine_system_ns")).map(sum);
    put("cpu_ns", cpu);
    put("cores_used", per_wall(cpu));
    put("page_faults", of("page_faults_minor").zip(of("page_faults_major")).map(sum));
    let parsed = of("lines_parsed").zip(of("lines")).map(|(parsed, lines)| parsed / lines);
    put("parsed_share", parsed);
    let per_byte = |counter: &str| of(counter).zip(of("bytes")).map(|(some, all)| some / all);
    let (read, given) = (per_byte("bytes_read"), per_byte("bytes_parsed"));
    put("read_per_byte", read);
    put("parsed_per_byte", given);
    put("touched_per_byte", read.zip(given).map(sum));
    put("outside_search_ns", wall.zip(of("wall_ns")).map(|(process, search)| process - search));
    let all: f64 = PHASES.iter().filter_map(|(counter, _)| of(counter)).sum();
    for (counter, share) in PHASES {
        put(share, of(counter).map(|ns| ns / all));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(counters: &[(&str, u64)]) -> Run {
        let counters: BTreeMap<&str, u64> = counters.iter().copied().collect();
        serde_json::from_value(serde_json::json!({
            "schema": 1, "order": 0, "attempt": 0, "block": 0, "warmup": false,
            "family": "engines", "variant": "rayon", "cell": {"corpus": "small"},
            "status": Status::Ok, "verified": true, "binary_sha256": "", "start_ns": 0,
            "process_ns": 0, "counters": counters, "noise": {},
        }))
        .unwrap()
    }

    #[test]
    fn a_run_is_one_value_by_its_counters() {
        let times = [
            (WALL, 2_000_000_000),
            ("hyperfine_user_ns", 2_500_000_000),
            ("hyperfine_system_ns", 500_000_000),
            ("wall_ns", 1_999_000_000),
        ];
        let counts = [("bytes", 1_000_000_000), ("files", 10), ("lines", 200), ("lines_parsed", 5)];
        let touched = [("bytes_read", 1_250_000_000), ("bytes_parsed", 500_000_000)];
        let phases = [("walk_ns", 1), ("read_ns", 2), ("scan_ns", 3), ("parse_ns", 4)];
        let values =
            of_run(&run(&[&times[..], &counts[..], &touched[..], &phases[..]].concat()), None);
        let expected = [
            ("gigabytes_per_s", 0.5),
            ("files_per_s", 5.0),
            ("cpu_ns", 3e9),
            ("cores_used", 1.5),
            ("parsed_share", 0.025),
            ("read_per_byte", 1.25),
            ("parsed_per_byte", 0.5),
            ("touched_per_byte", 1.75),
            ("outside_search_ns", 1e6),
            ("scan_share", 0.3),
        ];
        for (name, value) in expected {
            assert_eq!(values.get(name), Some(&value), "{name}");
        }
        assert!(!values.contains_key("merge_share") && !values.contains_key("page_faults"));
    }

    #[test]
    fn a_peer_reads_as_many_bytes_as_the_engines() {
        let size = Size { bytes: 100.0, files: 1.0 };
        for counters in [&[(WALL, 50)][..], &[(WALL, 50), ("bytes", 0)]] {
            assert_eq!(of_run(&run(counters), Some(size))["gigabytes_per_s"], 2.0);
        }
    }
}
