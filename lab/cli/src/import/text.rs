//! A verdict a line.

use lab_compare::run::{Metric, Ratio};
use lab_console::plain;
use lab_import::judge::{DRIFT, Judged};

/// A line a benchmark, and what the verdicts are worth.
pub(super) fn text(judged: &[Judged], alpha: f64) -> String {
    let lines: String = judged.iter().map(|judged| line(judged) + "\n").collect();
    let level = 100.0 * alpha;
    format!(
        "{lines}{DRIFT}; `lab compare` runs both commands in turns\n\
         a verdict is wrong with {level} % if nothing drifted between the files; \
         we have seen 66 %"
    )
}

/// "name: slower (…): +1.20 % (+0.40 … +2.00), medians 1.2 ms and 1.3 ms, 20 and 20 processes".
fn line(judged: &Judged) -> String {
    let name = match judged.benchmark == judged.reference {
        true => judged.benchmark.clone(),
        false => format!("{} against {}", judged.benchmark, judged.reference),
    };
    let mut text = format!("{}: {}", plain::line(&name), plain::line(&judged.verdict()));
    if let Some(shift) = judged.shift {
        // A rate is so many times the other, as a size is.
        let like = if judged.median_per_s.is_some() { Metric::Rss } else { Metric::Wall };
        text += &format!(": {}", difference(like, shift, judged.interval));
    }
    if let [Some(old), Some(new)] = judged.median_ns {
        text += &format!(", medians {} and {}", time(old), time(new));
    }
    if let Some([old, new]) = judged.median_per_s {
        text += &format!(", medians {old:.4} and {new:.4} requests/s");
    }
    text += &format!(", {}", counted(judged));
    if let Some(reason) = judged.reason.as_ref().filter(|_| !judged.is_withheld()) {
        text += &format!("; {}", plain::line(reason));
    }
    text
}

fn counted(judged: &Judged) -> String {
    let [old, new] = judged.samples;
    if judged.median_per_s.is_some() {
        return format!("{old} and {new} runs");
    }
    if judged.is_of_one_process() {
        let shared = "its layout and minute are in the difference";
        return format!("{old} and {new} samples of one process a side: {shared}");
    }
    let what = if old.min(new) == 0 { "samples" } else { "processes" };
    format!("{old} and {new} {what}")
}

/// "+1.20 % (+0.40 … +2.00)", "2.10 × slower (1.98 … 2.22)", of a rate "0.48 × (0.45 … 0.51)".
fn difference(like: Metric, shift: f64, interval: Option<[f64; 2]>) -> String {
    let percent = |log: f64| 100.0 * log.exp_m1();
    let (middle, ends) = match Ratio::of(like, shift, interval) {
        Some(Ratio { word, ends }) => (word, ends),
        None => {
            let ends = interval.map(|ends| ends.map(percent));
            let ends = ends.map(|[low, high]| format!("{low:+.2} … {high:+.2}"));
            (format!("{:+.2} %", percent(shift)), ends)
        }
    };
    middle + &ends.map_or(String::new(), |ends| format!(" ({ends})"))
}

fn time(ns: f64) -> String {
    let (divisor, unit) = match ns {
        ..1e3 => (1.0, "ns"),
        ..1e6 => (1e3, "µs"),
        ..1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{:.4} {unit}", ns / divisor)
}
