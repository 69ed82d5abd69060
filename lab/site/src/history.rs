//! A metric over all sweeps of an experiment.

use maud::{Markup, html};

use crate::{Link, chart::chart, live::all_records, page::document};

/// One session: what one sweep measured of a metric in one place.
#[derive(Debug, Clone, Default)]
pub struct Point {
    /// The address of the sweep's page.
    pub address: String,
    /// Its folder, for people.
    pub shown: String,
    /// Its day.
    pub day: String,
    /// Its commit, as far as people need it.
    pub commit: String,
    /// Its experiment's text, as a short hash.
    pub experiment: String,
    /// Every single value, in the order of the runs.
    pub values: Vec<f64>,
    /// The median of these.
    pub median: f64,
}

/// Sessions that can be compared, the oldest first.
#[derive(Debug, Clone, Default)]
pub struct Line {
    /// The cell and what else the sessions share.
    pub title: String,
    /// The sessions.
    pub points: Vec<Point>,
    /// The places of the first sessions after a change, each with the p-value of the change.
    pub changes: Vec<(usize, f64)>,
}

/// What the page of a metric says.
pub struct History<'a> {
    /// The metric, the experiment and the variant.
    pub title: String,
    /// How the page is to be read, a paragraph each.
    pub notes: Vec<String>,
    /// Pages of the other variants.
    pub others: Vec<Link>,
    /// What the form for some of the cells keeps, by name.
    pub kept: Vec<(String, String)>,
    /// The text that the titles of the lines have in common, as given.
    pub cell: String,
    /// The lines.
    pub lines: Vec<Line>,
    /// Writes a value with its unit.
    pub show: &'a dyn Fn(f64) -> String,
}

/// A picture and a table for each line.
pub fn history(history: &History) -> String {
    let body = html! {
        (all_records())
        h1 { (history.title) }
        @for note in &history.notes { p { (note) } }
        (crate::links("", &history.others))
        (form(history))
        @for line in &history.lines { (section(line, history.show)) }
    };
    document(&history.title, &html! {}, &body)
}

fn form(history: &History) -> Markup {
    html! {
        form action="/history" {
            @for (name, value) in &history.kept { input type="hidden" name=(name) value=(value); }
            label { "Cells with " input name="cell" value=(history.cell); }
            " " button { "Show" }
        }
    }
}

fn section(line: &Line, show: &dyn Fn(f64) -> String) -> Markup {
    let heads = ["record", "day", "commit", "experiment", "runs", "median", "change"];
    html! {
        h2 { (line.title) }
        (chart(line, show))
        div.wide {
            table {
                thead { tr { @for head in heads { th { (head) } } } }
                tbody {
                    @for (place, point) in line.points.iter().enumerate() {
                        (row(point, line.changes.iter().find(|(at, _)| *at == place), show))
                    }
                }
            }
        }
    }
}

fn row(point: &Point, change: Option<&(usize, f64)>, show: &dyn Fn(f64) -> String) -> Markup {
    html! {
        tr {
            td { a href=(point.address) { (point.shown) } }
            @for fact in [&point.day, &point.commit, &point.experiment] { td { (fact) } }
            td { (point.values.len()) }
            td { (show(point.median)) }
            td { @if let Some((_, p)) = change { "changed before it, p " (format!("{p:.3}")) } }
        }
    }
}
