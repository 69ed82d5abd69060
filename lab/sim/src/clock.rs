//! The two clocks: one for intervals, one for the date that Ollama prints.

use std::time::{SystemTime, UNIX_EPOCH};

use nix::time::{ClockId, clock_gettime};

const NS_PER_S: u64 = 1_000_000_000;

/// `CLOCK_MONOTONIC` in nanoseconds, comparable between processes of one machine.
pub fn now_ns() -> u64 {
    // The clock exists on every Linux, and its reading is never negative.
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("CLOCK_MONOTONIC cannot fail");
    now.tv_sec() as u64 * NS_PER_S + now.tv_nsec() as u64
}

/// The present date as Ollama writes it in `created_at`, for example `2026-11-21T02:14:21.5Z`.
pub(crate) fn created_at() -> String {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    rfc3339(since_epoch.as_secs(), since_epoch.subsec_nanos())
}

/// The present date in seconds, as OpenAI writes it in `created`.
pub(crate) fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// RFC 3339 in UTC, trailing zeros of the fraction dropped as Go does.
///
/// Days become a civil date by Howard Hinnant's `civil_from_days` ("chrono-compatible low-level
/// date algorithms", 2014), whose years begin in March so that the leap day comes last.
fn rfc3339(seconds: u64, nanos: u32) -> String {
    let days = seconds / 86_400 + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    let fraction = format!(".{nanos:09}");
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_go_writes_them() {
        assert_eq!(rfc3339(0, 0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(951_782_400, 500_000_000), "2000-02-29T00:00:00.5Z");
        assert_eq!(rfc3339(1_795_227_261, 973_065_276), "2026-11-21T02:14:21.973065276Z");
    }
}
