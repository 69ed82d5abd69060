//! Times as people write them.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::Time;

const DAY: i64 = 86_400;

const SENTENCE: &str = "write it as 2026-01-31, 2026-01-31T12:00, 2026-01-31T12:00:00Z, 2h, 3d, \
                        1w, today or yesterday; without a zone it is UTC";

/// The moment that an option's value means now.
pub(super) fn moment(text: &str) -> Result<Time, &'static str> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    read(text.trim(), now.as_secs().cast_signed()).ok_or(SENTENCE)
}

fn read(text: &str, now: i64) -> Option<Time> {
    let at = |seconds| Some(Time { seconds, nanoseconds: 0 });
    let today = now.div_euclid(DAY) * DAY;
    match text {
        "now" => at(now),
        "today" => at(today),
        "yesterday" => at(today - DAY),
        _ => of_date(text).or_else(|| at(now - span(text)?)),
    }
}

/// A date, with or without a time of the day and a zone.
fn of_date(text: &str) -> Option<Time> {
    let whole = match text.len() {
        10 => format!("{text}T00:00:00Z"),
        16 => format!("{text}:00Z"),
        19 => format!("{text}Z"),
        17 if text.ends_with(['Z', 'z']) => format!("{}:00Z", &text[..16]),
        _ => text.to_owned(),
    };
    // A space between is what people and many programs write.
    let is_spaced = whole.get(..11).is_some_and(|date| date.ends_with(' '));
    let whole = if is_spaced { whole.replacen(' ', "T", 1) } else { whole };
    Time::parse(&whole)
}

/// Seconds of `90s`, `30m`, `2h`, `3d` and `1w`.
fn span(text: &str) -> Option<i64> {
    let text = text.strip_suffix("ago").map_or(text, str::trim_end);
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => DAY,
        "w" => 7 * DAY,
        _ => return None,
    };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| number.parse::<i64>().ok()?.checked_mul(unit)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        let now = Time::parse("2026-03-10T15:30:20Z").unwrap().seconds;
        for (text, expected) in [
            ("2026-01-31", "2026-01-31T00:00:00Z"),
            ("2026-01-31T12:00", "2026-01-31T12:00:00Z"),
            ("2026-01-31 12:00", "2026-01-31T12:00:00Z"),
            ("2026-01-31T12:00Z", "2026-01-31T12:00:00Z"),
            ("2026-01-31 12:00:05", "2026-01-31T12:00:05Z"),
            ("2026-01-31T12:00:05.5+01:00", "2026-01-31T11:00:05.500Z"),
            ("now", "2026-03-10T15:30:20Z"),
            ("today", "2026-03-10T00:00:00Z"),
            ("yesterday", "2026-03-09T00:00:00Z"),
            ("20s", "2026-03-10T15:30:00Z"),
            ("30m", "2026-03-10T15:00:20Z"),
            ("2h", "2026-03-10T13:30:20Z"),
            ("2h ago", "2026-03-10T13:30:20Z"),
            ("10d", "2026-02-28T15:30:20Z"),
            ("1w", "2026-03-03T15:30:20Z"),
        ] {
            assert_eq!(read(text, now).map(|time| time.to_string()), Some(expected.to_owned()));
        }
        for text in ["", "noon", "2026-02-30", "2026-1-1", "h", "-2h", "2y", "1.5h", "2h3", "é"] {
            assert_eq!(read(text, now), None, "{text}");
        }
        assert_eq!(read("9223372036854775807w", now), None);
    }
}
