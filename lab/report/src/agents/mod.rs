//! The report of the `runtimes` family: LLM agents that stream replies from Ollama servers.

mod answers;
mod costs;
mod figures;
mod lesson;
mod lost;
mod noise;
mod spread;
mod study;
mod verdicts;
mod working;

use std::collections::BTreeMap;

use crate::frame::Frame;
use crate::tables::{Cell, Table};
use crate::{Figure, Report};

use study::Study;

/// The Markdown grows from top to bottom, and every table that stands in it is kept as TSV too.
struct Page {
    markdown: String,
    tables: BTreeMap<String, String>,
    figures: Vec<Figure>,
    scales: Table,
}

impl Page {
    fn titled(title: &str) -> Self {
        Self {
            markdown: format!("# {title}\n\n"),
            tables: BTreeMap::new(),
            figures: Vec::new(),
            scales: Table::new(&[("figure", "figure"), ("time scale", "time_scale")]),
        }
    }

    fn heading(&mut self, text: &str) {
        self.markdown.push_str(&format!("## {text}\n\n"));
    }

    fn paragraph(&mut self, text: &str) {
        self.markdown.push_str(&format!("{text}\n\n"));
    }

    fn item(&mut self, text: &str) {
        self.markdown.push_str(&format!("* {text}\n"));
    }

    fn items(&mut self, texts: impl IntoIterator<Item = String>) {
        texts.into_iter().for_each(|text| self.item(&text));
    }

    /// A table in the text, kept as `name`.tsv.
    fn table(&mut self, name: &str, table: &Table) {
        self.markdown.push_str(&format!("{}\n", table.markdown()));
        self.data(name, table);
    }

    /// A long table, folded.
    fn folded(&mut self, name: &str, title: &str, table: &Table) {
        let body = table.markdown();
        let fold = format!("<details><summary>{title}</summary>\n\n{body}\n</details>\n\n");
        self.markdown.push_str(&fold);
        self.data(name, table);
    }

    /// A table for machines alone.
    fn data(&mut self, name: &str, table: &Table) {
        self.tables.insert(format!("{name}.tsv"), table.tsv());
    }

    /// A picture of `name`.tsv; the time scale of its cells stands in the caption and, through
    /// `figures.tsv`, in the picture.
    fn figure(&mut self, name: &str, what: &str, time_scale: &str) {
        let caption = &format!("{what} ({time_scale}).");
        self.scales.row(vec![Cell::text(name), Cell::text(time_scale)]);
        let file = format!("{name}.svg");
        self.markdown.push_str(&format!("![{caption}]({file})\n\n*{caption}*\n\n"));
        let (script, caption) = (format!("{name}.gp"), caption.to_owned());
        self.figures.push(Figure { file, script, caption });
    }
}

pub(crate) fn report(frame: &Frame) -> Report {
    let study = Study::of(frame);
    let mut page = Page::titled(&frame.run_file.experiment);
    answers::write(&study, &mut page);
    working::header(&study, &mut page);
    verdicts::write(&study, &mut page);
    lesson::write(&study, &mut page);
    working::write(&study, &mut page);
    figures::efficiency(&study, &mut page);
    spread::write(&study, &mut page);
    lost::write(&study, &mut page);
    costs::write(&study, &mut page);
    figures::rest(&study, &mut page);
    working::again(&study, &mut page);
    page.tables.insert("figures.tsv".to_owned(), page.scales.tsv());
    Report { markdown: page.markdown, tables: page.tables, figures: page.figures }
}
