//! Words of names in one writing, so that `Avg Eff` and `average efficiency` are the same words.

use std::collections::BTreeSet;

use super::words::list;

/// Short and other writings of words that name metrics and settings.
const SAME: [(&str, &str); 26] = [
    ("eff", "efficiency"),
    ("efficient", "efficiency"),
    ("avg", "mean"),
    ("average", "mean"),
    ("averaged", "mean"),
    ("ctx", "context"),
    ("temp", "temperature"),
    ("mem", "memory"),
    ("lat", "latency"),
    ("tput", "throughput"),
    ("tok", "token"),
    ("toks", "token"),
    ("alloc", "allocation"),
    ("allocs", "allocation"),
    ("allocated", "allocation"),
    ("config", "configuration"),
    ("configs", "configuration"),
    ("perf", "performance"),
    ("req", "request"),
    ("reqs", "request"),
    ("msg", "message"),
    ("msgs", "message"),
    ("std", "deviation"),
    ("stddev", "deviation"),
    ("sd", "deviation"),
    ("σ", "deviation"),
];

/// A word without its plural, and in its usual writing.
pub(crate) fn stem(word: &str) -> String {
    if let Some((_, usual)) = SAME.iter().find(|(own, _)| *own == word) {
        return (*usual).to_owned();
    }
    let letters = word.chars().all(char::is_alphabetic) && word.chars().count() > 3;
    let bare = match word {
        _ if !letters => word,
        _ if word.ends_with("ies") => {
            let start = word.trim_end_matches("ies");
            return stem(&format!("{start}y"));
        }
        _ if word.ends_with("ss") || word.ends_with("is") => word,
        _ => word.strip_suffix('s').unwrap_or(word),
    };
    let usual = SAME.iter().find(|(own, _)| *own == bare).map(|(_, usual)| *usual);
    usual.unwrap_or(bare).to_owned()
}

/// The stems of a text's words.
pub(crate) fn stems(text: &str) -> BTreeSet<String> {
    in_order(text).into_iter().collect()
}

/// The same in their order.
pub(crate) fn in_order(text: &str) -> Vec<String> {
    list(text).iter().map(|word| stem(word)).collect()
}

/// A unit in one writing: `tokens/second` is `tok/s`.
pub(crate) fn unit(unit: &str) -> String {
    let lower = unit.to_lowercase().replace("second", "s").replace("sec", "s");
    let lower = lower.replace("tokens", "tok").replace("token", "tok");
    let lower = lower.replace("requests", "req").replace("reqs", "req");
    // "MB/s" and "Mb/s" differ.
    if lower.starts_with("tok") || lower.starts_with("req") { lower } else { unit.to_owned() }
}

/// Whether a unit is of things a second that are no bytes.
pub(crate) fn is_rate(unit: &str) -> bool {
    let bytes = ["b/", "kb/", "mb/", "gb/", "tb/", "kib/", "mib/", "gib/", "bytes/"];
    let lower = unit.to_lowercase();
    let rate = ["/s", "/sec", "/second"].iter().any(|end| lower.ends_with(end));
    (rate || ["qps", "rps", "ops", "tps", "iops"].contains(&lower.as_str()))
        && !bytes.iter().any(|start| lower.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writings_of_one_name_have_the_same_stems() {
        assert_eq!(stems("Avg Eff"), stems("average efficiency"));
        assert_eq!(stems("Latencies"), stems("latency"));
        assert_eq!(stems("configs"), stems("Configuration"));
        assert_ne!(stems("Redis"), stems("Redi"));
        assert_eq!(stem("loss"), "loss");
        assert_eq!(stem("0.6s"), "0.6s");
    }

    #[test]
    fn units_have_one_writing() {
        assert_eq!(unit("tokens/second"), unit("tok/s"));
        assert_eq!(unit("GB/s"), "GB/s");
        assert!(is_rate("tok/s") && is_rate("QPS") && !is_rate("MB/s") && !is_rate("ms"));
    }
}
