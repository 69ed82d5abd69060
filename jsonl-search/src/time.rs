//! Times of RFC 3339.

use std::fmt;

/// A moment; the later one is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time {
    /// Seconds since 1970, UTC, without leap seconds.
    pub seconds: i64,
    /// Nanoseconds after that.
    pub nanoseconds: u32,
}

impl Time {
    /// Reads `2026-01-02T03:04:05.678Z` and the like; `None` for anything that RFC 3339, section
    /// 5.6, does not allow. Digits after the ninth of a second are dropped; second 60 is second 0
    /// of the next minute.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let fixed = bytes.first_chunk::<19>()?;
        let number = |from: usize, to: usize| digits(&fixed[from..to]);
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        let separators = [fixed[4], fixed[7], fixed[10].to_ascii_uppercase(), fixed[13], fixed[16]];
        let in_range = (1..=12).contains(&month)
            && (1..=days_of(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second <= 60;
        if separators != *b"--T::" || !in_range {
            return None;
        }
        let (nanoseconds, rest) = fraction(&bytes[19..])?;
        let days = days_since_1970(year, month, day);
        let local = days * 86_400 + hour * 3_600 + minute * 60 + second;
        Some(Self { seconds: local - offset_seconds(rest)?, nanoseconds })
    }
}

impl Time {
    /// The one that is as far from 1970 on the other side: what was later is earlier.
    pub(crate) fn mirrored(self) -> Self {
        let nanoseconds = 999_999_999 - self.nanoseconds.min(999_999_999);
        Self { seconds: !self.seconds, nanoseconds }
    }

    /// Of a number of seconds since 1970, or of milliseconds where seconds were far in the future.
    pub(crate) fn of_unix(number: &str) -> Option<Self> {
        const FAR_SECONDS: f64 = 1e11;
        let number: f64 =
            number.parse().ok().filter(|number: &f64| (0.0..1e15).contains(number))?;
        let seconds = if number < FAR_SECONDS { number } else { number / 1e3 };
        let nanoseconds = ((seconds.fract() * 1e3).round() as u32).min(999) * 1_000_000;
        Some(Self { seconds: seconds as i64, nanoseconds })
    }
}

/// As RFC 3339 has it, to the millisecond where it has any.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.seconds.div_euclid(86_400), self.seconds.rem_euclid(86_400));
        let (year, month, day) = civil_of_days(days);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        match self.nanoseconds / 1_000_000 {
            0 => write!(f, "Z"),
            milliseconds => write!(f, ".{milliseconds:03}Z"),
        }
    }
}

fn digits(bytes: &[u8]) -> Option<i64> {
    bytes.iter().try_fold(0, |number, byte| {
        byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'))
    })
}

/// Nanoseconds of `.678…`, and what follows.
fn fraction(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let Some((b'.', rest)) = bytes.split_first() else { return Some((0, bytes)) };
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if count == 0 {
        return None;
    }
    let nanoseconds = (0..9).fold(0, |sum, place| {
        let digit = if place < count { u32::from(rest[place] - b'0') } else { 0 };
        sum * 10 + digit
    });
    Some((nanoseconds, &rest[count..]))
}

fn offset_seconds(bytes: &[u8]) -> Option<i64> {
    match *bytes {
        [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let (hours, minutes) = (digits(&bytes[1..3])?, digits(&bytes[4..6])?);
            let seconds = hours * 3_600 + minutes * 60;
            let in_range = hours < 24 && minutes < 60;
            in_range.then_some(if sign == b'-' { -seconds } else { seconds })
        }
        _ => None,
    }
}

fn days_of(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The same, `civil_from_days`: year, month and day.
fn civil_of_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<i64> {
        Time::parse(text).map(|time| time.seconds)
    }

    #[test]
    fn known_moments() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2000-02-29T12:00:00+02:00"), Some(951_818_400));
        assert_eq!(seconds("2025-08-03T06:05:00.5-07:30"), Some(1_754_228_100));
        assert_eq!(seconds("1969-12-31t23:59:60z"), Some(0));
        let time = Time::parse("2025-08-03T06:05:00.1234567891Z").unwrap();
        assert_eq!(time.nanoseconds, 123_456_789);
    }

    #[test]
    fn a_time_is_written_as_it_was_read() {
        for text in ["1970-01-01T00:00:00Z", "2000-02-29T12:00:00Z", "2026-12-31T23:59:59.078Z"] {
            assert_eq!(Time::parse(text).unwrap().to_string(), text);
        }
        for number in ["1763632800", "1763632800000", "1763632800.0"] {
            assert_eq!(Time::of_unix(number).unwrap().to_string(), "2025-11-20T10:00:00Z");
        }
    }

    #[test]
    fn what_is_no_time() {
        for text in [
            "",
            "2025-08-03",
            "2025-08-03 06:05:00Z",
            "2025-02-29T00:00:00Z",
            "2025-13-01T00:00:00Z",
            "2025-08-03T24:00:00Z",
            "2025-08-03T06:05:00",
            "2025-08-03T06:05:00.Z",
            "2025-08-03T06:05:00+0200",
            "2025-08-03T06:05:00Zé",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
