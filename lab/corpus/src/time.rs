//! Times as session logs write them, RFC 3339 in UTC with milliseconds.

/// 2025-05-01T00:00:00Z in milliseconds since 1970.
pub(crate) const START_MS: u64 = 1_746_057_600_000;

/// One day in milliseconds.
pub(crate) const DAY_MS: u64 = 86_400_000;

/// Appends a time given in milliseconds since 1970.
pub(crate) fn append(time_ms: u64, out: &mut Vec<u8>) {
    let (year, month, day) = date(time_ms / DAY_MS);
    let second = time_ms % DAY_MS / 1_000;
    digits(year, 4, out);
    out.push(b'-');
    digits(month, 2, out);
    out.push(b'-');
    digits(day, 2, out);
    out.push(b'T');
    digits(second / 3_600, 2, out);
    out.push(b':');
    digits(second / 60 % 60, 2, out);
    out.push(b':');
    digits(second % 60, 2, out);
    out.push(b'.');
    digits(time_ms % 1_000, 3, out);
    out.push(b'Z');
}

/// The Gregorian date of a day since 1970 (H. Hinnant, "chrono-compatible low-level date
/// algorithms", civil_from_days), for days that are not before 1970.
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

fn digits(number: u64, width: u32, out: &mut Vec<u8>) {
    out.extend((0..width).rev().map(|place| b'0' + (number / 10_u64.pow(place) % 10) as u8));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(time_ms: u64) -> String {
        let mut out = Vec::new();
        append(time_ms, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn known_times() {
        assert_eq!(text(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(text(START_MS), "2025-05-01T00:00:00.000Z");
        assert_eq!(text(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(text(1_735_689_599_999), "2024-12-31T23:59:59.999Z");
    }
}
