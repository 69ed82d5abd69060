//! A page of Markdown with its tables and pictures.

use std::collections::BTreeMap;

use crate::{Entry, Figure, Report, Table};

/// The Markdown grows from top to bottom, and every table that stands in it is kept as TSV too.
pub struct Page {
    /// The text so far.
    pub markdown: String,
    tables: BTreeMap<String, String>,
    figures: Vec<Figure>,
    scales: Table,
}

impl Page {
    /// A page with nothing but its title.
    pub fn titled(title: &str) -> Self {
        Self {
            markdown: format!("# {title}\n\n"),
            tables: BTreeMap::new(),
            figures: Vec::new(),
            scales: Table::new(&[("figure", "figure"), ("time scale", "time_scale")]),
        }
    }

    /// The heading of a chapter.
    pub fn heading(&mut self, text: &str) {
        self.markdown.push_str(&format!("## {text}\n\n"));
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) {
        self.markdown.push_str(&format!("{text}\n\n"));
    }

    /// An item of a list.
    pub fn item(&mut self, text: &str) {
        self.markdown.push_str(&format!("* {text}\n"));
    }

    /// Items of a list.
    pub fn items(&mut self, texts: impl IntoIterator<Item = String>) {
        texts.into_iter().for_each(|text| self.item(&text));
    }

    /// A table in the text, kept as `name`.tsv.
    pub fn table(&mut self, name: &str, table: &Table) {
        self.markdown_table(table);
        self.data(name, table);
    }

    /// A table in the text whose numbers stand in a TSV of their own.
    pub fn markdown_table(&mut self, table: &Table) {
        self.markdown.push_str(&format!("{}\n", table.markdown()));
    }

    /// A long table, folded.
    pub fn folded(&mut self, name: &str, title: &str, table: &Table) {
        let body = table.markdown();
        let fold = format!("<details><summary>{title}</summary>\n\n{body}\n</details>\n\n");
        self.markdown.push_str(&fold);
        self.data(name, table);
    }

    /// A table for machines alone.
    pub fn data(&mut self, name: &str, table: &Table) {
        self.tables.insert(format!("{name}.tsv"), table.tsv());
    }

    /// A picture of `name`.tsv; the time scale of its cells stands in the caption and, through
    /// `figures.tsv`, in the picture.
    pub fn figure(&mut self, name: &str, what: &str, time_scale: &str) {
        self.figure_by((name, &format!("{name}.gp")), what, time_scale);
    }

    /// The same, drawn by a script of another name.
    pub fn figure_by(&mut self, (name, script): (&str, &str), what: &str, scale: &str) {
        let caption = format!("{what} ({scale}).");
        self.scales.row(vec![Entry::text(name), Entry::text(scale)]);
        let file = format!("{name}.svg");
        self.markdown.push_str(&format!("![{caption}]({file})\n\n*{caption}*\n\n"));
        self.figures.push(Figure { file, script: script.to_owned(), caption });
    }

    /// What the page says, once it is complete.
    pub fn report(mut self) -> Report {
        self.tables.insert("figures.tsv".to_owned(), self.scales.tsv());
        Report { markdown: self.markdown, tables: self.tables, figures: self.figures }
    }
}
