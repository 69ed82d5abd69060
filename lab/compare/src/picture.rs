//! What a picture of a comparison shows: the confidence sequences after each of some rounds, and
//! how the differences of the pairs are distributed. All numbers are per cent of the reference.

use std::fmt::Write as _;

use lab_stats::describe::quantile;

use crate::{Comparison, Estimate, RoundError, Settings, SettingsError, comparison::log_ratio};

/// Looks of a picture at most: more than its pixels can tell apart would cost and show nothing.
const LOOKS: usize = 200;
/// What an axis has beyond everything that is shown, as a share of it.
const ROOM: f64 = 0.08;
/// Bars of a histogram at most.
const MOST_BARS: f64 = 60.0;
/// What the histogram leaves out on either side, as a share of all differences, so that one hiccup
/// does not squeeze everything else into one bar.
const LEFT_OUT: f64 = 0.01;

/// A finished round: order and runs as [`Comparison::add`] takes them, and the seconds.
pub type TimedRound<'r> = (&'r [usize], &'r [Vec<f64>], f64);

/// Why rounds give no picture.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PictureError {
    /// No comparison has these settings.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A round of another comparison.
    #[error(transparent)]
    Round(#[from] RoundError),
}

/// An estimate in per cent: the middle and, where there is one, the interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// The estimated difference.
    pub middle: f64,
    /// Its interval.
    pub ends: Option<[f64; 2]>,
}

impl Band {
    fn of(estimate: &Estimate) -> Self {
        let ends = estimate.interval.map(|ends| ends.map(percent));
        Self { middle: percent(estimate.shift), ends }
    }
}

/// What was known at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Seconds since the first round.
    pub seconds: f64,
    /// The control, if there is one, then the candidates.
    pub bands: Vec<Option<Band>>,
}

/// Differences by size.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// The lower end of the first bar.
    pub low: f64,
    /// Of each bar.
    pub width: f64,
    /// Counts by series, as [`Look::bands`] has them, then by bar.
    pub counts: Vec<Vec<usize>>,
    /// Differences of all series that lie outside of all bars.
    pub outside: usize,
}

/// Everything that is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Whether the first series is the reference against its copy.
    pub control: bool,
    /// In per cent.
    pub margin: f64,
    /// In the order of time.
    pub looks: Vec<Look>,
    /// `None` without a round.
    pub histogram: Option<Histogram>,
}

impl Picture {
    /// Replays the rounds. The first metric is shown.
    pub fn new(
        settings: &Settings,
        metrics: &[&str],
        rounds: &[TimedRound<'_>],
    ) -> Result<Self, PictureError> {
        let mut comparison = Comparison::new(settings.clone(), metrics)?;
        let every = rounds.len().div_ceil(LOOKS).max(1);
        let mut looks = Vec::new();
        for (number, (order, runs, seconds)) in rounds.iter().enumerate() {
            comparison.add(order, runs, *seconds)?;
            if (number + 1) % every == 0 || number + 1 == rounds.len() {
                looks.push(look(&comparison, *seconds));
            }
        }
        let histogram = histogram(&differences(settings, rounds));
        let margin = percent(settings.log_margin());
        Ok(Self { control: settings.control, margin, looks, histogram })
    }

    /// The ends of an axis on which the margin and all intervals of the second half are seen: the
    /// first ones are so wide that nothing else would be. `None` before there is an interval.
    pub fn range(&self) -> Option<[f64; 2]> {
        let shown = &self.looks[self.looks.len() / 2..];
        let bands = || shown.iter().flat_map(|look| &look.bands).flatten();
        let ends = || bands().filter_map(|band| band.ends).flatten();
        ends().next()?;
        let (low, high) = (ends().fold(-self.margin, f64::min), ends().fold(self.margin, f64::max));
        let room = ROOM * (high - low);
        Some([low - room, high + room])
    }

    /// Columns of the looks for a plotting program: seconds, then middle and ends of each series,
    /// whose names are given; `nan` where there is nothing yet.
    pub fn looks_tsv(&self, names: &[&str]) -> String {
        let mut text = "seconds".to_owned();
        for name in names {
            let name: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            let _ = write!(text, "\t{name}\tlow\thigh");
        }
        for look in &self.looks {
            let _ = write!(text, "\n{}", look.seconds);
            for band in &look.bands {
                let ends = band.and_then(|band| band.ends).unwrap_or([f64::NAN; 2]);
                let middle = band.map_or(f64::NAN, |band| band.middle);
                for value in [middle, ends[0], ends[1]] {
                    let _ = write!(text, "\t{}", value.to_string().to_lowercase());
                }
            }
        }
        text + "\n"
    }

    /// Columns of the histogram: the middle of a bar, then the count of each series.
    pub fn histogram_tsv(&self) -> String {
        let Some(histogram) = &self.histogram else { return "middle\n".to_owned() };
        let mut text = "middle".to_owned();
        for number in 0..histogram.counts.len() {
            let _ = write!(text, "\tcount{number}");
        }
        for bar in 0..histogram.counts[0].len() {
            let _ = write!(text, "\n{}", histogram.low + histogram.width * (bar as f64 + 0.5));
            for counts in &histogram.counts {
                let _ = write!(text, "\t{}", counts[bar]);
            }
        }
        text + "\n"
    }
}

fn look(comparison: &Comparison, seconds: f64) -> Look {
    let state = comparison.state();
    let control = comparison.settings().control.then(|| state.control.as_ref().map(Band::of));
    let candidates =
        state.candidates.iter().map(|found| found.metrics[0].estimate.as_ref().map(Band::of));
    Look { seconds, bands: control.into_iter().chain(candidates).collect() }
}

/// In per cent of the reference, by series.
fn differences(settings: &Settings, rounds: &[TimedRound<'_>]) -> Vec<Vec<f64>> {
    let control = settings.control.then_some(settings.commands() - 1);
    let series = control.into_iter().chain(1..=settings.candidates);
    let line = |command: usize| {
        let pair = |(_, runs, _): &TimedRound<'_>| {
            let value = runs[command].first()?;
            Some(percent(log_ratio(runs[0][0], *value)))
        };
        rounds.iter().filter_map(pair).collect()
    };
    series.map(line).collect()
}

fn histogram(series: &[Vec<f64>]) -> Option<Histogram> {
    let mut all: Vec<f64> = series.concat();
    all.sort_unstable_by(f64::total_cmp);
    let (low, high) = (quantile(&all, LEFT_OUT)?, quantile(&all, 1.0 - LEFT_OUT)?);
    let most = series.iter().map(Vec::len).max()?;
    let bars = (2.0 * (most as f64).sqrt()).clamp(5.0, MOST_BARS).floor();
    // Counts may all be equal: one bar around them, then.
    let (low, high, bars) =
        if low < high { (low, high, bars) } else { (low - 0.5, high + 0.5, 1.0) };
    let width = (high - low) / bars;
    let mut counts = vec![vec![0; bars as usize]; series.len()];
    let mut outside = 0;
    for (counts, differences) in counts.iter_mut().zip(series) {
        for difference in differences {
            if !(low..=high).contains(difference) {
                outside += 1;
                continue;
            }
            // The last bar has its upper end.
            let bar = ((difference - low) / width).floor().min(bars - 1.0);
            counts[bar as usize] += 1;
        }
    }
    Some(Histogram { low, width, counts, outside })
}

fn percent(shift: f64) -> f64 {
    100.0 * shift.exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_control() -> Settings {
        Settings { control: true, ..Settings::default() }
    }

    fn picture(rounds: usize, runs: impl Fn(usize) -> [f64; 3]) -> Picture {
        let rounds: Vec<Vec<Vec<f64>>> =
            (0..rounds).map(|round| runs(round).map(|run| vec![run]).to_vec()).collect();
        let timed: Vec<_> =
            rounds.iter().zip(1..).map(|(r, s)| (&[][..], &r[..], f64::from(s))).collect();
        Picture::new(&with_control(), &["wall"], &timed).unwrap()
    }

    /// A candidate at +10 % that varies by ±1 %, and a control at 0.
    fn noisy(round: usize) -> [f64; 3] {
        let noise = [1.0, 1.01, 0.99, 1.005][round % 4];
        [1.0, 1.1 * noise, [1.0, 1.002, 0.998][round % 3]]
    }

    #[test]
    fn the_last_look_is_the_comparisons_state() {
        let picture = picture(450, noisy);
        assert_eq!(picture.looks.len(), 150);
        let last = picture.looks.last().unwrap();
        assert_eq!((last.seconds, last.bands.len()), (450.0, 2));
        let candidate = last.bands[1].unwrap();
        let [low, high] = candidate.ends.unwrap();
        assert!((candidate.middle - 10.0).abs() < 1.0 && low < 10.5 && high > 9.5, "{last:?}");
        assert!(last.bands[0].unwrap().ends.unwrap()[0] < 0.0);
        let tsv = picture.looks_tsv(&["control", "a\tb"]);
        assert_eq!(tsv.lines().next(), Some("seconds\tcontrol\tlow\thigh\ta b\tlow\thigh"));
        assert_eq!(tsv.lines().count(), 1 + picture.looks.len());
        assert!((picture.margin - 1.0).abs() < 1e-12);
        let [bottom, top] = picture.range().unwrap();
        assert!(bottom < -1.0 && top > high && top < 13.0, "{bottom} {top}");
    }

    #[test]
    fn looks_are_as_many_as_can_be_told_apart_and_the_last_one() {
        for (rounds, looks) in [(1, 1), (200, 200), (201, 101), (400, 200), (401, 134)] {
            let picture = picture(rounds, noisy);
            assert_eq!(picture.looks.len(), looks, "{rounds} rounds");
            assert_eq!(picture.looks[looks - 1].seconds, rounds as f64);
        }
    }

    /// Four looks, of which the first two have what later ones leave out.
    fn by_hand() -> Picture {
        let ends = [[-50.0, 50.0], [-20.0, 20.0], [-1.0, 5.0], [1.0, 4.0]];
        let look = |(second, ends)| Look {
            seconds: f64::from(second) / 2.0,
            bands: vec![Some(Band { middle: 2.5, ends: Some(ends) })],
        };
        let counts = vec![vec![1, 2], vec![3, 0]];
        let histogram = Histogram { low: -1.0, width: 2.0, counts, outside: 0 };
        let looks = (1..).zip(ends).map(look).collect();
        Picture { control: false, margin: 2.0, looks, histogram: Some(histogram) }
    }

    #[test]
    fn an_axis_shows_the_margin_and_the_second_half_with_room_to_spare() {
        // From the lower margin, -2, to the highest end, 5: 8 % of 7 more on either side.
        let [low, high] = by_hand().range().unwrap();
        assert!((low + 2.56).abs() < 1e-12 && (high - 5.56).abs() < 1e-12, "{low} {high}");
    }

    #[test]
    fn columns_for_a_plotting_program_are_these() {
        let looks = by_hand().looks_tsv(&["new"]);
        assert!(looks.starts_with("seconds\tnew\tlow\thigh\n0.5\t2.5\t-50\t50\n"), "{looks}");
        assert!(looks.ends_with("\n2\t2.5\t1\t4\n"), "{looks}");
        assert_eq!(by_hand().histogram_tsv(), "middle\tcount0\tcount1\n0\t1\t3\n2\t2\t0\n");
    }

    #[test]
    fn differences_are_in_the_bars_that_they_lie_in() {
        // Less 1 % on either side: from 1 to 99 in 20 bars of 4.9.
        let differences: Vec<f64> = (0..=100).map(f64::from).collect();
        let found = histogram(&[differences.clone(), differences]).unwrap();
        assert!((found.low - 1.0).abs() < 1e-9 && (found.width - 4.9).abs() < 1e-9, "{found:?}");
        assert_eq!((found.outside, &found.counts[0]), (4, &found.counts[1]));
        assert_eq!((found.counts[0].len(), found.counts[0].iter().sum::<usize>()), (20, 99));
        assert!(found.counts[0].iter().all(|count| (4..=6).contains(count)), "{found:?}");
        assert_eq!(histogram(&[vec![3.0; 4]]).map(|one| (one.low, one.width)), Some((2.5, 1.0)));
        assert_eq!(histogram(&[vec![]]), None);
        // Twice the root of their number, and from 5 to 60.
        let bars = |count: u16| {
            let differences = (0..count).map(f64::from).collect();
            histogram(&[differences]).unwrap().counts[0].len()
        };
        assert_eq!([2, 16, 24, 5_000].map(bars), [5, 8, 9, 60]);
    }

    #[test]
    fn every_difference_is_in_a_bar_or_counted_as_outside() {
        let hiccup = |round| match round {
            7 => [1.0, 50.0, 1.0],
            _ => noisy(round),
        };
        let histogram = picture(200, hiccup).histogram.unwrap();
        let inside: usize = histogram.counts.concat().iter().sum();
        assert_eq!(inside + histogram.outside, 400);
        assert!(histogram.outside >= 1 && histogram.outside < 20, "{histogram:?}");
        assert!(histogram.low + histogram.width * histogram.counts[0].len() as f64 - 12.0 < 0.5);
    }

    #[test]
    fn rounds_of_the_control_alone_are_none_of_the_candidates() {
        let rounds: Vec<Vec<Vec<f64>>> = (0..40)
            .map(|round| match round % 4 {
                0 => vec![vec![1.0], vec![], vec![1.0 + f64::from(round) / 1e4]],
                _ => vec![vec![1.0], vec![1.1 + f64::from(round) / 1e4], vec![]],
            })
            .collect();
        let timed: Vec<_> =
            rounds.iter().zip(1..).map(|(r, s)| (&[][..], &r[..], f64::from(s))).collect();
        let picture = Picture::new(&with_control(), &["wall"], &timed).unwrap();
        let histogram = picture.histogram.unwrap();
        let counts: Vec<usize> =
            histogram.counts.iter().map(|counts| counts.iter().sum()).collect();
        assert!(counts[0] <= 10 && counts[1] <= 30, "{counts:?}");
        assert_eq!(counts.iter().sum::<usize>() + histogram.outside, 40);
    }

    #[test]
    fn the_first_looks_have_nothing_to_show() {
        let early = picture(3, noisy);
        let bands = &early.looks[0].bands;
        assert!(bands.iter().all(|band| band.is_some_and(|band| band.ends.is_none())));
        assert!(early.looks_tsv(&["c", "a"]).contains("\n1\t0\tnan\tnan\t10.0"));
        assert_eq!(early.range(), None);
        let equal = picture(3, |_| [1.0; 3]).histogram.unwrap();
        assert_eq!((equal.counts, equal.outside), (vec![vec![3], vec![3]], 0));
        assert_eq!(picture(0, noisy).histogram, None);
        assert_eq!(picture(0, noisy).looks, []);
    }
}
