//! A metric over the sessions that measured it, as a picture: every single value, the median of
//! each session, and where the line changes.

use maud::{Markup, html};

use crate::{Line, Point};

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
pub(crate) fn chart(line: &Line, show: &dyn Fn(f64) -> String) -> Markup {
    let frame = Frame::of(line);
    html! {
        figure {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" font-size="12" fill="#222" {
                title { (line.title) }
                (frame.axis(show))
                (frame.names(line))
                (frame.values(line, show))
                (frame.medians(line))
                (frame.changes(line))
            }
        }
    }
}

/// A length as the picture has it.
fn at(length: f64) -> String {
    format!("{length:.1}")
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
    fn axis(&self, show: &dyn Fn(f64) -> String) -> Markup {
        let middle = self.low + (self.high - self.low) / 2.0;
        html! {
            @for value in [self.low, middle, self.high] {
                path d=(format!("M{LEFT} {:.1}H{}", self.y(value), WIDTH - RIGHT)) stroke="#bbb" {}
                text x=(at(LEFT - 6.0)) y=(at(self.y(value) + 4.0)) text-anchor="end" {
                    (show(value))
                }
            }
        }
    }

    /// Commits below, as many as fit.
    fn names(&self, line: &Line) -> Markup {
        let every = line.points.len().div_ceil(NAMES_MAX).max(1);
        html! {
            @for (place, point) in line.points.iter().enumerate().step_by(every) {
                @for (name, below) in [(&point.commit, 18.0), (&point.day, 34.0)] {
                    text x=(at(self.x(place as f64 + 0.5))) y=(at(HEIGHT - BOTTOM + below))
                        text-anchor="middle" { (name) }
                }
            }
        }
    }

    /// Every single value with its record, in the order of the runs from left to right.
    fn values(&self, line: &Line, show: &dyn Fn(f64) -> String) -> Markup {
        let x = |place: usize, number: usize, count: usize| {
            let within = (number as f64 + 0.5) / count as f64 - 0.5;
            at(self.x(place as f64 + 0.5 + SPREAD * within))
        };
        html! {
            g fill="#0072b2" fill-opacity=".45" {
                @for (place, point) in line.points.iter().enumerate() {
                    @for (number, value) in point.values.iter().enumerate() {
                        circle cx=(x(place, number, point.values.len())) cy=(at(self.y(*value)))
                            r="2.2" { title { (show(*value)) " in " (point.shown) } }
                    }
                }
            }
        }
    }

    fn medians(&self, line: &Line) -> Markup {
        let half = SPREAD / 2.0 + 0.05;
        let path = |(place, point): (usize, &Point)| {
            let middle = place as f64 + 0.5;
            let (from, to) = (self.x(middle - half), self.x(middle + half));
            format!("M{from:.1} {:.1}H{to:.1}", self.y(point.median))
        };
        let paths: String = line.points.iter().enumerate().map(path).collect();
        html! { path d=(paths) stroke="#222" stroke-width="2" {} }
    }

    fn changes(&self, line: &Line) -> Markup {
        html! {
            @for (place, p) in &line.changes {
                path d=(format!("M{:.1} {TOP}V{}", self.x(*place as f64), HEIGHT - BOTTOM))
                    stroke="#d55e00" stroke-width="2" stroke-dasharray="5 4" {}
                text x=(at(self.x(*place as f64))) y=(at(TOP - 6.0)) fill="#d55e00"
                    text-anchor="middle" { "p " (format!("{p:.3}")) }
            }
        }
    }
}
