//! A metric over all sweeps of an experiment.

use crate::{Link, address::quoted, chapter::escaped, chart::chart, page::document};

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
    let lines: String = history.lines.iter().map(|line| section(line, history.show)).collect();
    let notes: String =
        history.notes.iter().map(|note| format!("<p>{}</p>\n", escaped(note))).collect();
    let others = crate::links("", &history.others);
    let form = form(history);
    let heading = escaped(&history.title);
    let all = "<p><a href=\"/\">All records</a></p>";
    let body = format!("{all}\n<h1>{heading}</h1>\n{notes}{others}{form}{lines}");
    document(&history.title, "", &body)
}

fn form(history: &History) -> String {
    let hidden = |(name, value): &(String, String)| {
        format!("<input type=\"hidden\" name=\"{}\" value=\"{}\">", quoted(name), quoted(value))
    };
    let kept: String = history.kept.iter().map(hidden).collect();
    format!(
        "<form action=\"/history\">{kept}<label>Cells with <input name=\"cell\" value=\"{}\">\
         </label> <button>Show</button></form>\n",
        quoted(&history.cell)
    )
}

fn section(line: &Line, show: &dyn Fn(f64) -> String) -> String {
    let row = |(place, point): (usize, &Point)| {
        let change = line.changes.iter().find(|(at, _)| *at == place);
        let change = change.map_or(String::new(), |(_, p)| format!("changed before it, p {p:.3}"));
        format!(
            "<tr><td><a href=\"{}\">{}</a></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
             <td>{}</td><td>{change}</td></tr>",
            quoted(&point.address),
            escaped(&point.shown),
            escaped(&point.day),
            escaped(&point.commit),
            escaped(&point.experiment),
            point.values.len(),
            escaped(&show(point.median))
        )
    };
    let rows: String = line.points.iter().enumerate().map(row).collect();
    let heads = ["record", "day", "commit", "experiment", "runs", "median", "change"];
    let heads: String = heads.iter().map(|head| format!("<th>{head}</th>")).collect();
    format!(
        "<h2>{}</h2>\n{}<div class=\"wide\"><table><thead><tr>{heads}</tr></thead>\
         <tbody>{rows}</tbody></table></div>\n",
        escaped(&line.title),
        chart(line, show)
    )
}
