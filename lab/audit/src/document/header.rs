//! Units that stand in a column's header.

use crate::printed::unit;

/// The unit that a header states for its column: `Time (ms)`, `Mean [µs]`, `wall_ms`, `Inline %`.
pub(crate) fn unit(header: &str) -> Option<String> {
    bracketed(header).or_else(|| trailing(header)).or_else(|| per(header).map(|(_, unit)| unit))
}

/// The units of a table's headers. `(min)` beside `(max)` or `(avg)` is a minimum, no minutes.
pub(crate) fn units(headers: &[String]) -> Vec<Option<String>> {
    let words = ["max", "avg", "mean", "p50", "p95", "p99"];
    let statistic = |header: &String| words.iter().any(|word| header.to_lowercase().contains(word));
    let minimum = headers.iter().any(statistic);
    let stated = headers.iter().map(|header| unit(header));
    stated.map(|unit| unit.filter(|unit| unit != "min" || !minimum)).collect()
}

/// A header without the unit it states, for finding out what the column is about.
pub(crate) fn name(header: &str, stated: Option<&str>) -> String {
    let Some(stated) = stated else { return header.to_owned() };
    if let Some((name, _)) = per(header).filter(|(_, unit)| unit == stated) {
        return name.to_owned();
    }
    if let Some((start, end)) = brackets(header)
        && unit::known(header[start + 1..end].trim()).is_some()
    {
        return format!("{} {}", &header[..start], &header[end + 1..]).trim().to_owned();
    }
    let last = header.rsplit([' ', '_', ',', '-']).next().unwrap_or_default();
    let bare = header.strip_suffix(last).unwrap_or(header);
    let bare = bare.trim_end_matches([' ', '_', ',', '-']);
    if unit::known(last).as_deref() == Some(stated) { bare.to_owned() } else { header.to_owned() }
}

/// `search_ms_per_query`: what stands before the unit, and the unit.
fn per(header: &str) -> Option<(&str, String)> {
    let (before, divisor) = header.rsplit_once("_per_")?;
    let (name, unit) = before.rsplit_once('_')?;
    let word = divisor.chars().all(char::is_alphabetic);
    Some((name, unit::known(&format!("{unit}/{divisor}")).filter(|_| word)?))
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
    // A lone letter is a name more often than a unit, and "latency min" is a minimum.
    let clear = last == "%" || last.chars().count() > 1 && !["min", "mins"].contains(&last);
    // `wall_s` is a name that a program made, and its unit is meant.
    let clear = clear
        || last == "s" && header.strip_suffix("_s").is_some_and(names_a_time)
        || header.ends_with(", s");
    unit::known(last).filter(|_| clear && last.len() < header.len())
}

/// Whether what stands before `_s` is a name and no unit: `mb_s` and `ops_s` are rates.
fn names_a_time(before: &str) -> bool {
    let word = before.rsplit('_').next().unwrap_or_default().to_lowercase();
    let counted =
        ["per", "ops", "req", "reqs", "requests", "items", "rows", "tokens", "tok", "tx", "msg"];
    word.len() > 1 && unit::known(&word).is_none() && !counted.contains(&word.as_str())
}
