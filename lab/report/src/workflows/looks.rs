//! Whether latencies are counts of looks: the client's poll interval as a lattice.

use lab_stats::circular::{Phases, rayleigh, resultant_of_normal};
use lab_stats::describe::summarize;

use super::measure::MAKESPAN;
use super::published::{BEFORE_MS, LOOK_MS, POLL_MS, medians_ms};
use super::sweep::{Cell as Levels, Sweep, looking};
use crate::measure::Unit;
use crate::page::Page;
use crate::reading::Reading;
use crate::tables::{Cell, Table, show_p};

/// The level of one test of a lattice.
const LEVEL: f64 = 0.01;
/// A value is on a lattice where it lies within this share of the step around a point.
const WITHIN: f64 = 0.1;
/// How far the resultant must exceed that of smooth values of the same spread.
const BEYOND_SMOOTH: f64 = 0.2;
/// The step that cells without a poll are held against: the published one.
const PUBLISHED_POLL: &str = "50";

/// How values lie modulo a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lattice {
    pub(super) step: f64,
    pub(super) phases: Phases,
    /// The resultant that smooth values of the same spread have.
    pub(super) smooth: f64,
    /// Points that are occupied.
    pub(super) levels: usize,
    /// How many steps the first of them lies above the offset.
    first: i64,
    /// The share of values close to a point.
    pub(super) near: f64,
}

/// What the values alone say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Lattice,
    /// All on one point, whole steps above the offset: as a poll and as a constant would have it.
    OnePoint,
    /// All below one step: nobody who looks in such steps could have seen them.
    BelowOneStep,
    /// Closer together than the step without lying on one point of it.
    Narrow,
    None,
}

impl Lattice {
    /// Of two values or more.
    pub(super) fn of(values: &[f64], step: f64) -> Option<Self> {
        let phases = rayleigh(values, step)?;
        let summary = summarize(values)?;
        // As Silverman (1986, equation 3.31): a few far values must not make a spread.
        let robust = (summary.p75 - summary.p25) / 1.349;
        let sd = summary.sd.unwrap_or(0.0);
        let spread = if robust > 0.0 { sd.min(robust) } else { sd };
        let distance = |value: &f64| (value - phases.offset) / step;
        let mut points: Vec<i64> =
            values.iter().map(|value| distance(value).round() as i64).collect();
        points.sort_unstable();
        points.dedup();
        let first = points.first().copied()?;
        let is_near = |value: &&f64| (distance(value) - distance(value).round()).abs() <= WITHIN;
        let near = values.iter().filter(is_near).count() as f64 / values.len() as f64;
        let smooth = resultant_of_normal(spread, step);
        Some(Self { step, phases, smooth, levels: points.len(), first, near })
    }

    pub(super) fn found(&self) -> Found {
        let exceeds = self.phases.resultant > self.smooth + BEYOND_SMOOTH;
        match self.levels {
            1 if self.first >= 1 => Found::OnePoint,
            1 => Found::BelowOneStep,
            _ if self.phases.p <= LEVEL && exceeds => Found::Lattice,
            _ if self.smooth >= 0.5 => Found::Narrow,
            _ => Found::None,
        }
    }
}

impl Found {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Lattice => "a lattice",
            Self::OnePoint => "one point: a poll or a constant",
            Self::BelowOneStep => "below one step: no looks",
            Self::Narrow => "narrower than the step: cannot tell",
            Self::None => "no lattice found",
        }
    }
}

/// The published medians, both versions, by the step of a whole look.
pub(super) fn published() -> Option<Lattice> {
    Lattice::of(&medians_ms(), LOOK_MS)
}

/// The same cell with another poll interval.
pub(super) fn at(cell: &Levels, poll_ms: &str) -> Levels {
    let mut cell = cell.clone();
    cell.insert("poll_ms".to_owned(), poll_ms.to_owned());
    cell
}

pub(super) fn write(sweep: &Sweep, page: &mut Page) {
    page.heading("Are latencies counts of looks?");
    page.paragraph(&format!(
        "A client that sleeps between looks knows of a task's end only at the next look, so its \
         latencies lie on a lattice: offset + k × step. Held against the step by Rayleigh's test \
         of the phases (Mardia and Jupp 2000, section 6.3.1) at {LEVEL}; R is the mean resultant \
         length, 1 where all lie on the lattice exactly, and \"smooth R\" what normal values of \
         the same spread have (section 3.5.7): a lattice is found where p is below the level, R \
         exceeds smooth R by {BEYOND_SMOOTH} and more than one point is occupied. All on one \
         point, a poll and a constant look alike in the numbers; the stamps below tell. \"Near\" \
         is the share of values within {} % of the step around a point. Cells that are told have \
         no step; they are held against {PUBLISHED_POLL} ms. Tasks of all restarts together; \
         tasks of one run share its state, so p is a description and no verdict rests on it \
         alone.",
        100.0 * WITHIN
    ));
    page.table("looks", &table(sweep));
    page.paragraph(
        "What the stamps say, which the published report had none of: from completion until the \
         client knew, and its share of the makespan.",
    );
    page.table("looks-by-poll", &by_poll(sweep));
    if sweep.levels("poll_ms").len() > 1 {
        page.figure_by(
            ("looks", "workflow-looks.gp"),
            "Median makespan over the interval between two looks; 0.1 ms stands for being told, \
             and the grey line is the interval itself",
            &super::note(sweep),
        );
    } else {
        page.paragraph("No picture: this sweep has one poll interval only.");
    }
}

fn table(sweep: &Sweep) -> Table {
    let mut table = Table::new(&[
        ("values", "values"),
        ("cell", "cell"),
        ("step", "step_ns"),
        ("n", "n"),
        ("R", "resultant"),
        ("smooth R", "smooth_resultant"),
        ("p", "p"),
        ("points", "points"),
        ("near", "near_share"),
        ("offset", "offset_ns"),
        ("found", "found"),
    ]);
    let published = [
        ("published medians, TAS-166", medians_ms(), LOOK_MS),
        ("published medians, TAS-166", medians_ms(), POLL_MS),
        ("published medians, TAS-71", BEFORE_MS.to_vec(), LOOK_MS),
    ];
    for (name, values, step) in published {
        let cell = if step == LOOK_MS { "a whole look" } else { "the sleep alone" };
        let lattice = Lattice::of(&values, step);
        table.row(row((name, cell), lattice.as_ref(), 1e6));
    }
    for variant in sweep.variants() {
        for cell in sweep.cells(variant) {
            let Some(step) = step_ms(cell) else { continue };
            let tasks = sweep.tasks(variant, cell);
            let makespans: Vec<f64> = tasks.iter().map(|task| task.makespan() as f64).collect();
            let lattice = Lattice::of(&makespans, step * 1e6);
            table.row(row((&format!("`{variant}`"), &sweep.label(cell)), lattice.as_ref(), 1.0));
        }
    }
    table
}

fn row((values, cell): (&str, &str), lattice: Option<&Lattice>, unit_ns: f64) -> Vec<Cell> {
    let number = |read: fn(&Lattice) -> f64, unit: Unit| Cell::value(lattice.map(read), unit);
    let ns = |read: fn(&Lattice) -> f64| Cell::value(lattice.map(|l| read(l) * unit_ns), Unit::Ns);
    vec![
        Cell::text(values),
        Cell::text(cell),
        ns(|l| l.step),
        number(|l| l.phases.n as f64, Unit::Count),
        number(|l| l.phases.resultant, Unit::Count),
        number(|l| l.smooth, Unit::Count),
        lattice.map_or(Cell::Missing, |l| Cell::text(show_p(l.phases.p))),
        number(|l| l.levels as f64, Unit::Count),
        number(|l| l.near, Unit::Share),
        ns(|l| l.phases.offset),
        lattice.map_or(Cell::Missing, |l| Cell::text(l.found().word())),
    ]
}

fn step_ms(cell: &Levels) -> Option<f64> {
    let poll: f64 = cell.get("poll_ms")?.parse().ok()?;
    if poll > 0.0 { Some(poll) } else { PUBLISHED_POLL.parse().ok() }
}

fn by_poll(sweep: &Sweep) -> Table {
    let mut table = Table::new(&[
        ("variant", "variant"),
        ("shape", "shape"),
        ("client", "client"),
        ("poll", "poll_ms"),
        ("makespan", "makespan_ns"),
        ("low", "makespan_low_ns"),
        ("high", "makespan_high_ns"),
        ("completed", "completed_ns"),
        ("client's look", "look_ns"),
        ("share", "look_share"),
        ("over told", "over_told"),
        ("n", "n"),
    ]);
    let usual = sweep.cell(&[]);
    let is_usual = |cell: &Levels| {
        let free = ["shape", "poll_ms"];
        cell.iter().all(|(f, level)| free.contains(&f.as_str()) || usual.get(f) == Some(level))
    };
    for variant in sweep.variants() {
        for cell in sweep.cells(variant).into_iter().filter(|cell| is_usual(cell)) {
            let level = |metric: &str| sweep.level(variant, cell, metric);
            let Some(makespan) = level(MAKESPAN) else { continue };
            let poll = cell.get("poll_ms").map_or("", String::as_str);
            let look = level("recorded_to_observed_ns").map(|look| look.estimate);
            let told = at(cell, "0");
            let over = sweep.ratio((variant, cell, MAKESPAN), (variant, &told, MAKESPAN));
            let mut row = vec![
                Cell::code(variant),
                Cell::text(cell.get("shape").map_or("?", String::as_str)),
                Cell::text(looking(poll)),
                Cell::value(poll.parse().ok(), Unit::Count),
            ];
            row.extend(Reading::cells(Some(&makespan)));
            row.extend([
                Cell::value(level("completed_ns").map(|ns| ns.estimate), Unit::Ns),
                Cell::value(look, Unit::Ns),
                Cell::value(look.map(|look| look / makespan.estimate), Unit::Share),
                Cell::value(over.filter(|_| poll != "0").map(|r| r.estimate), Unit::Times),
                Cell::count(makespan.n),
            ]);
            table.row(row);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_medians_are_counts_of_looks() {
        let lattice = published().unwrap();
        assert_eq!(lattice.found(), Found::Lattice, "{lattice:?}");
        assert!(lattice.phases.p < 1e-4 && lattice.levels >= 4, "{lattice:?}");
        let before = Lattice::of(&BEFORE_MS, LOOK_MS).unwrap();
        assert_eq!(before.found(), Found::Lattice, "{before:?}");
    }

    #[test]
    fn smooth_values_are_not() {
        let wide: Vec<f64> = (0..60).map(|k| 180.0 + 4.3 * f64::from(k)).collect();
        assert_eq!(Lattice::of(&wide, LOOK_MS).unwrap().found(), Found::None);
        // A millisecond held against fifty, with and without a task that took longer.
        let mut narrow: Vec<f64> = (0..60).map(|k| 20.0 + 0.1 * f64::from(k)).collect();
        assert_eq!(Lattice::of(&narrow, 50.0).unwrap().found(), Found::BelowOneStep);
        narrow[7] = 90.0;
        assert_eq!(Lattice::of(&narrow, 50.0).unwrap().found(), Found::Narrow);
    }

    #[test]
    fn a_poll_that_every_task_meets_at_its_first_look_is_one_point() {
        let values: Vec<f64> = (0..30).map(|k| 50.1 + 0.01 * f64::from(k)).collect();
        let lattice = Lattice::of(&values, 50.0).unwrap();
        assert_eq!((lattice.found(), lattice.near), (Found::OnePoint, 1.0));
        let two: Vec<f64> = (0..30).map(|k| 50.1 * f64::from(1 + k % 2)).collect();
        assert_eq!(Lattice::of(&two, 50.0).unwrap().found(), Found::Lattice);
    }
}
