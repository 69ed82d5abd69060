//! Units that stand in a column's header.

use crate::printed::unit;

/// The unit that a header states for its column: `Time (ms)`, `Mean [µs]`, `wall_ms`, `Inline %`.
pub(crate) fn unit(header: &str) -> Option<String> {
    bracketed(header).or_else(|| trailing(header))
}

/// A header without the unit it states, for finding out what the column is about.
pub(crate) fn name(header: &str) -> String {
    let mut name = header.to_owned();
    while let Some((start, end)) = brackets(&name) {
        let inner = name[start + 1..end].trim().to_owned();
        if unit::known(&inner).is_none() {
            break;
        }
        name.replace_range(start..=end, "");
    }
    let words: Vec<&str> = name.split_whitespace().collect();
    words.join(" ")
}

fn bracketed(header: &str) -> Option<String> {
    let (start, end) = brackets(header)?;
    unit::known(header[start + 1..end].trim())
}

/// Byte offsets of the last pair of brackets.
fn brackets(header: &str) -> Option<(usize, usize)> {
    let end = header.rfind([')', ']'])?;
    let start = header[..end].rfind(['(', '['])?;
    Some((start, end))
}

fn trailing(header: &str) -> Option<String> {
    let last = header.rsplit([' ', '_', ',', '-']).next()?.trim();
    // A lone letter is a name more often than a unit.
    let clear = last == "%" || last.chars().count() > 1;
    unit::known(last).filter(|_| clear && last.len() < header.len())
}
