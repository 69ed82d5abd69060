//! A metric over the sessions that measured it, as a picture: every single value, the median of
//! each session, and where the line changes.

use crate::{Line, chapter::escaped};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 100.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 44.0;
/// The share of a session's room that its values take.
const SPREAD: f64 = 0.6;
/// More names below would collide.
const NAMES_MAX: usize = 10;

/// The picture of a line; `show` writes a value with its unit.
pub(crate) fn chart(line: &Line, show: &dyn Fn(f64) -> String) -> String {
    let frame = Frame::of(line);
    let parts = [
        frame.axis(show),
        frame.names(line),
        frame.values(line, show),
        frame.medians(line),
        frame.changes(line),
    ];
    format!(
        "<figure><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" font-size=\"12\" \
         fill=\"#222\"><title>{}</title>{}</svg></figure>\n",
        escaped(&line.title),
        parts.concat()
    )
}

/// Where things lie in the picture.
struct Frame {
    low: f64,
    high: f64,
    /// The room of one session.
    step: f64,
}

impl Frame {
    fn of(line: &Line) -> Self {
        let all = || line.points.iter().flat_map(|point| point.values.iter().copied());
        let low = all().fold(f64::INFINITY, f64::min);
        let high = all().fold(f64::NEG_INFINITY, f64::max);
        // One value alone stands in the middle, and no value anywhere.
        let (low, high) = match low < high {
            true => (low, high),
            false if low.is_finite() => (low - low.abs() / 2.0 - 1.0, low + low.abs() / 2.0 + 1.0),
            false => (0.0, 1.0),
        };
        Self { low, high, step: (WIDTH - LEFT - RIGHT) / line.points.len().max(1) as f64 }
    }

    fn x(&self, sessions: f64) -> f64 {
        LEFT + sessions * self.step
    }

    fn y(&self, value: f64) -> f64 {
        TOP + (self.high - value) / (self.high - self.low) * (HEIGHT - TOP - BOTTOM)
    }

    /// Three values on the left, each with a thin line.
    fn axis(&self, show: &dyn Fn(f64) -> String) -> String {
        let tick = |value: f64| {
            let (y, end, text) = (self.y(value), WIDTH - RIGHT, escaped(&show(value)));
            format!(
                "<path d=\"M{LEFT} {y:.1}H{end}\" stroke=\"#bbb\"/><text x=\"{:.1}\" y=\"{:.1}\" \
                 text-anchor=\"end\">{text}</text>",
                LEFT - 6.0,
                y + 4.0
            )
        };
        let middle = self.low + (self.high - self.low) / 2.0;
        [self.low, middle, self.high].map(tick).concat()
    }

    /// Commits below, as many as fit.
    fn names(&self, line: &Line) -> String {
        let every = line.points.len().div_ceil(NAMES_MAX).max(1);
        let named = line.points.iter().enumerate().step_by(every);
        let name = |(place, point): (usize, &crate::Point)| {
            let (x, commit) = (self.x(place as f64 + 0.5), escaped(&point.commit));
            format!(
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{commit}</text>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                HEIGHT - BOTTOM + 18.0,
                HEIGHT - BOTTOM + 34.0,
                escaped(&point.day)
            )
        };
        named.map(name).collect()
    }

    /// Every single value with its record, in the order of the runs from left to right.
    fn values(&self, line: &Line, show: &dyn Fn(f64) -> String) -> String {
        let mut dots = String::new();
        for (place, point) in line.points.iter().enumerate() {
            let shown = escaped(&point.shown);
            for (number, value) in point.values.iter().enumerate() {
                let within = (number as f64 + 0.5) / point.values.len() as f64 - 0.5;
                let x = self.x(place as f64 + 0.5 + SPREAD * within);
                dots.push_str(&format!(
                    "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"2.2\"><title>{} in {shown}</title>\
                     </circle>",
                    self.y(*value),
                    escaped(&show(*value))
                ));
            }
        }
        format!("<g fill=\"#0072b2\" fill-opacity=\".45\">{dots}</g>")
    }

    fn medians(&self, line: &Line) -> String {
        let half = SPREAD / 2.0 + 0.05;
        let path = |(place, point): (usize, &crate::Point)| {
            let middle = place as f64 + 0.5;
            let (from, to) = (self.x(middle - half), self.x(middle + half));
            format!("M{from:.1} {:.1}H{to:.1}", self.y(point.median))
        };
        let paths: String = line.points.iter().enumerate().map(path).collect();
        format!("<path d=\"{paths}\" stroke=\"#222\" stroke-width=\"2\"/>")
    }

    fn changes(&self, line: &Line) -> String {
        let change = |(at, p): &(usize, f64)| {
            let (x, end) = (self.x(*at as f64), HEIGHT - BOTTOM);
            format!(
                "<path d=\"M{x:.1} {TOP}V{end}\" stroke=\"#d55e00\" stroke-width=\"2\" \
                 stroke-dasharray=\"5 4\"/><text x=\"{x:.1}\" y=\"{:.1}\" fill=\"#d55e00\" \
                 text-anchor=\"middle\">p {p:.3}</text>",
                TOP - 6.0
            )
        };
        line.changes.iter().map(change).collect()
    }
}
