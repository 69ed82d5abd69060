//! A page of Markdown with its tables and pictures.

use std::collections::BTreeMap;

use crate::tables::{Cell, Table};
use crate::{Figure, Report};

/// The Markdown grows from top to bottom, and every table that stands in it is kept as TSV too.
pub(crate) struct Page {
    pub(crate) markdown: String,
    tables: BTreeMap<String, String>,
    figures: Vec<Figure>,
    scales: Table,
}

impl Page {
    pub(crate) fn titled(title: &str) -> Self {
        Self {
            markdown: format!("# {title}\n\n"),
            tables: BTreeMap::new(),
            figures: Vec::new(),
            scales: Table::new(&[("figure", "figure"), ("time scale", "time_scale")]),
        }
    }

    pub(crate) fn heading(&mut self, text: &str) {
        self.markdown.push_str(&format!("## {text}\n\n"));
    }

    pub(crate) fn paragraph(&mut self, text: &str) {
        self.markdown.push_str(&format!("{text}\n\n"));
    }

    pub(crate) fn item(&mut self, text: &str) {
        self.markdown.push_str(&format!("* {text}\n"));
    }

    pub(crate) fn items(&mut self, texts: impl IntoIterator<Item = String>) {
        texts.into_iter().for_each(|text| self.item(&text));
    }

    /// A table in the text, kept as `name`.tsv.
    pub(crate) fn table(&mut self, name: &str, table: &Table) {
        self.markdown.push_str(&format!("{}\n", table.markdown()));
        self.data(name, table);
    }

    /// A long table, folded.
    pub(crate) fn folded(&mut self, name: &str, title: &str, table: &Table) {
        let body = table.markdown();
        let fold = format!("<details><summary>{title}</summary>\n\n{body}\n</details>\n\n");
        self.markdown.push_str(&fold);
        self.data(name, table);
    }

    /// A table for machines alone.
    pub(crate) fn data(&mut self, name: &str, table: &Table) {
        self.tables.insert(format!("{name}.tsv"), table.tsv());
    }

    /// A picture of `name`.tsv; the time scale of its cells stands in the caption and, through
    /// `figures.tsv`, in the picture.
    pub(crate) fn figure(&mut self, name: &str, what: &str, time_scale: &str) {
        self.figure_by((name, &format!("{name}.gp")), what, time_scale);
    }

    /// The same, drawn by a script of another name.
    pub(crate) fn figure_by(&mut self, (name, script): (&str, &str), what: &str, scale: &str) {
        let caption = format!("{what} ({scale}).");
        self.scales.row(vec![Cell::text(name), Cell::text(scale)]);
        let file = format!("{name}.svg");
        self.markdown.push_str(&format!("![{caption}]({file})\n\n*{caption}*\n\n"));
        self.figures.push(Figure { file, script: script.to_owned(), caption });
    }

    /// What the page says, once it is complete.
    pub(crate) fn report(mut self) -> Report {
        self.tables.insert("figures.tsv".to_owned(), self.scales.tsv());
        Report { markdown: self.markdown, tables: self.tables, figures: self.figures }
    }
}
