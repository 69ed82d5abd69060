//! A metric over all sweeps of an experiment: one value a session decides whether it changed.

use std::collections::{BTreeMap, BTreeSet};

use lab_console::Failure;
use lab_family::{Unit, text::stored_section};
use lab_record::{Machine, RunFile, State};
use lab_report::{
    FamilyReport, Frame, Measured, Row, day, family_of, frame::cell_key, is_analysed, show,
};
use lab_stats::{changes::changes, describe::median};

use super::{
    http::Asked,
    record::commit,
    shelf::{Record, Shelf},
};
use crate::{History, Line, Link, Point, choices, encoded, history, records::load};

/// Sessions on each side of a change.
const FEWEST: usize = 3;
/// A page has several lines, and each is tested by itself.
const LEVEL: f64 = 0.01;
/// Of the orders that the test draws; a page does not depend on the day.
const SEED: u64 = 1;
/// The newest ones; reading the samples of more takes minutes.
const SWEEPS_MAX: usize = 200;
/// A page with more is read by nobody.
const LINES_MAX: usize = 12;

const READING: &str = "Each dot is one analysed run, each bar the median of a sweep. A \
                       dashed line is a change: E-divisive (Matteson and James 2014) over the \
                       medians, with three sweeps or more on each side, by a permutation test at \
                       1 % for each picture. Fewer than ten sweeps can hardly show one. Nothing \
                       interleaved the sweeps: whatever changed between two may be the cause.";

/// The page, or the choices where the address leaves some open.
pub(super) fn page(asked: &Asked, shelf: &Shelf) -> Result<String, Failure> {
    let sweeps = sweeps(shelf)?;
    let (experiment, metric) = (asked.value("experiment"), asked.value("metric"));
    let is_meant =
        |sweep: &&Sweep| experiment.is_none_or(|experiment| sweep.file.experiment == experiment);
    let meant: Vec<&Sweep> = sweeps.iter().filter(is_meant).collect();
    match (experiment, metric, meant.last()) {
        (Some(_), _, None) => {
            Err(Failure::input("No sweep here is of this experiment: choose one of the list."))
        }
        (Some(_), Some(metric), Some(newest)) => {
            let reference = newest.file.analysis.reference.as_str();
            let variant = asked.value("variant").unwrap_or(reference);
            of_variant(&meant, newest, (metric, variant), asked.value("cell").unwrap_or_default())
        }
        _ => Ok(offer(&meant, metric)),
    }
}

/// A picture for each cell whose name holds `cell`.
fn of_variant(
    sweeps: &[&Sweep],
    newest: &Sweep,
    (metric, variant): (&str, &str),
    cell: &str,
) -> Result<String, Failure> {
    let (all, unit) = lines(sweeps, metric, variant)?;
    let mut lines: Vec<Line> =
        all.into_iter().filter(|line| line.title.contains(cell)).map(judged).collect();
    // Those that changed and those of most sweeps first; within these by name.
    lines.sort_by_key(|line| (line.changes.is_empty(), usize::MAX - line.points.len()));
    let mut notes = vec![READING.to_owned()];
    if lines.is_empty() {
        notes.push(format!("No sweep measured {metric} of {variant} in such a cell."));
    }
    if let Some(left_out) = lines.len().checked_sub(LINES_MAX).filter(|count| *count > 0) {
        notes.push(format!("{left_out} more cells are left out; name a part of a cell below."));
        lines.truncate(LINES_MAX);
    }
    let experiment = newest.file.experiment.as_str();
    let kept = [("experiment", experiment), ("metric", metric), ("variant", variant)];
    let others = newest.file.variants.iter().map(|entry| entry.variant.as_str());
    let other =
        |other: &str| Link { address: address(experiment, metric, other), text: other.to_owned() };
    Ok(history(&History {
        title: format!("{metric} of {variant} in {experiment}"),
        notes,
        others: others.filter(|other| *other != variant).map(other).collect(),
        kept: kept.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        cell: cell.to_owned(),
        lines,
        show: &|value| show(value, unit),
    }))
}

/// A sweep that has ended, with its record.
struct Sweep {
    record: Record,
    file: RunFile,
}

/// The oldest first; those that go on are left in peace.
fn sweeps(shelf: &Shelf) -> Result<Vec<Sweep>, Failure> {
    let mut sweeps = Vec::new();
    for record in shelf.records().into_iter().rev() {
        let Some(file) = record.run_file.clone() else { continue };
        if record.state()? != State::GoingOn {
            sweeps.push(Sweep { record, file });
        }
    }
    Ok(sweeps)
}

fn address(experiment: &str, metric: &str, variant: &str) -> String {
    let [experiment, metric, variant] = [experiment, metric, variant].map(encoded);
    format!("/history?experiment={experiment}&metric={metric}&variant={variant}")
}

/// The metrics of these sweeps' experiments, declared ones first.
fn offer(sweeps: &[&Sweep], metric: Option<&str>) -> String {
    let mut newest: BTreeMap<&str, (&RunFile, usize)> = BTreeMap::new();
    for sweep in sweeps {
        let known = newest.entry(&sweep.file.experiment).or_insert((&sweep.file, 0));
        *known = (&sweep.file, known.1 + 1);
    }
    let group = |(name, (file, count)): (&str, (&RunFile, usize))| {
        let metrics = metrics(file).into_iter().filter(|one| metric.is_none_or(|it| it == *one));
        let link = |metric: &str| Link {
            address: address(name, metric, &file.analysis.reference),
            text: metric.to_owned(),
        };
        let sweeps = if count == 1 { "sweep" } else { "sweeps" };
        (format!("{name} ({count} {sweeps})"), metrics.map(link).collect::<Vec<_>>())
    };
    let groups = newest.into_iter().map(group).filter(|(_, links)| !links.is_empty());
    let sentence = "Choose a metric of an experiment.";
    choices("A metric over all sweeps of an experiment", sentence, &groups.collect::<Vec<_>>())
}

fn metrics(file: &RunFile) -> Vec<&str> {
    let declared = file.analysis.comparisons.iter().map(|one| one.metric.as_str());
    let name = file.variants.first().map_or("", |entry| entry.family.as_str());
    let family = lab_families::ALL.iter().find(|family| family.name() == name);
    let known = family.into_iter().flat_map(|family| family.metrics()).map(|metric| metric.name);
    let mut seen = BTreeSet::new();
    declared.chain(known).filter(|name| seen.insert(*name)).collect()
}

/// Values by cell.
type Cells = BTreeMap<String, Vec<f64>>;

/// What sessions of one line share: the cell, the profile and the machine.
type Key = (String, Option<String>, usize);

/// What each sweep measured of a variant, by cell, profile and machine: a change between machines
/// or profiles is none of the program.
fn lines(sweeps: &[&Sweep], metric: &str, variant: &str) -> Result<(Vec<Line>, Unit), Failure> {
    let mut machines: Vec<&Machine> = Vec::new();
    let mut points: BTreeMap<Key, Vec<Point>> = BTreeMap::new();
    let mut unit = Unit::Count;
    let newest = &sweeps[sweeps.len().saturating_sub(SWEEPS_MAX)..];
    for sweep in newest {
        let file = &sweep.file;
        let known = machines.iter().position(|machine| **machine == file.machine);
        let machine = known.unwrap_or_else(|| {
            machines.push(&file.machine);
            machines.len() - 1
        });
        let Some((cells, own)) = measured(sweep, metric, variant)? else { continue };
        unit = own;
        for (cell, values) in cells {
            let key = (cell, file.profile.clone(), machine);
            points.entry(key).or_default().push(point(sweep, values));
        }
    }
    let line = |((cell, profile, machine), points): (Key, Vec<Point>)| {
        let cell = if cell.is_empty() { "the only cell".to_owned() } else { cell };
        let profile = profile.map_or(String::new(), |name| format!("; profile {name}"));
        let machine = match machines.len() {
            1 => String::new(),
            _ => format!("; machine {}, {}", machine + 1, machines[machine].cpu_model.trim()),
        };
        Line { title: format!("{cell}{profile}{machine}"), points, changes: Vec::new() }
    };
    Ok((points.into_iter().map(line).collect(), unit))
}

fn point(sweep: &Sweep, values: Vec<f64>) -> Point {
    Point {
        address: sweep.record.address.clone(),
        shown: sweep.record.shown.clone(),
        day: day(sweep.file.started_unix_s),
        commit: commit(&sweep.file),
        experiment: sweep.file.experiment_sha256.chars().take(8).collect(),
        median: median(&values).unwrap_or(f64::NAN),
        values,
    }
}

/// A metric's values by cell; `None` of a sweep without a run.
fn measured(sweep: &Sweep, metric: &str, variant: &str) -> Result<Option<(Cells, Unit)>, Failure> {
    let frame = load::frame(&sweep.record.dir)?;
    let Ok(family) = family_of(&frame, lab_families::ALL) else { return Ok(None) };
    let mut cells = Cells::new();
    for one in analysed(&frame, family).iter().filter(|one| one.variant() == variant) {
        if let Some(value) = one.value(metric).filter(|value| value.is_finite()) {
            cells.entry(cell_key(&one.row.run)).or_default().push(value);
        }
    }
    Ok(Some((cells, family.metric(metric).map_or(Unit::Count, |metric| metric.unit))))
}

/// Every analysed run. Those of rounds are measured among themselves, as reports do it.
fn analysed<'f>(frame: &'f Frame, family: &dyn FamilyReport) -> Vec<Measured<'f>> {
    let file = &frame.run_file;
    let section =
        stored_section(&file.experiment_toml, family.definition(), file.profile.as_deref());
    let rows = frame.in_plan_order().into_iter().filter(|row| is_analysed(&row.run));
    let (in_blocks, in_rounds): (Vec<&Row>, Vec<&Row>) =
        rows.partition(|row| file.question_of(row.run.block).is_none());
    let measured = [in_blocks, in_rounds].map(|rows| family.measure(frame, &section, &rows));
    measured.into_iter().flatten().collect()
}

fn judged(line: Line) -> Line {
    let medians: Vec<f64> = line.points.iter().map(|point| point.median).collect();
    let found = changes(&medians, FEWEST, LEVEL, SEED).unwrap_or_default();
    Line { changes: found.iter().map(|change| (change.at, change.p)).collect(), ..line }
}
