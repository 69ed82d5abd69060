//! What an agent makes of its first reply before it asks for the report.

use std::fmt::Write;

/// The topics that the original's analysis step looked for, by keyword.
const KEYWORDS: [&str; 6] =
    ["latency", "throughput", "memory", "bottleneck", "improve", "recommend"];

/// Counts the words of `reply` and how many begin with each keyword, whatever their case. One short
/// line, so that it costs a real model little to read.
pub(crate) fn analysis(reply: &str) -> String {
    let lower = reply.to_ascii_lowercase();
    let mut line = String::from("analysis:");
    for keyword in KEYWORDS {
        let count = lower.split(|c: char| !c.is_alphanumeric()).filter(|w| w.starts_with(keyword));
        let _ = write!(line, " {keyword} {},", count.count());
    }
    let _ = write!(line, " words {}", lower.split_whitespace().count());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_by_how_they_begin() {
        let expected = "analysis: latency 2, throughput 0, memory 0, bottleneck 0, improve 1, \
                        recommend 1, words 6";
        assert_eq!(analysis("Latency? improves (latency-wise), I recommend it."), expected);
    }
}
