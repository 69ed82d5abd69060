//! A large difference in words: a ratio, where per cents say little.

use super::metric::Metric;

/// From this ratio on a difference is told as one.
const LEAST: f64 = 1.5;
/// Digits behind the point at most.
const DIGITS: f64 = 2.0;

/// "6.4 × faster", and "5.9 … 6.9".
#[derive(Debug, PartialEq)]
pub struct Ratio {
    /// How many times as much, and of times which way.
    pub word: String,
    /// The ends of the interval, where there is one.
    pub ends: Option<String>,
}

impl Ratio {
    /// Of a difference of logarithms; `None` of a small one.
    pub fn of(metric: Metric, shift: f64, interval: Option<[f64; 2]>) -> Option<Self> {
        if shift.abs() < LEAST.ln() {
            return None;
        }
        // What takes less time is so many times as fast; a size is so many times the other.
        let inverts = metric.is_time() && shift < 0.0;
        let of = |shift: f64| if inverts { (-shift).exp() } else { shift.exp() };
        let ends = interval.map(|[low, high]| if inverts { [high, low] } else { [low, high] });
        let ends = ends.map(|ends| ends.map(of));
        let digits = digits(of(shift), ends);
        let times = |ratio: f64| format!("{ratio:.digits$}");
        let how = match (metric.is_time(), shift < 0.0) {
            (true, true) => " faster",
            (true, false) => " slower",
            (false, _) => "",
        };
        Some(Self {
            word: format!("{} ×{how}", times(of(shift))),
            ends: ends.map(|[low, high]| format!("{} … {}", times(low), times(high))),
        })
    }
}

/// As many as tell the ends apart; without ends two digits in all.
fn digits(ratio: f64, ends: Option<[f64; 2]>) -> usize {
    let magnitude = match ends {
        // A little more, for what rounding takes from a width of 1.
        Some([low, high]) => (1.001 * (high - low)).max(f64::MIN_POSITIVE).log10().floor(),
        None => ratio.log10().floor() + f64::from(u8::from(ratio.fract().abs() < 0.05)),
    };
    (1.0 - magnitude).clamp(0.0, DIGITS) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(ratio: f64, interval: Option<[f64; 2]>) -> Option<Ratio> {
        Ratio::of(Metric::Wall, ratio.ln(), interval.map(|ends| ends.map(f64::ln)))
    }

    #[test]
    fn a_large_difference_is_a_ratio_above_one_in_either_direction() {
        let told = |word: &str, ends: Option<&str>| {
            Some(Ratio { word: word.to_owned(), ends: ends.map(str::to_owned) })
        };
        assert_eq!(said(6.4, Some([5.9, 6.9])), told("6.4 × slower", Some("5.9 … 6.9")));
        let faster = said(1.0 / 6.4, Some([1.0 / 6.9, 1.0 / 5.9]));
        assert_eq!(faster, told("6.4 × faster", Some("5.9 … 6.9")));
        assert_eq!(said(1.52, Some([1.51, 1.53])), told("1.52 × slower", Some("1.51 … 1.53")));
        assert_eq!(said(80.0, Some([71.0, 92.0])), told("80 × slower", Some("71 … 92")));
        assert_eq!(said(80.0, None), told("80 × slower", None));
        assert_eq!(said(1.49, Some([1.4, 1.6])), None);
        assert_eq!(said(0.7, None), None);
    }

    #[test]
    fn a_size_is_so_many_times_the_other() {
        let told = |ratio: f64| Ratio::of(Metric::Rss, ratio.ln(), None).unwrap().word;
        assert_eq!([told(2.5), told(0.25)], ["2.5 ×", "0.25 ×"]);
    }
}
