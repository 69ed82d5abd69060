//! What a column (or, in a transposed table, a row) says it is.

use crate::automatic::lexicon::{Words, class};
use crate::checks::ranking::Better;
use crate::document::header;

/// The statistic that a header names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Role {
    Mean,
    /// A geometric or harmonic mean.
    Geometric,
    Harmonic,
    /// A mean with weights, or of a part: between the extremes, and no more is known.
    Weighted,
    /// A percentile as a share of 1; the median is 0.5.
    Percentile(f64),
    Sd,
    StandardError,
    Cv,
    Min,
    Max,
    Count,
    Sum,
    /// One of several repeats, by its number.
    Run(usize),
    Low,
    High,
    Estimate,
    T,
    P,
    Degrees,
    Rank,
    /// A change, difference or ratio of other numbers.
    Ratio,
    /// A bare value, or something we know no word for.
    Value,
}

/// A header as understood: the statistic, and the words that say of what.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Meaning {
    pub(crate) role: Role,
    /// Lower-case words that are left, joined by spaces: the metric. Empty where the header is a
    /// statistic alone.
    pub(crate) metric: String,
}

static RATIO: Words = Words::new(|| class("role.ratio"));

impl Role {
    /// Statistics of a sample, whose presence shows which way a table is turned.
    pub(crate) fn is_statistic(self) -> bool {
        matches!(
            self,
            Self::Mean
                | Self::Geometric
                | Self::Harmonic
                | Self::Weighted
                | Self::Percentile(_)
                | Self::Sd
                | Self::StandardError
                | Self::Cv
                | Self::Min
                | Self::Max
        )
    }
}

/// Reads a header whose unit is already taken off.
pub(crate) fn meaning(header: &str) -> Meaning {
    let lower = header.to_lowercase().replace("std. dev", "std dev").replace("p-value", "pvalue");
    let lower = phrases(&lower);
    let words: Vec<&str> = lower
        .split(|c: char| c.is_whitespace() || "()[],:_".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let value = |metric: String| Meaning { role: Role::Value, metric };
    if words.iter().any(|word| RATIO.contains(word)) || lower.starts_with('Δ') {
        let rest: Vec<&str> = words.iter().copied().filter(|w| !RATIO.contains(w)).collect();
        return Meaning { role: Role::Ratio, metric: rest.join(" ") };
    }
    // "P95/P50" is a quotient of two statistics, and no statistic.
    let quotient = |word: &&str| {
        word.split_once('/').is_some_and(|(a, b)| of_word(a).is_some() && of_word(b).is_some())
    };
    if words.iter().any(quotient) {
        return value(words.join(" "));
    }
    let found: Vec<Option<Role>> = words.iter().map(|word| of_word(word)).collect();
    let Some(first) = found.iter().position(Option::is_some) else {
        return run(&words).unwrap_or_else(|| value(metric(&words)));
    };
    let role = found[first].unwrap_or(Role::Value);
    let same = |index: usize| found[index] == Some(role);
    let rest: Vec<&str> = words
        .iter()
        .enumerate()
        .filter(|(index, _)| !same(*index))
        .map(|(_, word)| *word)
        .collect();
    // "n" and "samples" alone count repeats; "samples per second" or "error count" are metrics.
    if matches!(role, Role::Count) && rest.iter().any(|word| !COUNT_ONLY.contains(word)) {
        return value(metric(&words));
    }
    if matches!(role, Role::T | Role::P | Role::Low | Role::High) && rest.len() > 2 {
        return value(metric(&words));
    }
    Meaning { role, metric: metric(&rest) }
}

/// Reads the name of a statistic of a column, of whatever kind the column is: `Mean Speedup`.
pub(crate) fn statistic(name: &str) -> Option<Meaning> {
    let unit = header::unit(name);
    let lower = phrases(&header::name(name, unit.as_deref()).to_lowercase());
    let words: Vec<&str> = lower
        .split(|c: char| c.is_whitespace() || "()[],:_".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let first = words.iter().position(|word| of_word(word).is_some_and(Role::is_statistic))?;
    let role = of_word(words[first])?;
    let rest: Vec<&str> =
        words.iter().enumerate().filter(|(index, _)| *index != first).map(|(_, w)| *w).collect();
    Some(Meaning { role, metric: metric(&rest) })
}

/// Words beside a count that leave it a count of repeats.
const COUNT_ONLY: [&str; 10] =
    ["of", "runs", "samples", "size", "total", "number", "sample", "per", "benchmark", "cell"];

/// Words that narrow nothing down.
static NEUTRAL: Words = Words::new(|| class("role.neutral"));

fn metric(words: &[&str]) -> String {
    let kept: Vec<&str> = words.iter().copied().filter(|word| !NEUTRAL.contains(word)).collect();
    kept.join(" ")
}

fn phrases(text: &str) -> String {
    let pairs = [
        ("geometric mean", "geomean"),
        ("geo. mean", "geomean"),
        ("geo mean", "geomean"),
        ("harmonic mean", "hmean"),
        ("weighted mean", "wmean"),
        ("weighted average", "wmean"),
        ("trimmed mean", "wmean"),
        ("truncated mean", "wmean"),
        ("winsorized mean", "wmean"),
        ("mean of medians", "wmean"),
        ("moving average", "wmean"),
        ("standard deviation", "sd"),
        ("standard error", "stderr"),
        ("coefficient of variation", "cv"),
        ("std dev", "sd"),
        ("std-dev", "sd"),
        ("std err", "stderr"),
        ("sample size", "n"),
        ("point estimate", "estimate"),
        ("lower bound", "lower"),
        ("upper bound", "upper"),
        ("ci lower", "lower"),
        ("ci upper", "upper"),
        ("ci low", "lower"),
        ("ci high", "upper"),
        ("t-statistic", "tstat"),
        ("t statistic", "tstat"),
        ("t-stat", "tstat"),
        ("p value", "pvalue"),
        ("w/ ", "with "),
    ];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

fn of_word(word: &str) -> Option<Role> {
    Some(match word.trim_matches(['.', '*']) {
        "mean" | "avg" | "average" | "μ" | "x̄" => Role::Mean,
        "geomean" | "gmean" | "geo-mean" => Role::Geometric,
        "hmean" | "harmean" => Role::Harmonic,
        "wmean" => Role::Weighted,
        "median" | "med" => Role::Percentile(0.5),
        "sd" | "std" | "stddev" | "stdev" | "σ" | "sigma" | "s.d" => Role::Sd,
        "stderr" | "sem" | "se" => Role::StandardError,
        "cv" | "rsd" | "cov" => Role::Cv,
        "min" | "minimum" | "lowest" => Role::Min,
        "max" | "maximum" | "peak" | "highest" => Role::Max,
        "n" | "samples" | "count" | "reps" | "repeats" | "runs" => Role::Count,
        "total" | "sum" => Role::Sum,
        "lower" => Role::Low,
        "upper" => Role::High,
        "estimate" => Role::Estimate,
        "tstat" | "t" => Role::T,
        "pvalue" | "p" => Role::P,
        "df" | "dof" => Role::Degrees,
        "rank" | "place" | "#" => Role::Rank,
        word => Role::Percentile(percentile(word)?),
    })
}

/// Percentiles that reports print.
const PERCENTS: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 25.0, 50.0, 75.0, 80.0, 90.0, 95.0, 98.0, 99.0, 99.5, 99.9, 99.95, 99.99,
    99.999,
];

/// `p99`, `p99.9`, `p999` (99.9 as load testers write it), `95th`. `q4` and `P2` are names.
fn percentile(word: &str) -> Option<f64> {
    let digits = word.strip_prefix('p').or_else(|| word.strip_suffix("th"))?;
    let digits = digits.trim_end_matches("th").trim_end_matches('%');
    let percent: f64 = match digits {
        "999" => 99.9,
        "9999" => 99.99,
        _ if digits.chars().all(|c| c.is_ascii_digit() || c == '.') => digits.parse().ok()?,
        _ => return None,
    };
    // 99.9 / 100 is not the number that 0.999 is.
    PERCENTS.contains(&percent).then_some((percent * 1e6).round() / 1e8)
}

/// Percentiles only where the headers look like a set of them: one of P50, P90, P95, P99 is
/// there. `P1` and `P5` alone are names.
pub(crate) fn settle(meanings: &mut [Meaning]) {
    let usual = |meaning: &Meaning| match meaning.role {
        Role::Percentile(p) => [0.5, 0.9, 0.95, 0.99].iter().any(|known| (p - known).abs() < 1e-9),
        _ => false,
    };
    if meanings.iter().any(usual) {
        return;
    }
    for meaning in meanings {
        if matches!(meaning.role, Role::Percentile(_)) {
            meaning.role = Role::Value;
        }
    }
}

/// `Run 1`, `Trial #2`, `r3`, and nothing else in the header.
fn run(words: &[&str]) -> Option<Meaning> {
    let number = match words {
        [word, number] if RUN.contains(word) => number.trim_start_matches('#'),
        [word] => RUN.iter().chain(&["r"]).find_map(|name| word.strip_prefix(name))?,
        _ => return None,
    };
    let number: usize = number.trim_start_matches(['-', '#']).parse().ok()?;
    (number < 10_000).then_some(Meaning { role: Role::Run(number), metric: String::new() })
}

const RUN: [&str; 8] = ["run", "trial", "iter", "iteration", "rep", "repeat", "round", "pass"];

/// The kind of mean that a text speaks of, where it is no arithmetic one.
pub(crate) fn kind_of_mean(text: &str) -> Option<Role> {
    let text = phrases(&text.to_lowercase().replace("means", "mean"));
    let kinds = [Role::Geometric, Role::Harmonic, Role::Weighted];
    let says = |role: &Role| {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        words.any(|word| of_word(word) == Some(*role))
    };
    kinds.into_iter().find(says)
}

/// Which way is better, by the metric's words and unit; `None` where they do not say.
pub(crate) fn better(words: &str, unit: Option<&str>) -> Option<Better> {
    let words = words.to_lowercase();
    let has = |list: &[&str]| list.iter().any(|word| words.contains(word));
    if has(&["throughput", "ops", "rate of", "bandwidth", "efficien", "accuracy", "qps", "rps"]) {
        return Some(Better::Higher);
    }
    if unit.is_some_and(|unit| unit.ends_with("/s") || unit.ends_with("/sec")) {
        return Some(Better::Higher);
    }
    let low = ["time", "latency", "duration", "memory", "rss", "elapsed", "wall", "delay", "ttft"];
    let timed = unit.is_some_and(|unit| ["ns", "us", "ms", "s"].contains(&unit));
    (has(&low) || timed).then_some(Better::Lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(header: &str) -> (Role, String) {
        let meaning = meaning(header);
        (meaning.role, meaning.metric)
    }

    #[test]
    fn headers_name_statistics_and_metrics() {
        let metric = |text: &str| text.to_owned();
        assert_eq!(of("Mean"), (Role::Mean, metric("")));
        assert_eq!(of("Peak Eff"), (Role::Max, metric("eff")));
        assert_eq!(of("P50 (Median)"), (Role::Percentile(0.5), metric("")));
        assert_eq!(of("p99.9 latency"), (Role::Percentile(0.999), metric("latency")));
        assert_eq!(of("99th percentile"), (Role::Percentile(0.99), metric("")));
        assert_eq!(of("Std. Dev."), (Role::Sd, metric("")));
        assert_eq!(of("Mean StdDev"), (Role::Mean, metric("stddev")));
        assert_eq!(of("CV (all runs)"), (Role::Cv, metric("")));
        assert_eq!(of("CV (best config)"), (Role::Cv, metric("best config")));
        assert_eq!(of("Run 3"), (Role::Run(3), metric("")));
        assert_eq!(of("run4"), (Role::Run(4), metric("")));
        assert_eq!(of("Run 1 P50"), (Role::Percentile(0.5), metric("run 1")));
        assert_eq!(of("P95/P50 (Run 2)").0, Role::Value);
        assert_eq!(of("Speedup vs 1 Thread").0, Role::Ratio);
        assert_eq!(of("Sample Size"), (Role::Count, metric("")));
        assert_eq!(of("Error count").0, Role::Value);
        assert_eq!(of("Throughput"), (Role::Value, metric("throughput")));
    }
}
