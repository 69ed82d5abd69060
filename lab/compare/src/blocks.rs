//! The picture in letters, for a terminal or a log: at most 24 lines.

use crate::{Histogram, Picture, picture::Band};

/// Letters of the picture's width, without the numbers at its side.
const COLUMNS: usize = 64;
/// Lines of the confidence sequence.
const ROWS: usize = 13;
/// Lines of a histogram.
const BAR_ROWS: usize = 3;
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

impl Picture {
    /// The candidate of this number, from 0, with its confidence sequence and the histograms of its
    /// differences and the control's. Empty before there is an interval.
    pub fn lines(&self, candidate: usize) -> Vec<String> {
        let series = candidate + usize::from(self.control);
        let bands: Vec<(f64, Band)> = self
            .looks
            .iter()
            .filter_map(|look| Some((look.seconds, look.bands[series]?)))
            .filter(|(_, band)| band.ends.is_some())
            .collect();
        let Some((seconds, last)) = bands.last() else { return Vec::new() };
        let scale = Scale::around(&bands, self.margin);
        let mut lines: Vec<String> = (0..ROWS)
            .map(|row| {
                let letters = (0..COLUMNS).map(|column| {
                    let look = column * (bands.len() - 1) / (COLUMNS - 1);
                    scale.letter(row, column, bands[look].1, self.margin)
                });
                format!("{:>8} ┤{}", scale.label(row), letters.collect::<String>())
            })
            .collect();
        let until = format!("{seconds:.1} s");
        let from = format!("{:.1} s", bands[0].0);
        let gap = COLUMNS - from.len() - until.len();
        lines.push(format!("{:>8}  {from}{}{until}", "", " ".repeat(gap)));
        lines.push(format!(
            "{:>8}  ▒ interval  ● estimate, at last {:+.2} %  ─ 0  ╌ ±margin",
            "", last.middle
        ));
        if let Some(histogram) = &self.histogram {
            lines.extend(histogram.lines(series, "pairs"));
            if self.control {
                lines.extend(histogram.lines(0, "control"));
            }
            lines.push(histogram.axis());
        }
        lines
    }
}

/// The rows' per cents: row 0 is the highest.
struct Scale {
    high: f64,
    step: f64,
}

impl Scale {
    /// Room for 0, the margin where that is not far away, and the narrower half of the intervals:
    /// the first ones are so wide that nothing else would be seen.
    fn around(bands: &[(f64, Band)], margin: f64) -> Self {
        let shown = &bands[bands.len() / 2..];
        let ends = || shown.iter().filter_map(|(_, band)| band.ends).flatten();
        let (low, high) = (ends().fold(0.0, f64::min), ends().fold(0.0, f64::max));
        let near = margin < 3.0 * (high - low);
        let (low, high) = if near { (low.min(-margin), high.max(margin)) } else { (low, high) };
        let step = ((high - low) / (ROWS as f64 - 3.0)).max(f64::MIN_POSITIVE);
        // 0 in the middle of a row.
        Self { high: (high / step).ceil() * step + step / 2.0, step }
    }

    fn row(&self, percent: f64) -> f64 {
        ((self.high - percent) / self.step).floor()
    }

    fn label(&self, row: usize) -> String {
        let middle = self.high - self.step * (row as f64 + 0.5);
        // Without a minus before 0.
        let middle = if middle.abs() < self.step / 4.0 { 0.0 } else { middle };
        format!("{middle:+.2} %")
    }

    fn letter(&self, row: usize, column: usize, band: Band, margin: f64) -> char {
        let here = row as f64;
        let [low, high] = band.ends.unwrap_or([band.middle; 2]);
        if self.row(band.middle) == here {
            '●'
        } else if self.row(0.0) == here && column.is_multiple_of(2) {
            // Through the interval, which stays to be seen.
            '─'
        } else if self.row(high) <= here && here <= self.row(low) {
            '▒'
        } else if self.row(0.0) == here {
            '─'
        } else if self.row(margin) == here || self.row(-margin) == here {
            '╌'
        } else {
            ' '
        }
    }
}

impl Histogram {
    fn lines(&self, series: usize, name: &str) -> Vec<String> {
        let counts = &self.counts[series];
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        let eighths = |bar: usize| counts[bar] * BAR_ROWS * 8 / most;
        let bar_of = |column: usize| column * counts.len() / COLUMNS;
        let row = |row: usize| {
            let below = 8 * (BAR_ROWS - 1 - row);
            let letter = |column| EIGHTHS[eighths(bar_of(column)).saturating_sub(below).min(8)];
            let label = if row == 0 { name } else { "" };
            format!("{label:>8} │{}", (0..COLUMNS).map(letter).collect::<String>())
        };
        (0..BAR_ROWS).map(row).collect()
    }

    fn axis(&self) -> String {
        let high = self.low + self.width * self.counts[0].len() as f64;
        let ends = [self.low, high].map(|end| format!("{end:+.2} %"));
        let outside = format!("{} outside", self.outside);
        let gap = COLUMNS.saturating_sub(ends[0].len() + ends[1].len());
        format!("{:>8}  {}{outside:^gap$}{}", "", ends[0], ends[1])
    }
}

#[cfg(test)]
mod tests {
    use crate::{Histogram, Look, Picture, Settings, picture::Band};

    fn lines(rounds: usize, factor: f64) -> Vec<String> {
        let noise = [1.0, 1.01, 0.99, 1.005, 0.997];
        let runs = |round: usize| {
            let control = [1.0, 1.003, 0.998][round % 3];
            [1.0, factor * noise[round % 5], control].map(|run| vec![run]).to_vec()
        };
        let rounds: Vec<Vec<Vec<f64>>> = (0..rounds).map(runs).collect();
        let timed: Vec<_> =
            rounds.iter().zip(1..).map(|(r, s)| (&[][..], &r[..], f64::from(s))).collect();
        let settings = Settings { control: true, ..Settings::default() };
        Picture::new(&settings, &["wall"], &timed).unwrap().lines(0)
    }

    #[test]
    fn it_fits_a_terminal_and_shows_interval_zero_and_margin() {
        for factor in [0.5, 0.97, 1.0, 1.02, 3.0] {
            let lines = lines(120, factor);
            assert!((16..=24).contains(&lines.len()), "{}", lines.len());
            assert!(lines.iter().all(|line| line.chars().count() <= 79), "{lines:#?}");
            let all = lines.concat();
            assert!(all.contains('▒') || all.contains('●'), "{lines:#?}");
            assert!(lines.iter().any(|line| line.contains("+0.00 % ┤")), "{lines:#?}");
        }
        assert!(lines(120, 1.02).concat().contains('╌'));
    }

    /// An interval that narrows around 2 %, a control without one, and few differences.
    fn by_hand() -> Picture {
        let looks = [(0.5, None), (1.0, Some([-3.0, 9.0])), (2.0, Some([0.0, 4.0]))];
        let look = |(seconds, ends): (f64, Option<[f64; 2]>)| Look {
            seconds,
            bands: vec![None, Some(Band { middle: 2.0, ends })],
        };
        let counts = vec![vec![8, 4, 0, 0], vec![0, 3, 24, 1]];
        Picture {
            control: true,
            margin: 1.0,
            looks: looks.map(look).to_vec(),
            histogram: Some(Histogram { low: -2.0, width: 1.5, counts, outside: 12 }),
        }
    }

    #[test]
    fn a_picture_made_by_hand_is_drawn_as_it_would_be_by_hand() {
        let bar = |letter: &str| letter.repeat(16);
        let row =
            |label: &str, first: &str, last: &str| format!("{label} ┤{}{last}", first.repeat(63));
        let expected = [
            row(" +4.00 %", "▒", "▒"),
            row(" +3.50 %", "▒", "▒"),
            row(" +3.00 %", "▒", "▒"),
            row(" +2.50 %", "▒", "▒"),
            row(" +2.00 %", "●", "●"),
            row(" +1.50 %", "▒", "▒"),
            row(" +1.00 %", "▒", "▒"),
            row(" +0.50 %", "▒", "▒"),
            format!(" +0.00 % ┤{}", "─▒".repeat(32)),
            row(" -0.50 %", "▒", " "),
            row(" -1.00 %", "▒", "╌"),
            row(" -1.50 %", "▒", " "),
            row(" -2.00 %", "▒", " "),
            format!("{:>10}1.0 s{:54}2.0 s", "", ""),
            format!("{:>10}▒ interval  ● estimate, at last +2.00 %  ─ 0  ╌ ±margin", ""),
            format!("   pairs │{0}{0}{1}{0}", bar(" "), bar("█")),
            format!("         │{0}{0}{1}{0}", bar(" "), bar("█")),
            format!("         │{}{}{}{}", bar(" "), bar("▃"), bar("█"), bar("▁")),
            format!(" control │{1}{0}{0}{0}", bar(" "), bar("█")),
            format!("         │{1}{2}{0}{0}", bar(" "), bar("█"), bar("▄")),
            format!("         │{1}{1}{0}{0}", bar(" "), bar("█")),
            format!("{:>10}-2.00 %{:20}12 outside{:20}+4.00 %", "", "", ""),
        ];
        assert_eq!(by_hand().lines(0), expected);
    }

    #[test]
    fn columns_share_the_looks_evenly_and_the_last_one_shows_the_last() {
        let look = |percent: f64| Look {
            seconds: percent,
            bands: vec![Some(Band { middle: percent, ends: Some([percent - 1.0, percent + 1.0]) })],
        };
        let picture = Picture {
            control: false,
            margin: 1.0,
            looks: [2.0, 5.0, 8.0, 11.0].map(look).to_vec(),
            histogram: None,
        };
        let rows: Vec<Vec<char>> =
            picture.lines(0).iter().map(|line| line.chars().skip(10).collect()).collect();
        let estimates = |column: usize| rows.iter().position(|row| row[column] == '●').unwrap();
        let found: Vec<usize> = (0..64).map(estimates).collect();
        let parts: Vec<usize> = found.chunk_by(|a, b| a == b).map(<[usize]>::len).collect();
        assert_eq!(parts, [21, 21, 21, 1]);
    }

    #[test]
    fn zero_has_no_minus_whatever_the_scale() {
        for hundredths in 1..400 {
            let margin = f64::from(hundredths) / 100.0;
            let band = Band { middle: 0.0, ends: Some([-0.7, 1.1]) };
            let scale = super::Scale::around(&[(1.0, band)], margin);
            let row = scale.row(0.0) as usize;
            assert_eq!(scale.label(row), "+0.00 %", "{margin}");
        }
    }

    #[test]
    fn a_margin_that_is_far_away_is_not_in_the_picture() {
        let step = |margin: f64| {
            let band = Band { middle: 0.0, ends: Some([-0.5, 0.5]) };
            super::Scale::around(&[(1.0, band)], margin).step
        };
        assert!(step(2.9) > 2.0 * step(100.0));
        assert_eq!(step(3.0), step(100.0));
    }

    #[test]
    fn without_an_interval_there_is_nothing() {
        assert!(lines(5, 1.0).is_empty());
    }
}
